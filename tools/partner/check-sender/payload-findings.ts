import { isUtf8 } from 'node:buffer';
import { catalogue, type EventName, eventNames, isEventName } from '../../../lambda/events/catalogue.ts';
import { type FieldProblem, parsePayload } from '../../../lambda/events/envelope.ts';
import { normaliseTimestamp } from '../../../lambda/events/timestamp.ts';
import { CLOCK_TOLERANCE, EVENT_MEGABYTES } from '../../../lambda/limits.ts';
import { isSlipOf, nearest } from '../../../lib/did-you-mean.ts';
import { notJson, SEND_JSON_ITSELF } from './body-format.ts';
import { type Finding, findingsOf, firstFinding, type Rule, risky, wrong } from './finding.ts';
import { type JsonNode, memberOf, nodesIn, parseJson, shapeOf } from './json.ts';
import { NO_VALUE, PLACEHOLDER } from './signature-values.ts';

/** Bytes above which an event is near the service's limit, as docs/partner.md says. */
const NEAR_LIMIT_BYTES = 4 * 1024 * 1024;

/** Bytes of a body above which only the service's own problems are reported. */
const MAX_BYTES_PARSED = 1024 * 1024;

/** Maximum number of keys of `data` that are compared with the known fields. */
const MAX_KEYS = 200;

/**
 * Minimum length of a field's name for detecting a typo of one letter. In shorter names it may be another word: `game`
 * is not `name`.
 */
const MIN_LETTERS_FOR_SLIP = 6;

/** Seconds that a sender's clock may differ from ours without a finding. */
const MAX_SKEW_SECONDS = CLOCK_TOLERANCE / 1000;

/** Names that other services use for our fields. */
const SYNONYMS: Readonly<Record<string, string>> = {
  event: 'type event_type eventType event_name eventName kind topic action name',
  data: 'payload body object attributes resource content event_data',
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

const synonymIn = (keys: readonly string[], field: string) =>
  SYNONYMS[field]?.split(' ').find((synonym) => keys.includes(synonym));

/** Mistakes in a correctly signed payload, and parts of it that the service ignores. */
export function payloadFindings(body: Buffer, receivedAt: Date): Finding[] {
  const parsed = parsePayload(body);
  const text = body.toString().replace(/^\uFEFF/, '');
  const tree = body.length > MAX_BYTES_PARSED ? undefined : parseJson(text);
  const kind = parsed.kind === 'unknown' ? parsed.event.event : kindIn(tree);
  const meant = kind === undefined ? undefined : eventNames.find((name) => isSlipOf(kind, name));
  const problems = parsed.kind === 'unusable' ? [...parsed.problems] : [];
  if (meant !== undefined && tree !== undefined) problems.push(...dataProblems(text, meant, problems));
  const timestamp = memberOf(tree, 'timestamp');
  return [
    ...(memberOf(tree, 'event')?.kind === 'string' || parsed.kind === 'unknown'
      ? kindFindings(kind ?? '', meant)
      : []),
    ...problems.map((problem) => problemFinding(problem, body, tree)),
    ...(meant === undefined ? [] : dataFindings(meant, text, memberOf(tree, 'data'), problems)),
    ...(timestamp?.kind === 'string' ? skewFindings(timestamp.value, receivedAt) : []),
    ...findingsOf(WHOLE_PAYLOAD, { body, tree }),
  ];
}

/** The kind of event if it is known. No other text of a payload is ever shown. */
export function knownEvent(body: Buffer): EventName | undefined {
  const parsed = parsePayload(body);
  return parsed.kind === 'event' ? parsed.event.event : undefined;
}

/** The kind of event, in whichever field the sender put it. */
function kindIn(tree: JsonNode | undefined): string | undefined {
  const nodes = `event ${SYNONYMS.event}`.split(' ').map((key) => memberOf(tree, key));
  const found = nodes[0] ?? nodes.find((node) => node?.kind === 'string');
  return found?.kind === 'string' ? found.value : undefined;
}

/**
 * The problems that the service would report about `data` if it knew the kind. It reports them after that is corrected.
 */
function dataProblems(
  text: string,
  event: EventName,
  known: readonly FieldProblem[],
): readonly FieldProblem[] {
  const parsed = parsePayload(Buffer.from(JSON.stringify({ ...JSON.parse(text), event })));
  if (parsed.kind !== 'unusable') return [];
  return parsed.problems.filter(({ field }) => known.every((problem) => problem.field !== field));
}

function kindFindings(kind: string, meant: EventName | undefined): Finding[] {
  if (kind === '' || isEventName(kind)) return [];
  const parked = 'It is stored, but not processed.';
  if (meant !== undefined) {
    return [
      wrong({
        kind: 'event-misspelt',
        what: `This event is unknown. Did you mean ${meant}? ${parked}`,
        remedy: `Send exactly ${meant}.`,
      }),
    ];
  }
  const near = nearest(kind, eventNames);
  return [
    risky({
      kind: 'event-unknown',
      what: `This event is unknown${near === undefined ? '' : `; the most similar is ${near}`}. ${parked}`,
      remedy: `Tell us before you send a new event. We know ${eventNames.join(', ')}.`,
    }),
  ];
}

/** A problem reported by the service, with the probable mistake. */
function problemFinding({ field, detail }: FieldProblem, body: Buffer, tree: JsonNode | undefined): Finding {
  if (field === 'body') return bodyFinding(detail, body, tree);
  if (tree === undefined) return wrong({ kind: 'field-wrong', what: `${field} ${detail}.` });
  const path = field.split('.');
  const parent = path.slice(0, -1).reduce<JsonNode | undefined>(memberOf, tree);
  const name = path.at(-1) ?? '';
  const value = memberOf(parent, name);
  if (value === undefined) return missingFinding(field, name, parent, detail);
  if (field === 'timestamp') return timestampFinding(value);
  const isText = value.kind === 'string';
  if (field === 'data' && isText) {
    const isJson = parseJson(value.value)?.kind === 'object';
    return wrong({
      kind: 'data-as-text',
      what: `data is a string${isJson ? ' that contains JSON' : ''}. It must be an object.`,
      remedy: isJson
        ? 'Serialise once. Pass the object to the serialiser, not its JSON.'
        : 'Send an object in braces.',
    });
  }
  if (isText && value.value === '') {
    return wrong({
      kind: 'field-empty',
      what: `${field} is empty.`,
      remedy: 'It is required.',
    });
  }
  return wrong({
    kind: 'field-wrong',
    what: `${field} ${detail}; it is ${shapeOf(value)}.`,
    remedy: `Send ${detail.replace(/^must be /, '')}.`,
  });
}

function missingFinding(field: string, name: string, parent: JsonNode | undefined, detail: string): Finding {
  const keys = parent?.kind === 'object' ? parent.entries.map(([key]) => key) : [];
  // A synonym comes from our own table, so it can be shown. Other text of the sender cannot.
  const synonym = synonymIn(keys, name);
  const isNear = keys.some((key) => nearest(key, [name]) !== undefined);
  const likely =
    synonym !== undefined
      ? `; ${synonym} may be meant as this field`
      : isNear
        ? '; a field has a similar name: check its spelling, case and underscores'
        : '';
  const [, expected = 'it is needed'] = /expected (.*)$/.exec(detail) ?? [];
  return wrong({
    kind: likely === '' ? 'field-missing' : 'field-misnamed',
    what: `${field} is missing${likely}.`,
    remedy: `Send ${field}: ${expected}.`,
  });
}

function bodyFinding(detail: string, body: Buffer, tree: JsonNode | undefined): Finding {
  if (tree === undefined || detail !== 'must be a JSON object') return notJson(detail, body);
  if (tree.kind === 'array') {
    return wrong({
      kind: 'json-array',
      what: `The body is an array of ${tree.items.length}. It must be one object.`,
      remedy: 'Send each event in a separate request.',
    });
  }
  if (tree.kind === 'string' && parseJson(tree.value) !== undefined) {
    return wrong({
      kind: 'json-twice',
      what: 'The body is JSON inside a JSON string. It was serialised twice.',
      remedy: SEND_JSON_ITSELF,
    });
  }
  return wrong({
    kind: 'json-no-object',
    what: `The body is ${shapeOf(tree)}.`,
    remedy: 'Send a JSON object.',
  });
}

/** Silent losses: the service ignores unknown fields, and values of an unusable type. */
function dataFindings(
  event: EventName,
  text: string,
  data: JsonNode | undefined,
  problems: readonly FieldProblem[],
): Finding[] {
  if (data?.kind !== 'object') return [];
  const schema = catalogue[event].data;
  const fields = Object.keys(schema.shape);
  const sent = new Map(data.entries);
  const used: Readonly<Record<string, unknown>> =
    schema.safeParse(JSON.parse(text.slice(data.start, data.end))).data ?? {};
  const others = [...sent.keys()].slice(0, MAX_KEYS).filter((key) => !fields.includes(key));
  // A problem with `data.updated_fields.0` belongs to `data.updated_fields`.
  const wrongFields = new Set(
    problems.flatMap(({ field }) => (field.startsWith('data.') ? [field.split('.')[1]] : [])),
  );
  const all: Finding[] = [];
  for (const field of fields.filter((name) => !wrongFields.has(name))) {
    const value = sent.get(field);
    const synonym = synonymIn(others, field);
    const isEmpty = value?.kind === 'string' && value.value === '';
    if (value !== undefined) {
      if (used[field] === undefined && wrongFields.size === 0 && !isEmpty) all.push(ignored(field, value));
    } else if (synonym !== undefined || others.some((key) => isMeantAs(key, field))) {
      all.push(misnamed(field, synonym));
    }
  }
  if (all.length > 0 || wrongFields.size > 0 || fields.some((field) => sent.has(field))) return all;
  return [
    risky({
      kind: 'data-unused',
      what: `data has no field that we read for ${event}, so we cannot tell what the event is about.`,
      remedy: `Send one or more of ${fields.join(', ')}.`,
    }),
  ];
}

/** Whether an unknown key is probably one of our fields with a typo. */
const isMeantAs = (key: string, field: string) =>
  isSlipOf(key, field, field.length < MIN_LETTERS_FOR_SLIP ? 0 : 1);

const ignored = (field: string, value: JsonNode) =>
  risky({
    kind: 'field-ignored',
    what: `data.${field} is ${shapeOf(value)}. It is ignored, as if it were absent.`,
    remedy: 'Send a string or a number, or omit the field.',
  });

const misnamed = (field: string, synonym: string | undefined) =>
  risky({
    kind: 'field-unread',
    what:
      synonym === undefined
        ? `A field of data with a name similar to ${field} is ignored.`
        : `data.${synonym} is ignored. Did you mean ${field}?`,
    remedy: `If it has this meaning, send it as ${field}. Check its spelling, case and underscores.`,
  });

/** Findings about the payload as a whole. */
const WHOLE_PAYLOAD: readonly Rule<{ body: Buffer; tree: JsonNode | undefined }>[] = [
  {
    grade: 'risky',
    kind: 'body-near-limit',
    applies: ({ body }) => body.length > NEAR_LIMIT_BYTES,
    what: ({ body }) =>
      `The body has ${body.length.toLocaleString('en')} bytes. Above about ${EVENT_MEGABYTES} MB it is rejected with 413.`,
    remedy: 'Send only what identifies the change, not data that can be fetched.',
  },
  {
    grade: 'risky',
    kind: 'key-twice',
    applies: ({ tree }) => hasNode(tree, (node) => node.kind === 'object' && hasKeyTwice(node.entries)),
    what: 'An object in the JSON has the same key twice. Only the last value is used.',
    remedy: 'Use each key once.',
  },
  {
    grade: 'risky',
    kind: 'number-too-large',
    applies: ({ tree }) => hasNode(tree, (node) => node.kind === 'literal' && isInexact(node.text)),
    what: 'The JSON has an integer of 2^53 or above. Most parsers round it, so we do not use it.',
    remedy: 'Send such a number as a string.',
  },
  {
    kind: 'id-without-value',
    applies: ({ tree }) => idsWithoutValue(tree).length > 0,
    what: ({ tree }) =>
      `data.${idsWithoutValue(tree)[0]} is a text such as null or undefined, which programs write for a missing value.`,
    remedy: 'Send the id, or omit the field. A missing value must not become a text.',
  },
  {
    kind: 'placeholder',
    // A person may have written one within a longer text.
    grade: ({ tree }) => (hasText(tree, (text) => matchesWhole(PLACEHOLDER, text)) ? 'wrong' : 'risky'),
    applies: ({ tree }) => hasText(tree, (text) => PLACEHOLDER.test(text)),
    what: 'A text contains a placeholder that was not replaced, such as {{girl_id}}.',
    remedy: 'Fill in the template before you sign it. Check the names of its variables.',
  },
  {
    grade: 'risky',
    kind: 'html-entities',
    applies: ({ tree }) => hasText(tree, (text) => HTML_ENTITY.test(text)),
    what: 'A text contains HTML entities, such as &amp; or &eacute;. They are stored and shown like this.',
    remedy: 'Send plain text. Do not escape it for HTML.',
  },
  {
    grade: 'risky',
    kind: 'mojibake',
    applies: ({ tree }) => hasText(tree, isMojibake),
    what: 'A text was probably decoded with a wrong charset before it was sent: CafÃ© or Caf\uFFFD instead of Café.',
    remedy: 'Read the text as UTF-8 from its file, database or form. The signature cannot show this.',
  },
  {
    grade: 'fine',
    kind: 'bom',
    applies: ({ body, tree }) => tree !== undefined && body.subarray(0, 3).equals(Buffer.from('\uFEFF')),
    what: 'The body begins with a byte order mark. It is removed.',
  },
];

const hasNode = (tree: JsonNode | undefined, test: (node: JsonNode) => boolean) =>
  tree !== undefined && nodesIn(tree).some(test);

const hasText = (tree: JsonNode | undefined, test: (text: string) => boolean) =>
  hasNode(tree, (node) => node.kind === 'string' && test(node.value));

const ID_FIELDS = new Set(
  Object.values(catalogue).flatMap(({ data }) =>
    Object.keys(data.shape).filter((name) => name.endsWith('_id')),
  ),
);

function idsWithoutValue(tree: JsonNode | undefined): string[] {
  const data = memberOf(tree, 'data');
  return [...ID_FIELDS].filter((name) => {
    const id = memberOf(data, name);
    return id?.kind === 'string' && NO_VALUE.test(id.value);
  });
}

const matchesWhole = (pattern: RegExp, text: string) => pattern.exec(text)?.[0] === text;

const HTML_ENTITY = /&(?:[a-z][a-z\d]{1,9}|#\d{1,7}|#x[\da-f]{1,6});/i;

/** The bytes of characters of Windows-1252, which contains Latin-1. */
const BYTES_OF_1252 = new Map(
  Array.from(new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))).map(
    (character, byte) => [character, byte],
  ),
);

/** Whether all characters of a text are bytes of UTF-8, or one was replaced because it could not be decoded. */
function isMojibake(text: string): boolean {
  if (text.includes('\uFFFD')) return true;
  if (!/[^\0-\x7F]/.test(text)) return false;
  // Latin-1 has control characters where Windows-1252 has others.
  const bytes = Array.from(text, (character) => {
    const code = character.charCodeAt(0);
    return BYTES_OF_1252.get(character) ?? (code < 0x100 ? code : undefined);
  });
  return bytes.every((byte) => byte !== undefined) && isUtf8(Uint8Array.from(bytes));
}

const hasKeyTwice = (entries: readonly (readonly [string, JsonNode])[]) =>
  new Set(entries.map(([key]) => key)).size < entries.length;

const isInexact = (digits: string) => /^-?\d+$/.test(digits) && !Number.isSafeInteger(Number(digits));

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

/** @param node the payload's `timestamp`, which the service rejects */
function timestampFinding(node: JsonNode): Finding {
  const mistake = (kind: string, what: string) =>
    wrong({
      kind: `timestamp-${kind}`,
      what: `timestamp ${what}.`,
      remedy:
        'Send the time of the change in UTC, such as 2026-01-31T09:00:00Z. Include fractions of a second if you have them.',
    });
  if (node.kind === 'literal' && node.text === 'null') return mistake('missing', 'is null');
  if (node.kind === 'literal') return mistake('number', 'is a number, such as a Unix time');
  if (node.kind !== 'string') return mistake('other', 'is not a string');
  const found = TIMESTAMP_MISTAKES.find(([pattern]) => new RegExp(pattern).test(node.value));
  return mistake(found?.[1] ?? 'other', found?.[2] ?? 'is not an ISO 8601 date-time in UTC');
}

/** @param seconds from the receipt to the timestamp */
const SKEW: readonly Rule<number>[] = [
  {
    grade: 'risky',
    kind: 'timestamp-future',
    applies: (seconds) => seconds > MAX_SKEW_SECONDS,
    what: (seconds) => `timestamp is ${durationOf(seconds)} in the future.`,
    remedy: `Set the clock, and use UTC. The service counts this timestamp as ${MAX_SKEW_SECONDS / 60} minutes after the receipt, so your events may get another order.`,
  },
  {
    grade: 'risky',
    kind: 'timestamp-past',
    applies: (seconds) => seconds < -MAX_SKEW_SECONDS,
    what: (seconds) => `timestamp is ${durationOf(-seconds)} in the past.`,
    remedy:
      'This is fine for a sample or a repeat. Otherwise set the clock: events older than our data are not written.',
  },
];

function skewFindings(timestamp: string, receivedAt: Date): Finding[] {
  const normalised = normaliseTimestamp(timestamp);
  if (normalised === undefined) return [];
  return firstFinding(SKEW, Math.round((Date.parse(normalised) - receivedAt.getTime()) / 1000));
}

const DURATION_UNITS: readonly (readonly [unit: string, minutes: number])[] = [
  ['days', 24 * 60],
  ['hours', 60],
];

/** `3 days`, `60 minutes`. */
function durationOf(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  const [unit, length] = DURATION_UNITS.find(([, each]) => minutes >= 2 * each) ?? ['minutes', 1];
  return `${Math.floor(minutes / length).toLocaleString('en')} ${unit}`;
}
