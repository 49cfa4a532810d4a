import { eventNames, isEventName } from '../../lambda/events/catalogue.ts';
import { type FieldProblem, parsePayload } from '../../lambda/events/envelope.ts';
import { hasNoZone, normaliseTimestamp } from '../../lambda/events/timestamp.ts';
import { CLOCK_TOLERANCE } from '../../lambda/limits.ts';
import { nearest } from '../../lib/did-you-mean.ts';
import { isObject, jsonOf } from '../stage/json.ts';
import { duration } from '../terminal/text.ts';
import { type Finding, risky, wrong } from './finding.ts';

/** Texts that a program writes instead of a value that is missing. */
export const NO_VALUE = /^(?:undefined|null|none|nil|nan|true|false|\[object \w+\]|<buffer.*)$/i;

/** Placeholders of templates, shells and Windows that were not replaced. */
export const PLACEHOLDER =
  /\{\{[^{}]*\}\}|\$\{[\w.]+\}|<%=?[^<>]*%>|^\{[A-Za-z_]\w*\}$|^\$[A-Za-z_]\w*$|^%[A-Za-z_]\w*%$/;

const IDS = ['shop_id', 'girl_id', 'user_id', 'review_id'];

const SEND_UTC = 'Send the time of the change in UTC, such as 2026-01-31T09:00:00Z.';

/** Findings about a correctly signed payload. */
export function payloadFindings(body: Buffer, receivedAt: Date): Finding[] {
  const parsed = parsePayload(body);
  const payload = jsonOf(body.toString());
  const { event, data, timestamp } = isObject(payload) ? payload : {};
  return [
    ...(typeof event === 'string' ? kindFindings(event) : []),
    ...(parsed.kind === 'unusable' ? parsed.problems : []).map((one) => problemFinding(one, body, payload)),
    ...(typeof timestamp === 'string' ? skewFindings(timestamp, receivedAt) : []),
    ...(isObject(data) ? valueFindings(data) : []),
  ];
}

function kindFindings(kind: string): Finding[] {
  if (kind === '' || isEventName(kind)) return [];
  const meant = nearest(kind, eventNames);
  const remedy = `Known events: ${eventNames.join(', ')}.`;
  const what = 'This kind of event is unknown. It is stored until the service supports it.';
  return [
    meant === undefined
      ? risky('event-unknown', what, remedy)
      : wrong('event-misspelt', `${what} Did you mean ${meant}?`, remedy),
  ];
}

/** A finding for a problem that the service reports, with the probable mistake. */
function problemFinding({ field, detail }: FieldProblem, body: Buffer, payload: unknown): Finding {
  if (field === 'body') return bodyFinding(detail, body, payload);
  const value = isObject(payload) ? payload[field] : undefined;
  if (field === 'timestamp' && typeof value === 'string') return timestampFinding(value);
  if (field === 'data' && typeof value === 'string')
    return wrong('data-as-text', 'data is a text, not an object.', 'Serialise the whole event once.');
  const kind = detail.startsWith('is missing') ? 'field-missing' : 'field-wrong';
  return wrong(kind, `${field} ${detail}.`, 'See the fields of each event in the guide.');
}

/** Bodies that are not JSON. The first match is reported. */
const BODY_MISTAKES: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/^\s*$/, 'is empty'],
  [/^[\w.%-]+=/, 'is a form'],
  [/^\s*\{\s*'/, 'has single quotation marks, as Python writes a dictionary'],
  [/,\s*[}\]]/, 'has a comma before a closing bracket'],
  [/^\s*\{.*[^}\s]\s*$/s, 'begins as JSON, but its end is missing'],
];

function bodyFinding(detail: string, body: Buffer, payload: unknown): Finding {
  if (detail === 'must be UTF-8' || body.includes(0))
    return wrong('body-not-utf-8', 'The body is not UTF-8.', 'Encode the JSON as UTF-8.');
  if (payload === undefined) {
    const text = body.toString();
    const [, what = 'is not JSON'] = BODY_MISTAKES.find(([pattern]) => pattern.test(text)) ?? [];
    return wrong('body-not-json', `The body ${what}.`, 'Write the body with a library for JSON.');
  }
  if (typeof payload === 'string' && isObject(jsonOf(payload))) {
    return wrong('json-twice', 'The body is JSON serialised twice.', 'Serialise the event once.');
  }
  return wrong('json-no-object', 'The body is JSON, but not an object.', 'Send one event per request.');
}

/** Forms of timestamps that the service rejects. The first match is reported. */
const TIMESTAMP_MISTAKES: readonly (readonly [kind: string, pattern: RegExp, what: string])[] = [
  ['timestamp-number', /^-?\d{9,}(?:\.\d+)?$/, 'is a number'],
  ['timestamp-no-moment', /T\d{2}:?\d{2}:?60/i, 'is a leap second, which the service cannot order'],
  ['timestamp-with-offset', /[+-](?!00:?(?:00)?$)\d{2}:?\d{2}$/, 'has an offset from UTC'],
  ['timestamp-date-only', /^\d{4}-\d{2}-\d{2}$/, 'is a date without a time'],
  ['timestamp-no-moment', /^\d{4}/, 'names no moment that exists'],
];

function timestampFinding(value: string): Finding {
  if (hasNoZone(value)) return wrong('timestamp-without-zone', 'timestamp has no time zone.', SEND_UTC);
  const [kind = 'timestamp-other', , what = 'is not an ISO 8601 date-time'] =
    TIMESTAMP_MISTAKES.find(([, pattern]) => pattern.test(value)) ?? [];
  return wrong(kind, `timestamp ${what}.`, SEND_UTC);
}

/** Findings about a timestamp that differs from the time of arrival: the sender's clock may be wrong. */
function skewFindings(timestamp: string, receivedAt: Date): Finding[] {
  const normalised = normaliseTimestamp(timestamp);
  const skew = normalised === undefined ? 0 : Date.parse(normalised) - receivedAt.getTime();
  if (Math.abs(skew) <= CLOCK_TOLERANCE) return [];
  const away = duration(Math.abs(skew));
  if (skew > 0) {
    const what = `timestamp is ${away} in the future. Such events may get another order.`;
    return [risky('timestamp-future', what, 'Set the clock, and use UTC.')];
  }
  const remedy =
    'This is fine for a sample or a repeat. Otherwise set the clock: events older than our data are not written.';
  return [risky('timestamp-past', `timestamp is ${away} in the past.`, remedy)];
}

/** Values that were probably not meant, in ids and in any text. */
function* valueFindings(data: Readonly<Record<string, unknown>>): Generator<Finding> {
  const texts = Object.entries(data).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const [empty] = texts.find(([name, value]) => IDS.includes(name) && NO_VALUE.test(value)) ?? [];
  if (empty !== undefined)
    yield wrong('id-without-value', `data.${empty} is a text such as null.`, 'Send the real id.');
  if (texts.some(([, value]) => PLACEHOLDER.test(value)))
    yield risky(
      'placeholder',
      'A value looks like a placeholder that was not replaced.',
      'Check the template.',
    );
}
