import * as v from 'valibot';
import { catalogue, type EventName, eventNames, isEventName } from '../../lambda/events/catalogue.ts';
import { type FieldProblem, parsePayload } from '../../lambda/events/envelope.ts';
import { normaliseTimestamp } from '../../lambda/events/timestamp.ts';
import { CLOCK_TOLERANCE } from '../../lambda/limits.ts';
import { isSlipOf, nearest } from '../../lib/did-you-mean.ts';
import { duration } from '../terminal/text.ts';
import { type Finding, type FindingName, finding } from './finding.ts';
import { type JsonNode, memberOf, parseJson, shapeOf } from './json-node.ts';
import { notJson } from './not-json.ts';
import { textFindings } from './text-findings.ts';

/**
 * Maximum bytes of a body to search for probable mistakes. For a larger body, only the service's own problems are
 * reported.
 */
const MAX_BYTES_PARSED = 1024 * 1024;
/** Maximum number of keys of `data` to compare with the known fields. */
const MAX_KEYS = 200;

/**
 * Minimum length of a field's name for which one wrong letter counts as a typo. A shorter name with a wrong letter may
 * be another word: `game` is not `name`.
 */
const MIN_LETTERS_FOR_SLIP = 6;

/** Names that other services use for the fields of our events. */
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

/** Findings about a correctly signed payload: mistakes, and parts that the service ignores. */
export function payloadFindings(body: Buffer, receivedAt: Date): Finding[] {
  const parsed = parsePayload(body);
  const text = body.toString().replace(/^\uFEFF/, '');
  const tree = body.length > MAX_BYTES_PARSED ? undefined : parseJson(text);
  const kind = parsed.kind === 'unknown' ? parsed.event.event : kindIn(tree);
  const meant = kind === undefined ? undefined : eventNames.find((name) => isSlipOf(kind, name));
  const isNamed = memberOf(tree, 'event')?.kind === 'string' || parsed.kind === 'unknown';
  const problems = parsed.kind === 'unusable' ? [...parsed.problems] : [];
  if (meant !== undefined && tree !== undefined) problems.push(...dataProblems(text, meant, problems));
  const timestamp = memberOf(tree, 'timestamp');
  return [
    ...(isNamed ? kindFindings(kind ?? '', meant) : []),
    ...problems.map((problem) => problemFinding(problem, body, tree)),
    ...(meant === undefined ? [] : dataFindings(meant, memberOf(tree, 'data'), problems)),
    ...(timestamp?.kind === 'string' ? skewFindings(timestamp.value, receivedAt) : []),
    ...textFindings(body, tree),
  ];
}

/** The kind of event in a body. Undefined if the kind is unknown, because no other text of a payload is ever shown. */
export function knownEvent(body: Buffer): EventName | undefined {
  const parsed = parsePayload(body);
  return parsed.kind === 'event' ? parsed.event.event : undefined;
}

/** The kind of event, even if the sender put it in a wrong field. */
function kindIn(tree: JsonNode | undefined): string | undefined {
  const nodes = `event ${SYNONYMS.event}`.split(' ').map((key) => memberOf(tree, key));
  const found = nodes[0] ?? nodes.find((node) => node?.kind === 'string');
  return found?.kind === 'string' ? found.value : undefined;
}

/** Problems of `data` that the service would report next if the sender corrected the kind of event. */
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
  if (meant !== undefined) return [finding('event-misspelt', { meant })];
  const nearby = nearest(kind, eventNames);
  const near = nearby === undefined ? '' : `; the most similar is ${nearby}`;
  return [finding('event-unknown', { near, events: eventNames.join(', ') })];
}

/** A finding for a problem that the service reports, with the probable mistake. */
function problemFinding({ field, detail }: FieldProblem, body: Buffer, tree: JsonNode | undefined): Finding {
  if (field === 'body') return bodyFinding(detail, body, tree);
  if (tree === undefined) return finding('field-wrong/unread', { field, detail });
  const path = field.split('.');
  const parent = path.slice(0, -1).reduce<JsonNode | undefined>(memberOf, tree);
  const name = path.at(-1) ?? '';
  const value = memberOf(parent, name);
  if (value === undefined) return missingFinding(field, name, parent, detail);
  if (field === 'timestamp') return timestampFinding(value);
  if (field === 'data' && value.kind === 'string') {
    return finding(parseJson(value.value)?.kind === 'object' ? 'data-as-text/json' : 'data-as-text');
  }
  if (value.text === '""') return finding('field-empty', { field });
  const expected = detail.replace(/^must be /, '');
  return finding('field-wrong', { field, detail, shape: shapeOf(value), expected });
}

function missingFinding(field: string, name: string, parent: JsonNode | undefined, detail: string): Finding {
  const keys = parent?.children.map(([key]) => key) ?? [];
  const [, expected = 'it is needed'] = /expected (.*)$/.exec(detail) ?? [];
  // The synonym comes from our own table, so it may be shown. Other text of the sender may not.
  const synonym = synonymIn(keys, name);
  if (synonym !== undefined) return finding('field-misnamed/synonym', { field, expected, synonym });
  const isNear = keys.some((key) => nearest(key, [name]) !== undefined);
  return finding(isNear ? 'field-misnamed' : 'field-missing', { field, expected });
}

function bodyFinding(detail: string, body: Buffer, tree: JsonNode | undefined): Finding {
  if (tree === undefined || detail !== 'must be a JSON object') return notJson(detail, body);
  if (tree.kind === 'array') return finding('json-array', { length: tree.children.length });
  if (tree.kind === 'string' && parseJson(tree.value) !== undefined) return finding('json-twice');
  return finding('json-no-object', { shape: shapeOf(tree) });
}

/**
 * Findings about data that the service ignores without an error: unknown fields, and values of a wrong type.
 */
function dataFindings(
  event: EventName,
  data: JsonNode | undefined,
  problems: readonly FieldProblem[],
): Finding[] {
  if (data?.kind !== 'object') return [];
  const schema = catalogue[event].data;
  const fields = Object.keys(schema.entries);
  const sent = new Map(data.children);
  const { success, output } = v.safeParse(schema, JSON.parse(data.text));
  const used: Readonly<Record<string, unknown>> = success ? output : {};
  const others = [...sent.keys()].slice(0, MAX_KEYS).filter((key) => !fields.includes(key));
  // A problem of `data.updated_fields.0` also counts for `data.updated_fields`.
  const wrongFields = new Set(
    problems.flatMap(({ field }) => (field.startsWith('data.') ? [field.split('.')[1]] : [])),
  );
  const all = fields
    .filter((name) => !wrongFields.has(name))
    .flatMap((field) => {
      const value = sent.get(field);
      if (value === undefined) return misnamed(field, others);
      if (used[field] !== undefined || wrongFields.size > 0 || value.text === '""') return [];
      return [finding('field-ignored', { field, shape: shapeOf(value) })];
    });
  if (all.length > 0 || wrongFields.size > 0 || fields.some((field) => sent.has(field))) return all;
  return [finding('data-unused', { event, fields: fields.join(', ') })];
}

/** @param others keys of `data` that are not fields of the event */
function misnamed(field: string, others: readonly string[]): Finding[] {
  const synonym = synonymIn(others, field);
  if (synonym !== undefined) return [finding('field-unread/synonym', { field, synonym })];
  const maxChanges = field.length < MIN_LETTERS_FOR_SLIP ? 0 : 1;
  return others.some((key) => isSlipOf(key, field, maxChanges)) ? [finding('field-unread', { field })] : [];
}

const CLOCK = String.raw`^\d{4}-?\d{2}-?\d{2}[Tt ]\d{2}(?::?\d{2}(?::?\d{2}(?:[.,]\d+)?)?)?`;

/** Formats of timestamps that the service rejects. The first match is reported. */
const TIMESTAMP_MISTAKES: readonly (readonly [pattern: string | RegExp, name: FindingName])[] = [
  [/^$/, 'timestamp-empty'],
  [/^\s|\s$/, 'timestamp-white-space'],
  [/^-?\d+(?:\.\d+)?$/, 'timestamp-number/quoted'],
  [`${CLOCK}$`, 'timestamp-without-zone'],
  [/[Tt ]\d{2}:?\d{2}:?60/, 'timestamp-leap-second'],
  [`${CLOCK}(?:[Zz]|[+-]00(?::?00)?)$`, 'timestamp-no-moment'],
  [`${CLOCK}[+-]\\d{2}(?::?\\d{2})?$`, 'timestamp-with-offset'],
  [/^\d{4}-\d{2}-\d{2}$/, 'timestamp-date-only'],
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/, 'timestamp-of-http'],
];

/** A finding about a timestamp that the service rejects. */
function timestampFinding({ kind, value }: JsonNode): Finding {
  if (kind === 'literal') return finding(value === 'null' ? 'timestamp-missing' : 'timestamp-number');
  if (kind !== 'string') return finding('timestamp-other/type');
  const found = TIMESTAMP_MISTAKES.find(([pattern]) => new RegExp(pattern).test(value));
  return finding(found?.[1] ?? 'timestamp-other');
}

/** Findings about a timestamp that differs from the time of arrival: the sender's clock may be wrong. */
function skewFindings(timestamp: string, receivedAt: Date): Finding[] {
  const normalised = normaliseTimestamp(timestamp);
  const skew = normalised === undefined ? 0 : Date.parse(normalised) - receivedAt.getTime();
  if (Math.abs(skew) <= CLOCK_TOLERANCE) return [];
  const away = { duration: duration(Math.abs(skew)) };
  return [finding(skew < 0 ? 'timestamp-past' : 'timestamp-future', away)];
}
