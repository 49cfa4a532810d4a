import type { Exchange } from 'local-aws/observation';
import * as z from 'zod/mini';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { errorText } from '../../../lambda/errors.ts';
import { isEventName } from '../../../lambda/events/catalogue.ts';
import { jsonOf } from '../json.ts';

/** Message of the line about a message whose consumer crashed, ran out of memory or timed out. Only on the local stack. */
export const CRASHED = 'Crashed';

interface FactBase {
  /** Epoch milliseconds. */
  readonly at: number;
  /** API Gateway's id of the request that brought the event. Absent for a message that was sent by hand. */
  readonly requestId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly event?: string | undefined;
}

/** A request and its answer, as the local gateway saw them. `at` is when the request was received. */
export interface ExchangeFact
  extends FactBase,
    Omit<Exchange, 'receivedAt' | 'query' | 'body' | 'responseBody' | 'durationMilliseconds'> {
  readonly kind: 'exchange';
  readonly requestId: string;
  readonly shopId?: string | undefined;
  /** Whether event and shop are only claimed: the receiver did not verify the signature. */
  readonly claimed?: true | undefined;
  readonly error?: string | undefined;
  /** Size of the body. Absent if the body was not read. */
  readonly bytes?: number | undefined;
  readonly responseBody: string;
  readonly durationMs: number;
}

/**
 * A log line of the receiver or a consumer about a delivery. The local stack also writes one about each message that a
 * crashed consumer had: AWS does not log which messages an invocation received.
 */
export type LineFact = Readonly<NonNullable<ReturnType<typeof lineFact>>>;

/** A record of the archive, without its payload. `at` is `settledAt`. */
export interface RecordFact extends FactBase {
  readonly kind: 'record';
  readonly record: Omit<ArchiveRecord, 'body'>;
  readonly object: string;
}

/** A message found on a queue that nothing consumes. `at` is when it was sent to its first queue. */
export interface DeadLetterFact extends FactBase {
  readonly kind: 'dead-letter';
  readonly messageId: string;
  /** The queue that has the message: an event, for its dead-letter queue, `quarantine` or `unrouted`. */
  readonly queue: string;
  /** The consumer's reason for giving up. Absent if SQS moved the message itself. */
  readonly error?: string | undefined;
  /** When SQS deletes it. ISO 8601. */
  readonly until?: string | undefined;
  /** When it was seen there first. Epoch milliseconds. */
  readonly seenAt: number;
}

/** A queue that nothing consumes should have a message of the request, and has none. `at` is when that was seen. */
interface LeftFact extends FactBase {
  readonly kind: 'left';
  /** An event, `unrouted` or `quarantine`. */
  readonly queue: string;
}

/** A message of the request was seen on the queue of its event after it had left another queue. */
interface RedriveFact extends FactBase {
  readonly kind: 'redrive';
  readonly requestId: string;
}

/** A consumer changed an item or published a notification. Only on the local stack. */
interface EffectFact extends FactBase {
  readonly kind: 'effect';
  readonly eventId: string;
  readonly effect: Effect;
}

export type Effect = ItemEffect | NotificationEffect;

/** An item before and after a change. For a deployed stage, the item as it is now. */
export interface ItemEffect {
  readonly kind: 'item';
  /** Name of the stack's output, such as `ShopCacheTable`. */
  readonly table: string;
  readonly key: string;
  /** When it changed. ISO 8601. Absent with `now`. */
  readonly at?: string;
  readonly before?: PlainItem | null;
  readonly after?: PlainItem | null;
  /** The item as it is now, if before and after are unknown. */
  readonly now?: PlainItem | null;
  readonly written?: 'by this event' | 'by another event';
}

export type PlainItem = Readonly<Record<string, unknown>>;

/** A notification as the subscribers of a topic receive it. */
interface NotificationEffect {
  readonly kind: 'notification';
  /** Name of the stack's output, such as `ReviewTopicArn`. */
  readonly topic: string;
  readonly at: string;
  readonly subject: string;
  /** Texts by protocol: `default` (for people), `https`, `lambda`, `sqs`. */
  readonly texts: Readonly<Record<string, string>>;
}

/** One thing known about a delivery. `deriveHistory` makes the history from all facts. */
export type Fact =
  | ExchangeFact
  | LineFact
  | RecordFact
  | DeadLetterFact
  | LeftFact
  | RedriveFact
  | EffectFact;

// A line in which a field has another type is still a line about the event: somebody may log anything.
const text = z.catch(z.optional(z.string()), undefined);
const number = z.catch(z.optional(z.number()), undefined);
const summary = { call: text, error: text, errorMessage: text };

const schema = z.object({
  timestamp: text,
  service: text,
  level: text,
  /** Empty in a line of Lambda's runtime, where it is an object. */
  message: z.catch(z.string(), ''),
  eventId: z.string(),
  event: text,
  requestId: text,
  messageId: text,
  attempt: number,
  replay: text,
  lagMs: number,
  latencyMs: number,
  retryInSeconds: number,
  /** Why a request was rejected, or a message discarded. */
  reason: text,
  by: text,
  sourceIp: text,
  fields: z.catch(z.optional(z.array(z.string())), undefined),
  // Fields of an error: see `lambda/errors.ts`.
  ...summary,
  cause: z.catch(z.optional(z.object(summary)), undefined),
  _aws: z.optional(z.never()),
});

/**
 * A log line about an event, even if it is not a step of the history.
 * @returns undefined for a metric, a line of the runtime, or a line that is not about an event
 */
export function lineFact(line: string) {
  const parsed = schema.safeParse(line.startsWith('{') ? jsonOf(line) : undefined);
  if (!parsed.success) return undefined;
  const { timestamp = '', service = 'receiver', call, errorMessage, cause, ...fields } = parsed.data;
  const { event = '', message, messageId, error } = fields;
  const described = {
    ...{ call, error: error ?? 'Error', errorMessage },
    cause: cause && { ...cause, error: cause.error ?? 'Error' },
  };
  return {
    ...fields,
    kind: 'line' as const,
    /** Epoch milliseconds. */
    at: Date.parse(timestamp) || Date.now(),
    // In a line of Lambda's runtime, this is Lambda's id.
    requestId: message === '' ? undefined : fields.requestId,
    /** `receiver`, or the event of the consumer, which logs the message that it works on. */
    function: isEventName(event) && messageId !== undefined ? event : service,
    /** The error in one line, in the same form as in dead letters. */
    error: (error ?? errorMessage) && errorText(described),
    /** The line as logged: JSON. */
    text: line,
  };
}

/** The fact that the archive has a record. Firehose may store a record more than once. */
export function recordFact({ body: _body, ...record }: ArchiveRecord, object: string): RecordFact {
  const { requestId, eventId, event, settledAt } = record;
  return { kind: 'record', at: Date.parse(settledAt), requestId, eventId, event, record, object };
}

/** A key: equal for the same fact, whichever source reported it and however often. */
export function identityOf(fact: Fact): string {
  const { kind } = fact;
  if (kind === 'line') return fact.text;
  if (kind === 'exchange') return `${kind} ${fact.requestId}`;
  if (kind === 'dead-letter') return `${kind} ${fact.messageId}`;
  if (kind !== 'record') return JSON.stringify(fact);
  const { requestId, eventId, settledAt, outcome, attempt, replay } = fact.record;
  return JSON.stringify([kind, requestId, eventId, settledAt, outcome, attempt, replay?.name]);
}

export const ofKind = <Kind extends Fact['kind']>(facts: readonly Fact[], kind: Kind) =>
  facts.filter((fact): fact is Extract<Fact, { kind: Kind }> => fact.kind === kind);

export const isoTime = (at: number) => new Date(at).toISOString();

/** The order of ISO times. */
export const byTime = (one: { readonly at: string }, other: { readonly at: string }) =>
  Number(one.at > other.at) - Number(one.at < other.at);

/** Who discarded a message, and why, from the line that says so. */
export const discardedBy = ({ by = 'somebody', reason = '' }: Pick<LineFact, 'by' | 'reason'>) => ({
  by,
  reason,
});
