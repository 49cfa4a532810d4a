/**
 * Types of the console's JSON API, for the server and the page.
 *
 * All paths are below `/api`. Errors are RFC 9457 problems. Changes are POST requests with `content-type:
 * application/json` and the page's cookie. Reading a stage needs the cookie, too.
 */
import type { EventName } from '../../lambda/events/catalogue.ts';
import type { Finding } from '../check-sender/finding.ts';
import type { StageFault } from '../stage/faults.ts';
import type { Effect, ExchangeFact, LineFact } from '../stage/history/facts.ts';
import type { Delivery, History, PausedQueue } from '../stage/history/history.ts';

/** `GET /api/stack`: the stack that the page shows. */
export interface StackInfo {
  /** For people: `the local stack`, `stage prod in eu-west-1`. */
  readonly title: string;
  readonly local: boolean;
  /** Whether the console was started with `--read-only` and rejects changes. */
  readonly readOnly: boolean;
  /** When this console started, ISO 8601. A local stack starts at the same time, without deliveries. */
  readonly startedAt: string;
  /** Deliveries before this time are not in the list. ISO 8601. Absent for the local stack. */
  readonly since?: string;
  readonly webhookUrl: string;
  /**
   * Option that selects this stack on the command line, such as ` --stage prod`. Empty for the local stack.
   */
  readonly commandSuffix: string;
  /** Webhook secret, for signing deliveries to the local stack. Absent for a stage. */
  readonly secret?: string;
  readonly events: readonly { readonly name: EventName; readonly meaning: string }[];
  /** A body from `events/`, as JSON text. */
  readonly sample: string;
}

/** `GET /api/deliveries/<id>`. */
export interface DeliveryDetail extends Delivery {
  /** Whether the delivery has settled: nothing more happens automatically. */
  readonly settled: boolean;
  /** Why the body is not at `GET /api/deliveries/<id>/body`, such as that it was too large or was deleted. */
  readonly bodyMissing?: string | undefined;
  /** The request as received, and its answer. Undefined for a stage: AWS stores neither headers nor answers. */
  readonly exchange: ExchangeFact | undefined;
  /** History of this delivery and of others with the same bytes. Equal attempts in a row are one step. */
  readonly history: History;
  /** Why the signature is refused, and what the sender must change. Only on the local stack, whose secret is known. */
  readonly mistakes?: readonly Finding[] | undefined;
  /** What may be missing from this detail and why, one line for each reason. */
  readonly problems: readonly string[];
  readonly effects: readonly Effect[];
  /** Log lines about the delivery. Only on the local stack. */
  readonly logs: readonly LineFact[];
}

/** `GET /api/stream?search=`: server-sent events. Each connection gets all rows, then every change. */
export interface StreamEvents {
  /**
   * Up to 500 new or changed rows, and ids of rows to remove. A row whose event is paused is `queued` or `retrying` here:
   * the page makes it `paused` with `queues`.
   */
  readonly deliveries: { readonly put: readonly Delivery[]; readonly removed: readonly string[] };
  /** The stream has sent all rows that existed when it was opened. */
  readonly ready: Record<never, never>;
  readonly notice: Notice;
  /**
   * State of all queues. A local stack's queues are read after a change, at most every two seconds; a stage's
   * queues every minute, and after a command.
   */
  readonly queues: QueuesInfo;
}

export type StreamEvent = {
  readonly [Name in keyof StreamEvents]: { readonly event: Name; readonly data: StreamEvents[Name] };
}[keyof StreamEvents];

export interface Notice {
  /**
   * `code`, `logs` or `archive`. A newer notice with the same subject replaces an older one. A page that opens later gets
   * only errors.
   */
  readonly about: string;
  readonly level: 'info' | 'error';
  readonly text: string;
}

export interface QueuesInfo {
  readonly queues: readonly QueueInfo[];
  /** Set if pauses could not be read. `problems` then has the reason. */
  readonly pausesUnknown?: true;
  /** What could not be read and why, such as a missing permission. */
  readonly problems: readonly string[];
  /** Active faults. Only of the local stack. */
  readonly faults?: readonly StageFault[];
}

export interface QueueDepth {
  /** Approximate number of waiting messages, as SQS counts them. */
  readonly visible: number;
  readonly inFlight: number;
  /** When the oldest message was sent, if known. ISO 8601. */
  readonly oldestAt?: string;
}

export interface QueueInfo {
  /** An event, `quarantine` or `unrouted`. */
  readonly name: string;
  /** Messages that a consumer will process. Absent for `quarantine` and `unrouted`, which have no consumer. */
  readonly work?: QueueDepth;
  /** Messages that were set aside. Those of an event are on its dead-letter queue. */
  readonly aside: QueueDepth;
  readonly paused?: PausedQueue;
  /**
   * Set while the event source is being turned off, which takes some seconds. Until then, the event source processes
   * messages.
   */
  readonly pausing?: true;
}

/**
 * `GET /api/needs-you`: the messages of every queue that nothing consumes: dead letters, quarantine and unrouted. Reads
 * at most 500 messages of a queue, and deletes none.
 */
export interface WaitingMessages {
  readonly messages: readonly NeedsYouMessage[];
  /** Names of queues that have more messages than were read. */
  readonly limited: readonly string[];
  readonly problems: readonly string[];
}

/**
 * A message. If the sender repeated its delivery, the message stands for all copies and is the newest copy. The
 * payload, as the partner sent it, is at `GET /api/needs-you/<id>/body`, for the messages of the last list.
 */
export interface NeedsYouMessage {
  readonly id: string;
  /** Name of the message's queue, as in `hookctl dlq`: an event, `quarantine` or `unrouted`. */
  readonly queue: string;
  readonly eventId?: string | undefined;
  readonly shopId?: string | undefined;
  readonly requestId?: string | undefined;
  /** When the message was sent to the queue, ISO 8601. */
  readonly sentAt: string;
  /**
   * Number of messages on the queue with the same bytes, this one included. A redrive always moves all of
   * them.
   */
  readonly copies: number;
  /** When the oldest of the copies was sent to the queue, ISO 8601. */
  readonly firstSentAt: string;
  /** Why the message was set aside. */
  readonly reason: string;
  /**
   * Beginning of the payload, in one line. Absent if the payload is in S3, because it is too large for a
   * message.
   */
  readonly preview?: string | undefined;
}

/** `POST /api/commands`: runs one of the commands that the console allows. */
export interface CommandRequest {
  /**
   * Arguments of `hookctl`: `['dlq', 'redrive', 'shop.updated']`. The server adds the option that selects the
   * stack.
   */
  readonly argv: readonly string[];
  readonly input?: string | undefined;
}

/** A command that has ended: the answer to `POST /api/commands`. Spaces before the JSON say that it still runs. */
export interface CommandRun {
  /** The command as typed in a terminal: `npx hookctl dlq redrive shop.updated --stage prod`. */
  readonly command: string;
  readonly state: 'done' | 'failed';
  /** The output, as a terminal shows it. */
  readonly lines: readonly string[];
  /** The deliveries that the command sent, and their answers: 200 and `queued`, 500 and `The event was not accepted`. */
  readonly sent: readonly {
    readonly requestId: string | undefined;
    readonly status: number;
    readonly text: string;
  }[];
}
