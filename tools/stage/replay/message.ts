import type { MessageAttributeValue, SendMessageBatchRequestEntry } from '@aws-sdk/client-sqs';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { stringAttribute } from '../../../lambda/message-attribute.ts';
import { attribute } from '../../../lambda/queue/message.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';

/** All replays are one group, the noisy one, which SQS fair queues keep from delaying those of the shops. */
export const REPLAY_GROUP = 'replay';

/** A message without its place in a batch, and what it counts of the size of one. */
export interface ReplayMessage {
  readonly eventId: string;
  readonly entry: Omit<SendMessageBatchRequestEntry, 'Id'>;
  /** Body and attributes. Source: SQS developer guide, "Amazon SQS message metadata". */
  readonly bytes: number;
}

/** The message that a record is of, once more, as one of a replay. @param record with its body or payloadKey */
export function replayMessage(record: ArchiveRecord, replay: Replay): ReplayMessage {
  const { payloadKey } = record;
  const body = record.body ?? JSON.stringify({ payloadKey });
  const texts = {
    [attribute.event]: record.event,
    [attribute.eventId]: record.eventId,
    [attribute.receivedAt]: record.receivedAt,
    [attribute.requestId]: record.requestId,
    [attribute.payloadKey]: payloadKey,
    [attribute.replay]: JSON.stringify(replay),
  };
  const given = Object.entries(texts).filter(([, text]) => text !== undefined) as [string, string][];
  const attributes: Record<string, MessageAttributeValue> = Object.fromEntries(
    given.map(([name, text]) => [name, stringAttribute(text)]),
  );
  const attributeBytes = given.reduce(
    (sum, [name, text]) => sum + name.length + 'String'.length + Buffer.byteLength(text),
    0,
  );
  return {
    eventId: record.eventId,
    entry: { MessageBody: body, MessageGroupId: REPLAY_GROUP, MessageAttributes: attributes },
    bytes: Buffer.byteLength(body) + attributeBytes,
  };
}
