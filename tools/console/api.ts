/**
 * Types of the console's JSON API, for the server and the page.
 *
 * All paths are below `/api`. Errors are RFC 9457 problems. Changes are POST or DELETE requests with `content-type:
 * application/json` and the page's cookie. Reading a stage needs the cookie, too.
 */
import type { EventName } from '../../lambda/events/catalogue.ts';
import type { Effect, ExchangeFact, LineFact, PlainItem } from '../stage/history/facts.ts';
import type { Delivery, History, PausedQueue } from '../stage/history/history.ts';
import type { Block, ProgressStep } from '../terminal/block.ts';

/** `GET /api/stack`: the stack that the page shows. */
export interface StackInfo {
  /** For people: `the local stack`, `stage prod in eu-west-1`. */
  readonly title: string;
  readonly local: boolean;
  /** Nothing can be changed: `--read-only`. */
  readonly readOnly: boolean;
  /** When this console started. The local stack started then, too, without any deliveries. ISO 8601. */
  readonly startedAt: string;
  /** Start of the list. ISO 8601. Absent for the local stack, whose list starts with the stack. */
  readonly since?: string;
  readonly webhookUrl: string;
  /** The option that names this stack in a command: ` --stage prod`. Empty for the local stack. */
  readonly commandSuffix: string;
  /** Signs deliveries to the local stack. Absent for a stage. */
  readonly secret?: string;
  readonly events: readonly EventInfo[];
  readonly tables: readonly TableInfo[];
}

export interface EventInfo {
  readonly name: EventName;
  readonly meaning: string;
  readonly processing: string;
  /** The sample in `events/`, as the text of a body. */
  readonly sample: string;
}

export interface TableInfo {
  /** Name of the stack's output, such as `ShopCacheTable`. */
  readonly name: string;
  /** Attribute that identifies an item, such as `shop_id`. */
  readonly key: string;
}

/**
 * `GET /api/deliveries`, newest first. A row whose event is paused is `queued` or `retrying` here: the page makes it
 * `paused` with `GET /api/queues`. The `history` of a delivery's detail has `paused`.
 */
export interface DeliveryList {
  readonly deliveries: readonly Delivery[];
  /** Number of matching deliveries. The list has the newest, up to `limit`. */
  readonly total: number;
  /** Only for a stage, if `search` was given: how far the payloads were searched. */
  readonly searched?: PayloadSearch;
}

/** A payload search of a stage goes through its archive. */
export interface PayloadSearch {
  readonly objects: number;
  readonly records: number;
  /** Nothing older was searched. ISO 8601. */
  readonly since: string;
  /** The search stopped at its limit. Repeat it to continue. */
  readonly limited: boolean;
  /** Why the archive could not be read, such as a missing permission. */
  readonly refused?: string;
}

/**
 * `GET /api/deliveries/<id>`. Also `…/settled?timeout=30`, which answers when the delivery has settled or after
 * `timeout` seconds.
 */
export interface DeliveryDetail extends Delivery {
  /** Nothing more happens to it automatically. */
  readonly settled: boolean;
  /** The request as it arrived. For a stage, only the archived part: AWS keeps no headers. */
  readonly request: RequestDetail;
  /** Undefined for a stage: AWS keeps no answers. */
  readonly answer:
    | Pick<ExchangeFact, 'status' | 'responseHeaders' | 'responseBody' | 'durationMs'>
    | undefined;
  /** Includes other deliveries of the same bytes. Equal attempts in a row are one step. */
  readonly history: History;
  /** Data that may be missing, and why: one line each. */
  readonly problems: readonly string[];
  readonly effects: readonly Effect[];
  /** Log lines about it. Only on the local stack. */
  readonly logs: readonly LineFact[];
}

export interface RequestDetail {
  readonly method: string;
  readonly path: string;
  /** In the order of the request. Empty if only the body is known. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly sourceIp?: string;
  /** Size of the body. The body itself is at `GET /api/deliveries/<id>/body`. */
  readonly bytes: number;
  /** Why the body is missing: too old, too large, forgotten. */
  readonly bodyMissing?: string;
}

/**
 * `GET /api/stream?search=&after=`: server-sent events. Events about rows have an id. To resume after an id, send it as
 * `Last-Event-ID` or `after`. If the id belongs to another process, `reset` comes first, then all rows.
 */
export interface StreamEvents {
  /** Forget all rows: the following events contain everything. */
  readonly reset: Record<string, never>;
  /** Up to 500 new or changed rows, in the order of their changes, and ids of rows to remove. */
  readonly deliveries: { readonly put: readonly Delivery[]; readonly removed: readonly string[] };
  /** Everything that existed when the stream was opened has been sent. */
  readonly ready: { readonly total: number; readonly searched?: PayloadSearch };
  readonly task: Task;
  readonly notice: Notice;
  /**
   * All queues. The local stack is read at most every two seconds, when something has happened; a stage every minute,
   * and after a command that changes its queues.
   */
  readonly queues: QueuesInfo;
  /** Only on the local stack. */
  readonly faults: FaultsInfo;
}

export type StreamEvent = {
  readonly [Name in keyof StreamEvents]: { readonly event: Name; readonly data: StreamEvents[Name] };
}[keyof StreamEvents];

export interface Notice {
  /** `code`, `logs` or `archive`. A newer notice replaces the older one with the same value. */
  readonly about: string;
  readonly level: 'info' | 'error';
  readonly text: string;
}

export interface QueuesInfo {
  readonly events: readonly EventQueueInfo[];
  /** `quarantine` and `unrouted`. */
  readonly receiverQueues: readonly ReceiverQueue[];
  /** Pauses could not be read. `problems` says why. */
  readonly pausesUnknown?: true;
  /** Sources that could not be read, and why, such as a missing permission. */
  readonly problems: readonly string[];
}

export interface QueueDepth {
  /** SQS's approximate count. */
  readonly visible: number;
  readonly inFlight: number;
  /** When the oldest message was sent, if known. ISO 8601. */
  readonly oldestAt?: string;
}

export interface EventQueueInfo extends QueueDepth {
  readonly event: EventName;
  readonly paused?: PausedQueue;
  /** Its event source is being turned off, which takes some seconds. Until then it processes messages. */
  readonly pausing?: true;
  readonly dead: QueueDepth;
}

export interface ReceiverQueue extends QueueDepth {
  readonly name: 'quarantine' | 'unrouted';
}

/**
 * `GET /api/queues/<name>/messages`: reads at most 500, and removes none. The name is `dead:<event>`, `quarantine`,
 * `unrouted` or, on the local stack, an event. On a stage, reading an event's own queue would count as an attempt.
 */
export interface QueueMessages {
  readonly messages: readonly QueueMessage[];
  /** There are more messages than these and their copies. */
  readonly limited: boolean;
}

/**
 * The newest of its copies, if the sender repeated a delivery. Its payload, as the partner sent it, is at
 * `GET /api/queues/<queue>/messages/<id>/body`.
 */
export interface QueueMessage {
  readonly id: string;
  /** Name of its queue, as in the address. */
  readonly queue: string;
  readonly eventId?: string;
  /** Kind of the event. In quarantine, as its payload says. */
  readonly event?: string;
  readonly shopId?: string;
  readonly requestId?: string;
  /** ISO 8601. */
  readonly sentAt: string;
  /** Messages on the queue with the same bytes, this one included. Each redrive covers all of them. */
  readonly copies: number;
  /** When the oldest of the copies was sent. ISO 8601. */
  readonly firstSentAt: string;
  readonly receives: number;
  readonly state: 'waiting' | 'in flight' | 'delayed';
  /** Why it is a dead letter or in quarantine. */
  readonly reason?: string;
  /** The payload's beginning in one line. Absent if the payload is in S3, because it is too large for a message. */
  readonly preview?: string;
}

/** `GET /api/dead-letters`: the messages of every event's dead-letter queue. */
export interface DeadLetters {
  readonly messages: readonly QueueMessage[];
  /** Queues with more messages than were read. */
  readonly limited: readonly string[];
  readonly problems: readonly string[];
}

/** `GET /api/tables/<name>`: 50 items. `?key=…` finds one item, `?after=…` gets the next page. */
export interface TableRows {
  readonly rows: readonly PlainItem[];
  /** Value of `after` for the next page. Absent on the last page. */
  readonly next?: string;
}

/** `GET /api/faults`. Only on the local stack. */
export interface FaultsInfo {
  readonly active: readonly FaultInfo[];
  /** Functions that can be killed: `receiver`, `shop.updated`. */
  readonly functions: readonly string[];
}

export interface FaultInfo extends FaultSettings {
  readonly id: string;
  /** Number of calls that the fault has affected. */
  readonly hits: number;
}

/** `POST /api/faults`. `DELETE /api/faults/<id>` ends one fault, `DELETE /api/faults` all. */
export interface FaultSettings {
  readonly service: 'dynamodb' | 'firehose' | 's3' | 'secretsmanager' | 'sns' | 'sqs';
  readonly kind: 'down' | 'throttled' | 'slow' | 'response-lost' | 'records-refused';
  /** Only for `slow`. */
  readonly milliseconds?: number;
  /** Share of the calls affected, from 0 to 1. @default 1 */
  readonly share?: number;
}

/** `POST /api/tasks`: runs a command that the console allows. */
export interface TaskRequest {
  /** The words after `hookctl`: `['dlq', 'redrive', 'shop.updated']`. The server adds the stack's own options. */
  readonly argv: readonly string[];
  readonly input?: string | undefined;
}

/**
 * A command that runs or has run. `GET /api/tasks` lists the last ones, `GET /api/tasks/<id>` gets one, and `DELETE`
 * interrupts it.
 */
export interface Task {
  readonly id: string;
  readonly argv: readonly string[];
  /** The command line for a terminal: `npx hookctl dlq redrive shop.updated --stage prod`. */
  readonly command: string;
  /** `interrupted` by a user, or because the console closed. */
  readonly state: 'running' | 'done' | 'failed' | 'interrupted';
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt?: string;
  /** Only while it runs. */
  readonly progress?: ProgressStep | undefined;
  /** The output: as parts, and as lines of a terminal. */
  readonly blocks: readonly Block[];
  readonly lines: readonly string[];
  /** Request ids of the deliveries that it sent. */
  readonly deliveries: readonly string[];
  /** The answers to them: 200 and `queued`, 401 and `Invalid signature`. */
  readonly answers: readonly { readonly status: number; readonly text: string }[];
  /**
   * The words that run exactly the plan that a dry run of a replay has shown, with absolute times and its name; or those
   * that continue a replay.
   */
  readonly planned?: readonly string[];
}
