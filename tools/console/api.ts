/**
 * Types of the console's JSON API, for the server and the page.
 *
 * All paths are below `/api`. Errors are RFC 9457 problems. A change is a POST or a DELETE with
 * `content-type: application/json` and the page's cookie, which reading a stage needs, too.
 */
import type { EventName } from '../../lambda/events/catalogue.ts';
import type { Block, Step } from '../cli/terminal/block.ts';
import type { Effect, ExchangeFact, Item, LineFact } from '../stage/history/facts.ts';
import type { Delivery, History, PausedQueue } from '../stage/history/history.ts';

/** `GET /api/stack`: what the page shows. */
export interface StackInfo {
  /** For people: `the local stack`, `stage prod in eu-west-1`. */
  readonly title: string;
  readonly local: boolean;
  /** Nothing can be changed: `--read-only`. */
  readonly readOnly: boolean;
  /** ISO 8601: the list begins then. Absent for the local stack, whose list begins with the stack. */
  readonly since?: string;
  readonly webhookUrl: string;
  /** What a command needs to name this stack, such as ` --stage prod`; empty for the local stack. */
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
  /** The sample of `events/`, as the text of a body. */
  readonly sample: string;
}

export interface TableInfo {
  /** Name of the stack's output: `ShopCacheTable`. */
  readonly name: string;
  /** Attribute that identifies a row: `shop_id`. */
  readonly key: string;
}

/** Query of `GET /api/deliveries`; empty values count as absent. The stream takes `search` only. */
export interface DeliveryQuery {
  /** Part of the payload, of an id, of the shop or of an error, whatever the case. */
  readonly search?: string;
  readonly event?: string;
  /** One of {@link Delivery}’s states, several joined by commas. */
  readonly state?: string;
  /** Part of the shop's id, whatever the case. */
  readonly shop?: string;
  /** ISO 8601, or a length back from now such as `90m`, `3h`, `7d`. */
  readonly since?: string;
  readonly until?: string;
}

/** `GET /api/deliveries`, newest first. */
export interface DeliveryList {
  readonly deliveries: readonly Delivery[];
  /** Deliveries that match. The list has the newest of them, up to `limit`. */
  readonly total: number;
  /** For a stage, if `search` was given: how far its payloads were searched. */
  readonly searched?: PayloadSearch;
}

/** A search of a stage's payloads looks through its archive. */
export interface PayloadSearch {
  readonly objects: number;
  readonly records: number;
  /** ISO 8601: nothing older was looked at. */
  readonly since: string;
  /** The search ended at its limit. The same search again continues it. */
  readonly limited: boolean;
  /** Why it could not look, such as a permission that is missing. */
  readonly refused?: string;
}

/** `GET /api/deliveries/<id>` and, once it has settled or after `timeout` seconds, `…/settled?timeout=30`. */
export interface DeliveryDetail extends Delivery {
  /** Nothing more will happen to it by itself. */
  readonly settled: boolean;
  /** As it came in. For a stage, what the archive has: AWS keeps no headers. */
  readonly request: RecordedRequest;
  /** Undefined for a stage: AWS keeps no answers. */
  readonly answer:
    | Pick<ExchangeFact, 'status' | 'responseHeaders' | 'responseBody' | 'durationMs'>
    | undefined;
  /** Also of other deliveries of the same bytes. Equal attempts in a row are one step. */
  readonly history: History;
  /** What may be missing, and why: a line each. */
  readonly problems: readonly string[];
  readonly effects: readonly Effect[];
  /** Lines of functions about it; on the local stack only. */
  readonly logs: readonly LineFact[];
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** In the order in which they came. Empty if only the body is known. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly sourceIp?: string;
  /** Bytes of the body. The body itself is `GET /api/deliveries/<id>/body`. */
  readonly bytes: number;
  /** Why the body is not there: too old, too large, forgotten. */
  readonly bodyMissing?: string;
}

/**
 * `GET /api/stream?search=&after=`: server-sent events. An event about rows has an id, after which `Last-Event-ID` or
 * `after` resumes. If the id is of another process, `reset` comes first, then all rows.
 */
export interface StreamEvents {
  /** Forget all rows: what follows is everything. */
  readonly reset: Record<string, never>;
  /** At most 500 rows that are new or have changed, in the order of their changes, and ids of rows to remove. */
  readonly deliveries: { readonly put: readonly Delivery[]; readonly removed: readonly string[] };
  /** All that was there when the stream was opened has been sent. */
  readonly ready: { readonly total: number; readonly searched?: PayloadSearch };
  readonly task: Task;
  readonly notice: Notice;
}

export interface Notice {
  /** `code`, `logs` or `archive`. A newer notice about the same replaces it. */
  readonly about: string;
  readonly level: 'info' | 'error';
  readonly text: string;
}

/** `GET /api/queues`. */
export interface Queues {
  readonly events: readonly EventQueue[];
  /** `quarantine` and `unrouted`. */
  readonly receiverQueues: readonly ReceiverQueue[];
  /** Pauses could not be read; `problems` says why. */
  readonly pausesUnknown?: true;
  /** What could not be read, and why, such as a missing permission. */
  readonly problems: readonly string[];
}

export interface QueueDepth {
  /** About, as SQS counts. */
  readonly visible: number;
  readonly inFlight: number;
  /** ISO 8601: when the oldest message was sent, if known. */
  readonly oldestAt?: string;
}

export interface EventQueue extends QueueDepth {
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
 * `GET /api/queues/<name>/messages?limit=50`: a look that removes nothing. The name is `dead:<event>`, `quarantine`,
 * `unrouted` or, on the local stack, an event. On a stage, a look at an event's own queue would count as an attempt.
 */
export interface QueueMessages {
  readonly messages: readonly QueueMessage[];
  /** There are more than were looked at. */
  readonly limited: boolean;
}

export interface QueueMessage {
  readonly id: string;
  readonly eventId?: string;
  readonly event?: string;
  readonly requestId?: string;
  /** ISO 8601. */
  readonly sentAt: string;
  readonly receives: number;
  readonly state: 'waiting' | 'in flight' | 'delayed';
  /** Why it is a dead letter, or in quarantine. */
  readonly reason?: string;
  readonly body: string;
  /** Longer bodies are cut off. */
  readonly truncated: boolean;
}

/** `GET /api/dead-letters`: of all queues, the most frequent reason first. */
export interface DeadLetters {
  readonly groups: readonly DeadLetterGroup[];
  /** Queues that have more than were read. */
  readonly limited: readonly string[];
  readonly problems: readonly string[];
}

export interface DeadLetterGroup {
  readonly reason: string;
  readonly count: number;
  /** ISO 8601, of failures. */
  readonly firstAt: string;
  readonly lastAt: string;
  readonly messages: readonly { readonly queue: EventName; readonly id: string; readonly eventId?: string }[];
}

/** `GET /api/tables/<name>`: 50 rows. `?key=…` finds one row, `?after=…` gets the next page. */
export interface TableRows {
  readonly rows: readonly Item[];
  /** Value of `after` for the next page. Absent on the last page. */
  readonly next?: string;
}

/** `GET /api/faults`, on the local stack. */
export interface Faults {
  readonly active: readonly ActiveFault[];
  /** Functions that can be killed: `receiver`, `shop.updated`. */
  readonly functions: readonly string[];
}

export interface ActiveFault extends FaultSettings {
  readonly id: string;
  /** Calls that it has hit. */
  readonly hits: number;
}

/** `POST /api/faults`; `DELETE /api/faults/<id>` and `DELETE /api/faults` end one and all. */
export interface FaultSettings {
  readonly service: 'dynamodb' | 'firehose' | 's3' | 'secretsmanager' | 'sns' | 'sqs';
  readonly kind: 'down' | 'throttled' | 'slow' | 'response-lost' | 'records-refused';
  /** For `slow` only. */
  readonly milliseconds?: number;
  /** Share of the calls that are hit, from 0 to 1. @default 1 */
  readonly share?: number;
}

/** `POST /api/tasks`: runs a command, one of those that the console allows. */
export interface TaskRequest {
  /** As it is typed after `npm run`: `['dlq', 'redrive', 'shop.updated']`. The stack's own options are added. */
  readonly argv: readonly string[];
  /** What the command reads from standard input. */
  readonly input?: string | undefined;
}

/** A command that runs or has run. `GET /api/tasks` has the last ones, `GET /api/tasks/<id>` one; `DELETE` interrupts it. */
export interface Task {
  readonly id: string;
  readonly argv: readonly string[];
  /** As it is typed in a terminal: `npm run dlq -- redrive shop.updated --stage prod`. */
  readonly command: string;
  readonly state: 'running' | 'done' | 'failed';
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt?: string;
  /** While it runs. */
  readonly progress?: Step | undefined;
  /** What it printed: as parts, and as the lines of a terminal. */
  readonly blocks: readonly Block[];
  readonly lines: readonly string[];
  /** Ids of the requests that it sent. */
  readonly deliveries: readonly string[];
}
