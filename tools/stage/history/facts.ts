import type { ArchiveRecord } from '../../../lambda/archive/record.ts';

interface FactBase {
  /** Epoch milliseconds. */
  readonly at: number;
  /** API Gateway's id of the request that brought the event. Absent of a message that was sent by hand. */
  readonly requestId?: string | undefined;
  readonly eventId?: string | undefined;
  /** Event kind: `shop.updated`. */
  readonly event?: string | undefined;
}

/** A request and its answer, as the local gateway saw them. `at` is the receipt. */
export interface ExchangeFact extends FactBase {
  readonly kind: 'exchange';
  readonly requestId: string;
  readonly shopId?: string | undefined;
  readonly status: number;
  /** Whether the receiver answered; otherwise API Gateway did by itself. */
  readonly byReceiver: boolean;
  /** Whether an answer 200 said `parked`. */
  readonly parked: boolean;
  /** The answer's detail, of an error. */
  readonly error?: string | undefined;
  /** Of the body. Absent if the body was not read. */
  readonly bytes?: number | undefined;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly sourceIp: string;
  readonly responseHeaders: readonly (readonly [name: string, value: string])[];
  readonly responseBody: string;
  readonly durationMs: number;
}

/** A line that the receiver or a consumer logged about the delivery. */
export interface LineFact extends FactBase {
  readonly kind: 'line';
  /** `receiver`, or an event for its consumer. */
  readonly function: string;
  /** JSON, as it was logged. */
  readonly text: string;
}

/** A consumer's function ended without a result: it exited, ran out of memory or ran out of time. */
export interface CrashFact extends FactBase {
  readonly kind: 'crash';
  readonly event: string;
  /** Lambda's id of the invocation. */
  readonly invocationId: string;
  /** Such as `Runtime.ExitError`. */
  readonly error: string;
  /** Known on the local stack only, as `attempt`: AWS does not log which messages an invocation had. */
  readonly messageId?: string | undefined;
  readonly attempt?: number | undefined;
}

/** A record of the archive, without its payload. `at` is `settledAt`. */
export interface RecordFact extends FactBase {
  readonly kind: 'record';
  readonly record: Omit<ArchiveRecord, 'body'>;
  /** Key of the object that has it. */
  readonly object: string;
}

/** A message as it was found on a queue that waits for a person. `at` is when it was sent to its first queue. */
export interface DeadLetterFact extends FactBase {
  readonly kind: 'dead-letter';
  readonly messageId: string;
  /** Absent if it is on the dead-letter queue of its event. */
  readonly queue?: 'quarantine' | 'unrouted' | undefined;
  /** As the consumer noted it. Absent if SQS moved the message. */
  readonly error?: string | undefined;
  /** Of a message that SQS moved: receives that its queue allows. */
  readonly receives?: number | undefined;
  /** ISO 8601: when SQS deletes it. */
  readonly until?: string | undefined;
}

/** A dead letter was moved back to its queue. */
interface RedriveFact extends FactBase {
  readonly kind: 'redrive';
  readonly requestId: string;
}

/** What a consumer changed: an item, before and after, or a notification. Of the local stack only. */
interface EffectFact extends FactBase {
  readonly kind: 'effect';
  readonly eventId: string;
  readonly effect: Effect;
}

export type Effect = ItemEffect | NotificationEffect;

/** What an item was before and after; or, of a stage, what it is now. */
export interface ItemEffect {
  readonly kind: 'item';
  /** Name of the stack's output: `ShopCacheTable`. */
  readonly table: string;
  readonly key: string;
  /** ISO 8601. Absent if the item is as it is now. */
  readonly at?: string;
  /** Plain JSON values. Null if there was none. */
  readonly before?: Item | null;
  readonly after?: Item | null;
  /** The item as it is now, if before and after are unknown. */
  readonly now?: Item | null;
  /** Whether the item as it is now is this event's, or a newer one's. */
  readonly written?: 'by this event' | 'by a newer event';
}

export type Item = Readonly<Record<string, unknown>>;

/** What subscribers of a topic get. */
export interface NotificationEffect {
  readonly kind: 'notification';
  /** Name of the stack's output: `ReviewTopicArn`. */
  readonly topic: string;
  readonly at: string;
  readonly subject: string;
  /** By protocol: `default`, which people read, `https`, `lambda`, `sqs`. */
  readonly texts: Readonly<Record<string, string>>;
}

export type Fact =
  | ExchangeFact
  | LineFact
  | CrashFact
  | RecordFact
  | DeadLetterFact
  | RedriveFact
  | EffectFact;

/** The fact of a record. Firehose may store a record more than once. */
export function recordFact({ body: _body, ...record }: ArchiveRecord, object: string): RecordFact {
  const { requestId, eventId, event, settledAt } = record;
  return { kind: 'record', at: Date.parse(settledAt), requestId, eventId, event, record, object };
}

/** Equal for the same fact, however often and by whichever feed it is told. */
export const identityOf = (fact: Fact): string => JSON.stringify(identity(fact));

function identity(fact: Fact): readonly unknown[] {
  switch (fact.kind) {
    case 'exchange':
      return [fact.kind, fact.requestId];
    case 'line':
      return [fact.kind, fact.text];
    case 'crash':
      return [fact.kind, fact.invocationId, fact.messageId];
    case 'record': {
      const { requestId, eventId, settledAt, outcome, attempt, replay } = fact.record;
      return [fact.kind, requestId, eventId, settledAt, outcome, attempt, replay?.name];
    }
    case 'dead-letter':
      return [fact.kind, fact.messageId];
    case 'redrive':
      return [fact.kind, fact.requestId, fact.at];
    case 'effect':
      return [fact.kind, fact.eventId, fact.effect];
  }
}

export const ofKind = <Kind extends Fact['kind']>(facts: readonly Fact[], kind: Kind) =>
  facts.filter((fact): fact is Extract<Fact, { kind: Kind }> => fact.kind === kind);
