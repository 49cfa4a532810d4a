/**
 * Types of the console's JSON API, for the server and the page.
 *
 * All paths are below `/api`. Errors are RFC 9457 problems. A change is a POST or a DELETE with
 * `content-type: application/json` and the page's cookie, which reading a stage needs, too.
 */
import type { EventName } from '../../lambda/contract/catalogue.ts';
import type { Effect, ExchangeFact, Item, LineFact } from '../stage/history/facts.ts';
import type { Delivery, History, PausedQueue } from '../stage/history/history.ts';
import type { Block, Step } from '../terminal/block.ts';

/** `GET /api/stack`: what the page shows. */
export interface StackInfo {
  /** For people: `the local stack`, `stage prod in eu-west-1`. */
  readonly title: string;
  readonly local: boolean;
  /** Nothing can be changed: `--read-only`. */
  readonly readOnly: boolean;
  /** ISO 8601: deliveries are known from then on; absent where they are from the stack's start. */
  readonly since?: string;
  readonly webhookUrl: string;
  /** What a command needs to name this stack, such as ` --stage prod`; empty for the local stack. */
  readonly commandSuffix: string;
  /** By which deliveries to the local stack are signed; absent of a stage. */
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
  /** Attribute that rows are found by: `shop_id`. */
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
  /** Deliveries that the filter admits, of which the list may have the newest only (`limit`). */
  readonly total: number;
  /** How far the payloads of a stage were searched, where `search` asked for it. */
  readonly searched?: PayloadSearch;
}

/** A search of a stage's payloads looks through its archive. */
export interface PayloadSearch {
  readonly objects: number;
  readonly records: number;
  /** ISO 8601: nothing older was looked at. */
  readonly since: string;
  /** Ended at its limit, and could go on. */
  readonly limited: boolean;
  /** Why it could not look, such as a permission that is missing. */
  readonly refused?: string;
}

/** `GET /api/deliveries/<id>` and, once it has settled or after `timeout` seconds, `…/settled?timeout=30`. */
export interface DeliveryDetail extends Delivery {
  /** Nothing more will happen to it by itself. */
  readonly settled: boolean;
  /** As it came in. Of a stage, of which AWS keeps no headers, what the archive has. */
  readonly request: RecordedRequest;
  /** Undefined of a stage: AWS keeps no answers. */
  readonly answer:
    | Pick<ExchangeFact, 'status' | 'responseHeaders' | 'responseBody' | 'durationMs'>
    | undefined;
  /** Of it and of all deliveries of the same bytes. Equal attempts in a row are one step. */
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
  /** In the order in which they came. Empty where only the body is known. */
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
  /** Such as: code was rebuilt, does not build, a source cannot be read. */
  readonly notice: Notice;
}

export interface Notice {
  /** A newer notice about the same replaces it: `code`, `logs`. */
  readonly about: string;
  readonly level: 'info' | 'error';
  readonly text: string;
}

/** `GET /api/queues`. */
export interface Queues {
  readonly events: readonly EventQueue[];
  /** `quarantine` and `unrouted`. */
  readonly kept: readonly KeptQueue[];
  /** What is paused could not be found out; `problems` says why. */
  readonly pausesUnknown?: true;
  /** What is not known, and why: a permission that is missing. */
  readonly problems: readonly string[];
}

export interface QueueDepth {
  /** About, as SQS counts. */
  readonly visible: number;
  readonly inFlight: number;
  /** ISO 8601: when the message that waits longest was sent, where it is known. */
  readonly oldestAt?: string;
}

export interface EventQueue extends QueueDepth {
  readonly event: EventName;
  readonly paused?: PausedQueue;
  /** It is being paused: until its event source is off, which takes some seconds, what comes is processed. */
  readonly pausing?: true;
  readonly dead: QueueDepth;
}

export interface KeptQueue extends QueueDepth {
  readonly name: 'quarantine' | 'unrouted';
}

/**
 * `GET /api/queues/<name>/messages?limit=50`: a look that takes nothing away. Names are an event (its queue; of a stage
 * not offered, as a look there counts as an attempt), `dead:<event>`, `quarantine` and `unrouted`.
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

/** `GET /api/dead-letters`: over all queues, the reason that most have first. */
export interface DeadLetters {
  readonly groups: readonly DeadLetterGroup[];
  /** Queues of which not all was looked at. */
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

/** `GET /api/tables/<name>?key=…` finds one row, `?after=…` goes on: some 50 rows. */
export interface TableRows {
  readonly rows: readonly Item[];
  /** What `after` is to be for further rows; absent at the end. */
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
  /** Of `slow`. */
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
  readonly progress?: Step;
  /** What it printed: as parts, and as the lines of a terminal. */
  readonly blocks: readonly Block[];
  readonly lines: readonly string[];
  /** Ids of the requests that it sent. */
  readonly deliveries: readonly string[];
}
