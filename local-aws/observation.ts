import type { Header, HttpRequest } from './gateway/http-message.ts';

/** Callbacks for what happens in a local stack. They must not throw. */
export interface StackObserver {
  /** Called after an answer, whether from a function or from the API itself. */
  onExchange(exchange: Exchange): void;
  /** Called when a function has written an item. */
  onItemChange(change: ItemChange): void;
  /** Called when a function has published a notification that SNS accepted. */
  onNotification(notification: PublishedNotification): void;
}

export interface Exchange extends Omit<HttpRequest, 'httpVersion' | 'port'> {
  /** Id of the request that API Gateway assigns. */
  readonly requestId: string;
  /** Undefined if the body was not read, because no route matched or it was too large. */
  readonly body: Buffer | undefined;
  readonly status: number;
  readonly responseHeaders: readonly Header[];
  readonly responseBody: Buffer;
  readonly durationMilliseconds: number;
}

/** An item in DynamoDB's JSON: `{ id: { S: '1' } }`. */
export type ObservedItem = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface ItemChange {
  readonly table: string;
  readonly key: ObservedItem;
  /** Undefined if the item did not exist before. */
  readonly before: ObservedItem | undefined;
  /** Undefined if the item was deleted. */
  readonly after: ObservedItem | undefined;
  readonly at: Date;
}

export interface PublishedNotification {
  readonly topicArn: string;
  readonly subject: string;
  /** Texts for subscribers, by protocol: `default`, `email`. */
  readonly texts: Readonly<Record<string, string>>;
  /** Message attributes of type String, such as `eventId` and `event`. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly at: Date;
}

/** A message on a queue, read without receiving it. */
export interface InspectedMessage {
  readonly id: string;
  readonly body: string;
  readonly state: 'waiting' | 'in flight' | 'delayed';
  readonly sentAt: Date;
  readonly receives: number;
  readonly attributes: Readonly<Record<string, string>>;
}
