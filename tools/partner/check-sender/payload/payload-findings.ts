import { type EventName, eventNames, isEventName } from '../../../../lambda/events/catalogue.ts';
import { type Parsed, type Problem, parsePayload } from '../../../../lambda/events/envelope.ts';
import { isSlipOf, nearest } from '../../../../lib/nearest.ts';
import { isObject } from '../../../../local/gateway/http-message.ts';
import { type Finding, fine, risky, wrong } from '../finding.ts';
import { ALIASES } from './aliases.ts';
import { dataFindings } from './data-findings.ts';
import { hasKeyTwice, type JsonNode, jsonTree, memberOf, shapeOf } from './json-tree.ts';
import { notJson, SEND_JSON_AS_IT_IS } from './not-json.ts';
import { skewFindings, timestampMistake } from './timestamp-findings.ts';

/** Bytes above which an event is near what the service takes: of JSON "some 6 MB" (README, Answers). */
const NEAR_LIMIT_BYTES = 4 * 1024 * 1024;

/** Bytes of a body above which it is not looked at for what the service does not judge. */
const MOST_BYTES_LOOKED_AT = 1024 * 1024;

/** What there is to say of a payload whose signature is right. */
export function payloadFindings(body: Buffer, receivedAt: Date): Finding[] {
  const parsed = parsePayload(body);
  const text = body.toString().replace(/^\uFEFF/, '');
  const tree = body.length > MOST_BYTES_LOOKED_AT ? undefined : jsonTree(text);
  const payload =
    parsed.kind === 'unusable' && parsed.problems[0].field === 'body' ? undefined : objectOf(text);
  const sentKind = payload === undefined ? undefined : kindOf(payload);
  const meant = sentKind === undefined ? undefined : eventNames.find((name) => isSlipOf(sentKind, name));
  const problems = [
    ...(parsed.kind === 'unusable' ? parsed.problems : []),
    ...problemsAs(meant, payload, parsed),
  ];
  const all: Finding[] = [
    ...(payload === undefined ? [] : kindFindings(payload.event, meant)),
    ...problems.map((problem) => problemFinding(problem, body, tree)),
  ];
  if (meant !== undefined && tree !== undefined) {
    all.push(...dataFindings(meant, memberOf(tree, 'data'), toldOf(problems)));
  }
  all.push(...sizeFindings(body));
  if (tree === undefined) return all;
  const timestamp = memberOf(tree, 'timestamp');
  if (timestamp?.kind === 'string') all.push(...skewFindings(timestamp.value, receivedAt));
  if (hasKeyTwice(tree)) {
    all.push(
      risky({
        kind: 'key-twice',
        what: 'An object of the JSON has a key twice: the last one counts, and the others are lost.',
        remedy: 'Write each key once.',
      }),
    );
  }
  if (hasLargeNumber(tree)) {
    all.push(
      risky({
        kind: 'number-too-large',
        what: 'The JSON has an integer above 2^53, which most parsers, and ours, round.',
        remedy: 'Send such a number as text.',
      }),
    );
  }
  if (body.length !== Buffer.byteLength(text)) {
    all.push(fine({ kind: 'bom', what: 'The body begins with a byte order mark, which is dropped.' }));
  }
  return all;
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const payload: unknown = JSON.parse(text);
  return isObject(payload) ? payload : undefined;
}

/** What the sender calls the kind, in whichever field. */
function kindOf(payload: Readonly<Record<string, unknown>>): string | undefined {
  if (payload.event !== undefined) return typeof payload.event === 'string' ? payload.event : undefined;
  return ALIASES.event?.map((alias) => payload[alias]).find((value) => typeof value === 'string');
}

/** What the service would have against `data` if it knew the kind: it says so once that is mended. */
function problemsAs(
  meant: EventName | undefined,
  payload: Readonly<Record<string, unknown>> | undefined,
  parsed: Parsed,
): readonly Problem[] {
  if (meant === undefined || payload?.event === meant) return [];
  const named = parsePayload(Buffer.from(JSON.stringify({ ...payload, event: meant })));
  if (named.kind !== 'unusable') return [];
  const told = new Set(parsed.kind === 'unusable' ? parsed.problems.map(({ field }) => field) : []);
  return named.problems.filter(({ field }) => !told.has(field));
}

/** Of `data.updated_fields.0`, too, the field is `data.updated_fields`. */
const toldOf = (problems: readonly Problem[]) =>
  new Set(
    problems
      .filter(({ field }) => field.startsWith('data.'))
      .map(({ field }) => field.split('.').slice(0, 2).join('.')),
  );

function kindFindings(event: unknown, meant: EventName | undefined): Finding[] {
  if (typeof event !== 'string' || event === '' || isEventName(event)) return [];
  const parked = 'It is kept, and nobody processes it.';
  if (meant !== undefined) {
    return [
      wrong({
        kind: 'event-misspelt',
        what: `event is no kind that we know; ${meant} may be meant. ${parked}`,
        remedy: `Send exactly ${meant}, in these letters.`,
      }),
    ];
  }
  const near = nearest(event, eventNames);
  return [
    risky({
      kind: 'event-unknown',
      what: `event is no kind that we know${near === undefined ? '' : `; the nearest is ${near}`}. ${parked}`,
      remedy: `Tell us before you send a new kind. We know ${eventNames.join(', ')}.`,
    }),
  ];
}

function sizeFindings({ length }: Buffer): Finding[] {
  if (length <= NEAR_LIMIT_BYTES) return [];
  return [
    risky({
      kind: 'body-near-limit',
      what: `The body has ${length.toLocaleString('en')} bytes; above some 6 MB it is refused with 413.`,
      remedy: 'Send what identifies the change, and not what can be fetched.',
    }),
  ];
}

/** The kind of event, where it is one that we know: no other text of a payload is ever shown. */
export function knownEvent(body: Buffer): EventName | undefined {
  const parsed = parsePayload(body);
  return parsed.kind === 'event' && isEventName(parsed.event.event) ? parsed.event.event : undefined;
}

/** A problem that the service has, with the mistake that is probably behind it. */
function problemFinding({ field, detail }: Problem, body: Buffer, tree: JsonNode | undefined): Finding {
  if (field === 'body') return bodyFinding(detail, body, tree);
  if (tree === undefined) return wrong({ kind: 'field-wrong', what: `${field} ${detail}.` });
  if (field === 'timestamp' && memberOf(tree, 'timestamp') !== undefined) {
    return timestampMistake(memberOf(tree, 'timestamp'));
  }
  const [parent, name] = field.startsWith('data.')
    ? [memberOf(tree, 'data'), field.slice('data.'.length)]
    : [tree, field];
  const value = memberOf(parent, name);
  if (value === undefined) return missing(field, name, parent, detail);
  if (field === 'data' && value.kind === 'string') {
    const isJson = jsonTree(value.value)?.kind === 'object';
    return wrong({
      kind: 'data-as-text',
      what: `data is a text${isJson ? ' that holds JSON' : ''}, and must be an object.`,
      remedy: isJson
        ? 'Serialise once: give the object to the serialiser, not its JSON.'
        : 'Send an object, in braces.',
    });
  }
  if (value.kind === 'string' && value.value === '') {
    return wrong({
      kind: 'field-empty',
      what: `${field} is empty.`,
      remedy: 'Send its value; it is needed.',
    });
  }
  return wrong({
    kind: 'field-wrong',
    what: `${field} ${detail}; it is ${shapeOf(value)}.`,
    remedy: `Send ${detail.replace(/^must be /, '')}.`,
  });
}

function missing(field: string, name: string, parent: JsonNode | undefined, detail: string): Finding {
  const keys = parent?.kind === 'object' ? parent.entries.map(([key]) => key) : [];
  // An alias is ours to show; what the sender has written is not.
  const alias = ALIASES[name]?.find((other) => keys.includes(other));
  const isNear = keys.some((key) => key !== name && nearest(key, [name]) !== undefined);
  const likely =
    alias === undefined
      ? isNear
        ? '; a field with a name much like it is there: see its letters, their case and its underscore'
        : ''
      : `; ${alias} is there, and may be meant`;
  const [, expected = ''] = /expected (.*)$/.exec(detail) ?? [];
  return wrong({
    kind: likely === '' ? 'field-missing' : 'field-misnamed',
    what: `${field} is missing${likely}.`,
    remedy: `Send ${field}: ${expected === '' ? 'it is needed' : expected}.`,
  });
}

function bodyFinding(detail: string, body: Buffer, tree: JsonNode | undefined): Finding {
  if (detail === 'must be a JSON object' && tree !== undefined) {
    if (tree.kind === 'array') {
      return wrong({
        kind: 'json-array',
        what: `The body is an array of ${tree.items.length}, and must be one object.`,
        remedy: 'Send each event in a request of its own.',
      });
    }
    if (tree.kind === 'string' && jsonTree(tree.value) !== undefined) {
      return wrong({
        kind: 'json-twice',
        what: 'The body is JSON inside a JSON text: it was serialised twice.',
        remedy: SEND_JSON_AS_IT_IS,
      });
    }
    return wrong({
      kind: 'json-no-object',
      what: `The body is ${shapeOf(tree)}.`,
      remedy: 'Send a JSON object.',
    });
  }
  return notJson(detail, body);
}

function hasLargeNumber(node: JsonNode): boolean {
  if (node.kind === 'array') return node.items.some(hasLargeNumber);
  if (node.kind === 'object') return node.entries.some(([, value]) => hasLargeNumber(value));
  return node.kind === 'literal' && /^-?\d+$/.test(node.text) && !Number.isSafeInteger(Number(node.text));
}
