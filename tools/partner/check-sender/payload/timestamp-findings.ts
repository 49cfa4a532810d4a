import { normaliseTimestamp } from '../../../../lambda/events/timestamp.ts';
import { type Finding, risky, wrong } from '../finding.ts';
import type { JsonNode } from './json-tree.ts';

/** Seconds by which a sender's clock and ours may differ unmentioned. */
const MOST_SKEW_SECONDS = 5 * 60;

const REMEDY =
  'Send the moment of the change in UTC, as 2026-01-31T09:00:00Z, with a fraction of a second if you have it.';

const CLOCK = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?/;

/** What a text is that is not the timestamp that is asked for: the first that fits. */
const MISTAKES: readonly (readonly [pattern: RegExp, kind: string, what: string])[] = [
  [/^$/, 'timestamp-empty', 'is empty'],
  [/^\s|\s$/, 'timestamp-white-space', 'has white space around it'],
  [/^-?\d+(?:\.\d+)?$/, 'timestamp-number', 'is a number in quotation marks, such as a Unix time'],
  [
    new RegExp(`${CLOCK.source}$`),
    'timestamp-without-zone',
    'has no zone: it does not say of which place it is the time',
  ],
  [
    new RegExp(`${CLOCK.source}[+-]\\d{2}(?::?\\d{2})?$`),
    'timestamp-with-offset',
    'has an offset, and must be in UTC: Z at its end',
  ],
  [/^\d{4}-\d{2}-\d{2}$/, 'timestamp-date-only', 'is a date without a time'],
  [/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}/, 'timestamp-blank', 'has a blank where a T belongs'],
  [/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?:Z|\+00:00)?$/, 'timestamp-without-seconds', 'has no seconds'],
  [/^\d{4}-\d{2}-\d{2}t.*|z$/, 'timestamp-small-letters', 'has t or z in small letters'],
  [/T\d{2}:\d{2}:60/, 'timestamp-leap-second', 'is of a leap second (:60), which is not taken'],
  [
    new RegExp(`${CLOCK.source}(?:Z|\\+00:00)$`),
    'timestamp-no-moment',
    'names a day or a time that does not exist',
  ],
  [/^\d{8}T\d{6}/, 'timestamp-basic-format', "is in ISO 8601's basic format, without hyphens and colons"],
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/, 'timestamp-of-http', 'is a date as HTTP and e-mail write it'],
];

/** @param node the payload's `timestamp`, which the service has found wrong */
export function timestampMistake(node: JsonNode | undefined): Finding {
  const mistake = (kind: string, what: string) => wrong({ kind, what: `timestamp ${what}.`, remedy: REMEDY });
  if (node === undefined) return mistake('timestamp-missing', 'is missing');
  if (node.kind === 'literal' && node.text === 'null') return mistake('timestamp-missing', 'is null');
  if (node.kind === 'literal') return mistake('timestamp-number', 'is a number, such as a Unix time');
  if (node.kind !== 'string') return mistake('timestamp-other', 'is no text');
  const [, kind, what] = MISTAKES.find(([pattern]) => pattern.test(node.value)) ?? [];
  return mistake(kind ?? 'timestamp-other', what ?? 'is no ISO 8601 date-time in UTC');
}

/** What there is to say of a timestamp that the service takes. */
export function skewFindings(text: string, receivedAt: Date): Finding[] {
  const normalised = normaliseTimestamp(text);
  if (normalised === undefined) return [];
  const seconds = Math.round((Date.parse(normalised) - receivedAt.getTime()) / 1000);
  if (seconds > MOST_SKEW_SECONDS) {
    return [
      risky({
        kind: 'timestamp-future',
        what: `timestamp is ${minutes(seconds)} in the future.`,
        remedy:
          'Set the clock, and take the time in UTC: the newest timestamp wins, so events until then count as old.',
      }),
    ];
  }
  if (seconds < -MOST_SKEW_SECONDS) {
    return [
      risky({
        kind: 'timestamp-past',
        what: `timestamp is ${minutes(-seconds)} in the past.`,
        remedy:
          'Fine for a sample or a repeat. Otherwise set the clock: what is older than what we have is not written.',
      }),
    ];
  }
  return [];
}

const MINUTES: readonly (readonly [unit: string, minutes: number])[] = [
  ['days', 24 * 60],
  ['hours', 60],
];

function minutes(seconds: number): string {
  const all = Math.round(seconds / 60);
  const [unit, length] = MINUTES.find(([, each]) => all >= 2 * each) ?? ['minutes', 1];
  return `${Math.floor(all / length).toLocaleString('en')} ${unit}`;
}
