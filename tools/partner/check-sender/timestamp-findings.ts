import { normaliseTimestamp } from '../../../lambda/events/timestamp.ts';
import { CLOCK_TOLERANCE } from '../../../lambda/limits.ts';
import { duration } from '../../cli/terminal/text.ts';
import { type Finding, type FindingName, finding } from './finding.ts';
import type { JsonNode } from './json-node.ts';

const CLOCK = String.raw`^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?`;

/** Formats that the service does not accept as a timestamp. The first match is used. */
const TIMESTAMP_MISTAKES: readonly (readonly [pattern: string | RegExp, name: FindingName])[] = [
  [/^$/, 'timestamp-empty'],
  [/^\s|\s$/, 'timestamp-white-space'],
  [/^-?\d+(?:\.\d+)?$/, 'timestamp-number/quoted'],
  [`${CLOCK}$`, 'timestamp-without-zone'],
  [/[Tt]\d{2}:\d{2}:60/, 'timestamp-leap-second'],
  [`${CLOCK}(?:[Zz]|[+-]00(?::?00)?)$`, 'timestamp-no-moment'],
  [`${CLOCK}[+-]\\d{2}(?::?\\d{2})?$`, 'timestamp-with-offset'],
  [/^\d{4}-\d{2}-\d{2}$/, 'timestamp-date-only'],
  [/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}/, 'timestamp-blank'],
  [/^\d{8}T\d{6}/, 'timestamp-basic-format'],
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/, 'timestamp-of-http'],
];

/** @param node the payload's `timestamp`, which the service rejects */
export function timestampFinding({ kind, value }: JsonNode): Finding {
  if (kind === 'literal') return finding(value === 'null' ? 'timestamp-missing' : 'timestamp-number');
  if (kind !== 'string') return finding('timestamp-other/type');
  const found = TIMESTAMP_MISTAKES.find(([pattern]) => new RegExp(pattern).test(value));
  return finding(found?.[1] ?? 'timestamp-other');
}

/** Findings about the sender's clock. */
export function skewFindings(timestamp: string, receivedAt: Date): Finding[] {
  const normalised = normaliseTimestamp(timestamp);
  const skew = normalised === undefined ? 0 : Date.parse(normalised) - receivedAt.getTime();
  if (Math.abs(skew) <= CLOCK_TOLERANCE) return [];
  const away = { duration: duration(Math.abs(skew)) };
  return [finding(skew < 0 ? 'timestamp-past' : 'timestamp-future', away)];
}
