import type { Header } from './gateway/http-message.ts';

/** Is called with events of a local stack. If it throws, this is reported as a problem of the stack. */
export interface StackObserver {
  /** A request that was answered, by a function or by the API itself. */
  onExchange(exchange: Exchange): void;
  /** An item that a function has written. */
  onItemChange(change: ItemChange): void;
  /** A notification that a function has published, and SNS has taken. */
  onNotification(notification: PublishedNotification): void;
}

export interface Exchange {
  /** API Gateway's. */
  readonly requestId: string;
  readonly receivedAt: Date;
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: readonly Header[];
  readonly sourceIp: string;
  /** Undefined if it was not read, because no route matched or it was too large. */
  readonly body: Buffer | undefined;
  readonly status: number;
  readonly responseHeaders: readonly Header[];
  readonly responseBody: Buffer;
  readonly durationMilliseconds: number;
}

/** An item in DynamoDB's JSON: `{ shop_id: { S: 'shop-1' } }`. */
export type ObservedItem = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface ItemChange {
  readonly table: string;
  readonly key: ObservedItem;
  /** Undefined if there was none. */
  readonly before: ObservedItem | undefined;
  /** Undefined if it was deleted. */
  readonly after: ObservedItem | undefined;
  readonly at: Date;
}

export interface PublishedNotification {
  readonly topicArn: string;
  readonly subject: string;
  /** What subscribers receive, by protocol: `default`, `email`. */
  readonly texts: Readonly<Record<string, string>>;
  /** String values of its message attributes: `eventId`, `event`. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly at: Date;
}

/** A message as it is on a queue, seen without receiving it. */
export interface InspectedMessage {
  readonly id: string;
  readonly body: string;
  readonly state: 'waiting' | 'in flight' | 'delayed';
  readonly sentAt: Date;
  readonly receives: number;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Wraps an observer that may throw: the error is reported, and the stack continues.
 * @param onProblem is called with the error, in one line
 */
export function guardedObserver(
  observer: StackObserver,
  onProblem: (message: string) => void,
): StackObserver {
  function guarded<Observed>(
    what: string,
    observe: (observed: Observed) => void,
  ): (observed: Observed) => void {
    return (observed) => {
      try {
        observe(observed);
      } catch (error) {
        onProblem(`The observer of ${what} failed: ${String(error).split('\n')[0]}`);
      }
    };
  }
  return {
    onExchange: guarded('requests', (exchange) => observer.onExchange(exchange)),
    onItemChange: guarded('items', (change) => observer.onItemChange(change)),
    onNotification: guarded('notifications', (notification) => observer.onNotification(notification)),
  };
}
