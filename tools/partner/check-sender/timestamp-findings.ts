import { normaliseTimestamp } from '../../../lambda/events/timestamp.ts';
import { CLOCK_TOLERANCE } from '../../../lambda/limits.ts';
import { type Finding, risky, wrong } from './finding.ts';
import type { JsonNode } from './json-node.ts';

const CLOCK = String.raw`^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?`;

/** Formats that the service does not accept as a timestamp. The first match is used. */
const TIMESTAMP_MISTAKES: readonly (readonly [pattern: string | RegExp, kind: string, what: string])[] = [
  [/^$/, 'empty', 'is empty'],
  [/^\s|\s$/, 'white-space', 'has leading or trailing white space'],
  [/^-?\d+(?:\.\d+)?$/, 'number', 'is a number in quotation marks, such as a Unix time'],
  [`${CLOCK}$`, 'without-zone', 'has no time zone'],
  [/[Tt]\d{2}:\d{2}:60/, 'leap-second', 'is a leap second (:60), which is not accepted'],
  [`${CLOCK}(?:[Zz]|[+-]00(?::?00)?)$`, 'no-moment', 'is a day or time that does not exist'],
  [`${CLOCK}[+-]\\d{2}(?::?\\d{2})?$`, 'with-offset', 'has an offset. It must be in UTC and end with Z'],
  [/^\d{4}-\d{2}-\d{2}$/, 'date-only', 'is a date without a time'],
  [/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}/, 'blank', 'has a space instead of T'],
  [/^\d{8}T\d{6}/, 'basic-format', "is in ISO 8601's basic format, without hyphens and colons"],
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/, 'of-http', 'is a date in the format of HTTP and e-mail'],
];

const SEND_UTC =
  'Send the time of the change in UTC, such as 2026-01-31T09:00:00Z. Include fractions of a second if you have them.';

/** @param node the payload's `timestamp`, which the service rejects */
export function timestampFinding(node: JsonNode): Finding {
  const mistake = (kind: string, what: string) => wrong(`timestamp-${kind}`, `timestamp ${what}.`, SEND_UTC);
  if (node.kind === 'literal' && node.text === 'null') return mistake('missing', 'is null');
  if (node.kind === 'literal') return mistake('number', 'is a number, such as a Unix time');
  if (node.kind !== 'string') return mistake('other', 'is not a string');
  const found = TIMESTAMP_MISTAKES.find(([pattern]) => new RegExp(pattern).test(node.value));
  return mistake(found?.[1] ?? 'other', found?.[2] ?? 'is not an ISO 8601 date-time in UTC');
}

/** Findings about the sender's clock. */
export function skewFindings(timestamp: string, receivedAt: Date): Finding[] {
  const normalised = normaliseTimestamp(timestamp);
  const skew = normalised === undefined ? 0 : Date.parse(normalised) - receivedAt.getTime();
  if (Math.abs(skew) <= CLOCK_TOLERANCE) return [];
  const away = durationOf(Math.abs(skew));
  if (skew < 0) {
    const remedy =
      'This is fine for a sample or a repeat. Otherwise set the clock: events older than our data are not written.';
    return [risky('timestamp-past', `timestamp is ${away} in the past.`, remedy)];
  }
  const remedy = `Set the clock, and use UTC. The service counts this timestamp as ${CLOCK_TOLERANCE / 60_000} minutes after the receipt, so your events may get another order.`;
  return [risky('timestamp-future', `timestamp is ${away} in the future.`, remedy)];
}

/** `3 days`, `60 minutes`. */
function durationOf(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 2 * 60) return `${minutes} minutes`;
  const hours = Math.floor(minutes / 60);
  return hours < 2 * 24 ? `${hours} hours` : `${Math.floor(hours / 24).toLocaleString('en')} days`;
}
