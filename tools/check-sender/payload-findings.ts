import { catalogue, type EventName, eventNames, isEventName } from '../../lambda/events/catalogue.ts';
import { type FieldProblem, parsePayload } from '../../lambda/events/envelope.ts';
import { hasNoZone, normaliseTimestamp } from '../../lambda/events/timestamp.ts';
import { CLOCK_TOLERANCE } from '../../lambda/limits.ts';
import { isSlipOf, nearest } from '../../lib/did-you-mean.ts';
import { duration } from '../terminal/text.ts';
import { type Finding, risky, wrong } from './finding.ts';

/** Texts that a program writes instead of a value that is missing. */
export const NO_VALUE = /^(?:undefined|null|none|nil|nan|true|false|\[object \w+\]|<buffer.*)$/i;

/** Placeholders of templates, shells and Windows that were not replaced. */
export const PLACEHOLDER =
  /\{\{[^{}]*\}\}|\$\{[\w.]+\}|<%=?[^<>]*%>|^\{[A-Za-z_]\w*\}$|^\$[A-Za-z_]\w*$|^%[A-Za-z_]\w*%$/;

/** Names that other services use for the fields of our events. They are ours, so they may be shown. */
const SYNONYMS: Readonly<Record<string, string>> = {
  event: 'type event_type eventType event_name kind topic action name',
  data: 'payload body object attributes resource content',
  timestamp: 'time created_at createdAt occurred_at occurredAt date ts sent_at datetime',
  girl_id: 'cast_id castId staff_id staffId member_id memberId',
  shop_id: 'store_id storeId',
  review_id: 'id',
  rating: 'stars score',
  comment: 'text message',
  updated_fields: 'changed_fields changedFields',
  display_name: 'nickname',
  profile_image_url: 'image_url imageUrl avatar_url avatarUrl avatar',
};

const SEND_UTC = 'Send the time of the change in UTC, such as 2026-01-31T09:00:00Z.';
const ESCAPE_AS_JSON = 'Write the body with a library for JSON.';

type SentObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is SentObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The kind of event in a body, if it is one of ours: no other text of a payload is ever shown. */
export function knownEvent(body: Buffer): EventName | undefined {
  const parsed = parsePayload(body);
  return parsed.kind === 'event' ? parsed.event.event : undefined;
}

/** Findings about a correctly signed payload: mistakes, and parts that the service ignores. */
export function payloadFindings(body: Buffer, receivedAt: Date): Finding[] {
  const parsed = parsePayload(body);
  const payload = jsonOf(body.toString().replace(/^\uFEFF/, ''));
  const problems = parsed.kind === 'unusable' ? parsed.problems : [];
  const tree = isObject(payload) ? payload : {};
  return [
    ...(typeof tree.event === 'string' ? kindFindings(tree.event) : []),
    ...problems.map((problem) => problemFinding(problem, body, payload)),
    ...(parsed.kind === 'event' ? ignoredFindings(parsed.event.event, tree.data) : []),
    ...(typeof tree.timestamp === 'string' ? skewFindings(tree.timestamp, receivedAt) : []),
    ...valueFindings(tree),
  ];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function kindFindings(kind: string): Finding[] {
  if (kind === '' || isEventName(kind)) return [];
  const meant = eventNames.find((name) => isSlipOf(kind, name)) ?? nearest(kind, eventNames);
  const remedy = `Known events: ${eventNames.join(', ')}.`;
  if (meant !== undefined)
    return [
      wrong(
        'event-misspelt',
        `This kind of event is unknown, and is only stored. Did you mean ${meant}?`,
        remedy,
      ),
    ];
  return [
    risky(
      'event-unknown',
      'This kind of event is unknown. It is stored until the service supports it.',
      remedy,
    ),
  ];
}

/** A finding for a problem that the service reports, with the probable mistake. */
function problemFinding({ field, detail }: FieldProblem, body: Buffer, payload: unknown): Finding {
  if (field === 'body') return bodyFinding(detail, body, payload);
  const path = field.split('.');
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), payload);
  const name = path.at(-1) ?? '';
  const fields = isObject(parent) ? parent : {};
  if (!(name in fields)) return missingFinding(field, name, Object.keys(fields), detail);
  if (field === 'timestamp' && typeof fields[name] === 'string') return timestampFinding(fields[name]);
  if (field === 'data' && typeof fields[name] === 'string') {
    return wrong(
      'data-as-text',
      'data is a text with JSON instead of an object.',
      'Serialise the whole event once.',
    );
  }
  return wrong(
    'field-wrong',
    `${field} ${detail}; it is ${shapeOf(fields[name])}.`,
    'See the fields of each event in the guide.',
  );
}

function missingFinding(field: string, name: string, keys: readonly string[], detail: string): Finding {
  const [, expected = 'needed'] = /expected (.*)$/.exec(detail) ?? [];
  const remedy = `Send ${field}: ${expected}.`;
  const synonym = SYNONYMS[name]?.split(' ').find((one) => keys.includes(one));
  if (synonym !== undefined)
    return wrong('field-misnamed', `${field} is missing; ${synonym} may be meant.`, remedy);
  const isNear = keys.some((key) => nearest(key, [name]) !== undefined);
  if (isNear)
    return wrong('field-misnamed', `${field} is missing; another field has a similar name.`, remedy);
  return wrong('field-missing', `${field} is missing.`, remedy);
}

const BODY_MISTAKES: readonly (readonly [kind: string, pattern: RegExp, what: string])[] = [
  ['body-empty', /^\s*$/, 'The body is empty.'],
  ['body-xml', /^\s*</, 'The body is XML.'],
  ['form-encoded', /^[\w.%-]+=/, 'The body is a form.'],
  ['body-no-value', /^(?:undefined|null|None|\[object \w+\])$/, 'The body is a text such as undefined.'],
  ['body-python', /^\s*\{\s*'/, 'The body has single quotation marks, as Python writes a dictionary.'],
  [
    'body-nan',
    /[:,[]\s*-?(?:NaN|Infinity)\b/,
    'The body contains NaN or Infinity, which JSON does not have.',
  ],
  ['body-trailing-comma', /,\s*[}\]]/, 'The body has a comma before a closing bracket.'],
  ['body-bare-keys', /^\s*\{\s*\w+\s*:/, 'The body has keys without quotation marks.'],
  ['body-several', /\}\s*\{/, 'The body contains several JSON objects.'],
  ['body-cut', /^\s*\{.*[^}\s]\s*$/s, 'The body begins as JSON, but its end is missing.'],
];

function bodyFinding(detail: string, body: Buffer, payload: unknown): Finding {
  if (detail === 'must be UTF-8' || body.includes(0))
    return wrong('body-not-utf-8', 'The body is not UTF-8.', 'Encode the JSON as UTF-8.');
  if (payload === undefined) {
    const text = body.toString();
    const [kind, , what] = BODY_MISTAKES.find(([, pattern]) => pattern.test(text)) ?? [
      'body-not-json',
      /^/,
      'The body is not JSON.',
    ];
    return wrong(kind, what, ESCAPE_AS_JSON);
  }
  if (typeof payload === 'string' && isObject(jsonOf(payload))) {
    return wrong(
      'json-twice',
      'The body is JSON serialised twice: a string in quotation marks.',
      'Serialise the event once.',
    );
  }
  if (Array.isArray(payload))
    return wrong('json-array', `The body is an array of ${payload.length}.`, 'Send one event per request.');
  return wrong('json-no-object', `The body is ${shapeOf(payload)}, not an object.`, ESCAPE_AS_JSON);
}

const shapeOf = (value: unknown) =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'an array'
      : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;

/** Fields of `data` that the service does not read: misnamed, or of another type. */
function ignoredFindings(event: EventName, data: unknown): Finding[] {
  const sent = isObject(data) ? data : {};
  const fields = Object.keys(catalogue[event].data.entries);
  const others = Object.keys(sent).filter((key) => !fields.includes(key));
  const found = fields.flatMap((field) => {
    const value = sent[field];
    if (field in sent) {
      const isRead =
        ['string', 'number'].includes(typeof value) || (Array.isArray(value) && field.endsWith('s'));
      return isRead
        ? []
        : [
            risky(
              'field-ignored',
              `data.${field} is ${shapeOf(value)}. It is ignored.`,
              'Send a string or a number.',
            ),
          ];
    }
    const synonym = SYNONYMS[field]?.split(' ').find((one) => others.includes(one));
    const isNear = others.some((key) => field.length > MIN_LETTERS_FOR_SLIP && isSlipOf(key, field, 1));
    if (synonym === undefined && !isNear) return [];
    return [
      risky(
        'field-unread',
        `data.${field} is not there; ${synonym ?? 'another field'} may be meant.`,
        `Name it ${field}.`,
      ),
    ];
  });
  if (found.length > 0 || fields.some((field) => field in sent)) return found;
  return [
    risky('data-unused', `The service reads nothing of data for ${event}.`, `It reads ${fields.join(', ')}.`),
  ];
}

/** A shorter name with a wrong letter may be another word: `game` is not `name`. */
const MIN_LETTERS_FOR_SLIP = 5;

/** Forms of timestamps that the service rejects. The first match is reported. */
const TIMESTAMP_MISTAKES: readonly (readonly [kind: string, pattern: RegExp, what: string])[] = [
  ['timestamp-empty', /^\s*$/, 'is empty'],
  ['timestamp-number', /^-?\d{9,}(?:\.\d+)?$/, 'is a number'],
  ['timestamp-leap-second', /T\d{2}:?\d{2}:?60/i, 'is a leap second, which the service cannot order'],
  ['timestamp-without-zone', /T\d{2}:?\d{2}(?::?\d{2}(?:[.,]\d+)?)?$/i, 'has no time zone'],
  ['timestamp-with-offset', /[+-](?!00:?(?:00)?$)\d{2}(?::?\d{2})?$/, 'has an offset from UTC'],
  ['timestamp-date-only', /^\d{4}-\d{2}-\d{2}$/, 'is a date without a time'],
  ['timestamp-of-http', /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/, 'is a date in the format of HTTP'],
  ['timestamp-no-moment', /^\d{4}/, 'names no moment that exists'],
];

function timestampFinding(value: string): Finding {
  if (hasNoZone(value)) return wrong('timestamp-without-zone', 'timestamp has no time zone.', SEND_UTC);
  const [kind, , what] = TIMESTAMP_MISTAKES.find(([, pattern]) => pattern.test(value)) ?? [
    'timestamp-other',
    /^/,
    'is not a date-time',
  ];
  return wrong(kind, `timestamp ${what}.`, SEND_UTC);
}

/** Findings about a timestamp that differs from the time of arrival: the sender's clock may be wrong. */
function skewFindings(timestamp: string, receivedAt: Date): Finding[] {
  const normalised = normaliseTimestamp(timestamp);
  const skew = normalised === undefined ? 0 : Date.parse(normalised) - receivedAt.getTime();
  if (Math.abs(skew) <= CLOCK_TOLERANCE) return [];
  const away = duration(Math.abs(skew));
  if (skew > 0)
    return [
      risky(
        'timestamp-future',
        `timestamp is ${away} in the future. Such events may get another order.`,
        'Set the clock, and use UTC.',
      ),
    ];
  return [
    risky(
      'timestamp-past',
      `timestamp is ${away} in the past.`,
      'This is fine for a sample or a repeat. Otherwise set the clock: events older than our data are not written.',
    ),
  ];
}

/** Values that were probably not meant, in ids and in any text. */
function* valueFindings(payload: SentObject): Generator<Finding> {
  const data = isObject(payload.data) ? payload.data : {};
  const isId = (name: string) => name.endsWith('_id') && name in SYNONYMS;
  const [empty] =
    Object.entries(data).find(
      ([name, value]) => isId(name) && typeof value === 'string' && NO_VALUE.test(value),
    ) ?? [];
  if (empty !== undefined)
    yield wrong('id-without-value', `data.${empty} is a text such as null.`, 'Send the real id.');
  const [large] =
    Object.entries(data).find(
      ([name, value]) => isId(name) && typeof value === 'number' && !Number.isSafeInteger(value),
    ) ?? [];
  if (large !== undefined)
    yield wrong(
      'number-too-large',
      `data.${large} is a number that JSON parsers round.`,
      'Send it as a string.',
    );
  const texts = Object.values(data).filter((value) => typeof value === 'string');
  if (texts.some((text) => PLACEHOLDER.test(text)))
    yield risky(
      'placeholder',
      'A value looks like a placeholder that was not replaced.',
      'Check the template.',
    );
}
