import * as v from 'valibot';
import { MAX_PROBLEMS } from '../limits.ts';
import { catalogue, type EventData, type EventName, isEventName } from './catalogue.ts';
import { expecting, object } from './fields.ts';
import { hasNoZone, normaliseTimestamp } from './timestamp.ts';

/**
 * `data.shop_id` as sent, for the message group. Nothing else of the parsed `data` is kept: 5.9 MB of JSON can take
 * 300 MB as objects.
 */
export type SentShopId = string | number | undefined;

/** An event of the contract (`docs/contract.md`, Events), its `data` checked and typed. */
export interface PartnerEvent<Name extends EventName = EventName> {
  readonly event: Name;
  readonly data: EventData<Name>;
  readonly sentShopId: SentShopId;
  /** The partner's `timestamp` in the fixed width of {@link normaliseTimestamp}. */
  readonly timestamp: string;
}

/** An event kind that the contract does not list, in a well-formed envelope (decision D5). */
export interface UnknownEvent {
  readonly event: string;
  readonly sentShopId: SentShopId;
}

/** One thing that makes a payload unusable (decision D4). Shows no value of the payload. */
export interface FieldProblem {
  /** Path of the field, `data.shop_id`; `body` for the payload as a whole. */
  readonly field: string;
  readonly detail: string;
}

export type ParsedPayload =
  | { readonly kind: 'event'; readonly event: PartnerEvent; readonly text: string }
  | { readonly kind: 'unknown'; readonly event: UnknownEvent; readonly text: string }
  | { readonly kind: 'unusable'; readonly problems: readonly [FieldProblem, ...FieldProblem[]] };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const utcDateTime = 'an existing date and time in UTC, written as 2026-01-31T09:00:00Z or 20260131T090000Z';

/** `webhookId` is not validated, because nothing depends on it (decision D6). It is stored as part of the payload. */
const envelope = object({
  event: v.pipe(v.string(expecting('a non-empty string')), v.minLength(1, 'must not be empty')),
  data: v.custom<Record<string, unknown>>(isObject, expecting('an object')),
  timestamp: v.pipe(
    v.string(expecting(utcDateTime)),
    v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
      const normalised = normaliseTimestamp(value);
      if (normalised !== undefined) return normalised;
      addIssue({
        message: hasNoZone(value) ? 'has no time zone: if it is in UTC, add Z' : `must be ${utcDateTime}`,
      });
      return NEVER;
    }),
  ),
});

/** A byte order mark before JSON. RFC 8259 §8.1 allows to ignore it. `JSON.parse` does not. */
export const BYTE_ORDER_MARK = /^\uFEFF/;

/** Keeps a byte order mark, which {@link parsePayloadText} removes. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses the bytes of a payload into a typed event: the only place where outside data enters. */
export function parsePayload(bytes: Uint8Array): ParsedPayload {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return unusableBody('must be UTF-8');
  }
  return parsePayloadText(text);
}

/**
 * Like {@link parsePayload}, for a payload from a queue, which is text. A byte order mark is removed. Nothing else is
 * changed.
 */
export function parsePayloadText(sent: string): ParsedPayload {
  const text = sent.replace(BYTE_ORDER_MARK, '');
  if (text === '') return unusableBody('must not be empty');
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch {
    // The parser's own message quotes the payload.
    return unusableBody('must be JSON');
  }
  if (!isObject(payload)) return unusableBody('must be a JSON object');

  const outer = v.safeParse(envelope, payload);
  const name = payload.event;
  const definition = typeof name === 'string' && isEventName(name) ? catalogue[name] : undefined;
  // `data` is validated even if the rest of the envelope fails, so that one answer names every field.
  const inner = definition && isObject(payload.data) ? v.safeParse(definition.data, payload.data) : undefined;

  const problems = [
    ...(outer.issues ?? []).map((issue) => toProblem(issue, [])),
    ...(inner?.issues ?? []).map((issue) => toProblem(issue, ['data'])),
  ];
  const [first, ...rest] = problems.slice(0, MAX_PROBLEMS);
  if (first) return { kind: 'unusable', problems: [first, ...rest] };
  // Stryker disable next-line all: tells the compiler what the line above has made sure of.
  if (!outer.success) throw new Error('unreachable: a failed envelope names its problems');

  const { event, data, timestamp } = outer.output;
  const { shop_id: shopId } = data;
  const sentShopId = typeof shopId === 'string' || typeof shopId === 'number' ? shopId : undefined;
  if (!inner?.success) return { kind: 'unknown', event: { event, sentShopId }, text };
  return {
    kind: 'event',
    event: {
      // The name and the data were checked by one catalogue entry, which TypeScript cannot correlate.
      event: event as EventName,
      data: inner.output as EventData<EventName>,
      sentShopId,
      timestamp,
    },
    text,
  };
}

export function describeProblems(problems: readonly FieldProblem[]): string {
  return problems.map(({ field, detail }) => `${field} ${detail}`).join('; ');
}

const unusableBody = (detail: string): ParsedPayload => ({
  kind: 'unusable',
  problems: [{ field: 'body', detail }],
});

const toProblem = ({ path, message }: v.BaseIssue<unknown>, parent: string[]): FieldProblem => ({
  field: [...parent, ...(path ?? []).map(({ key }) => key)].join('.'),
  detail: message,
});
