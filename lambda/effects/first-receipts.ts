import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { CLOCK_AHEAD } from '../log-messages.ts';
import { count, log } from '../telemetry.ts';
import { type EventTimes, effectiveTimestamp, isTooFarAhead, versionOf } from './event-order.ts';

/** What decides the order of an event, as its consumer gets it. */
interface OrderedEvent extends EventTimes {
  readonly eventId: string;
}

/** The place of an event among others (decision D8). Equal for all copies of the event. */
export interface EventPlace {
  /**
   * The time by which events are ordered: `timestamp`, or 5 minutes after the first receipt if `timestamp` is later. In
   * the width of `timestamp`.
   */
  readonly effectiveTimestamp: string;
  readonly version: string;
}

/**
 * The first receipts of events whose timestamp is too far ahead, in the idempotency table. Without them, a copy that
 * arrives later would count as a newer event. An ordinary event is looked up, too: it may be a late copy whose timestamp
 * is no longer ahead. The items have no expiry, because a copy may be sent at any time.
 */
export class FirstReceipts {
  readonly #client = new DynamoDBClient(clientSettings);
  readonly #table = requireEnvironment(['IDEMPOTENCY_TABLE']).IDEMPOTENCY_TABLE;

  async placeOf(event: OrderedEvent): Promise<EventPlace> {
    const receivedAt = isTooFarAhead(event) ? await this.#remember(event) : await this.#remembered(event);
    const first = { ...event, receivedAt };
    return { effectiveTimestamp: effectiveTimestamp(first), version: versionOf(first) };
  }

  async #remembered({ eventId, receivedAt }: OrderedEvent): Promise<string> {
    const { Item } = await this.#client.send(
      new GetItemCommand({ ...this.#item(eventId), ConsistentRead: true }),
    );
    return Item?.received_at?.S ?? receivedAt;
  }

  /** @returns the receipt of the first copy that was processed */
  async #remember({ eventId, timestamp, receivedAt }: OrderedEvent): Promise<string> {
    const aheadSeconds = Math.round((Date.parse(timestamp) - Date.parse(receivedAt)) / 1000);
    log.warn(CLOCK_AHEAD, { aheadSeconds });
    count(CLOCK_AHEAD);
    const { Attributes } = await this.#client.send(
      new UpdateItemCommand({
        ...this.#item(eventId),
        UpdateExpression: 'SET received_at = if_not_exists(received_at, :receipt)',
        ExpressionAttributeValues: { ':receipt': { S: receivedAt } },
        ReturnValues: 'ALL_NEW',
      }),
    );
    return Attributes?.received_at?.S ?? receivedAt;
  }

  #item(eventId: string) {
    return { TableName: this.#table, Key: { id: { S: `first-receipt#${eventId}` } } };
  }
}
