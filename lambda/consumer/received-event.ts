import type { SQSRecord } from 'aws-lambda';
import type { EventName } from '../events/catalogue.ts';
import { describeProblems, type PartnerEvent, parsePayload, parsePayloadText } from '../events/envelope.ts';
import { sha256Hex } from '../hash.ts';
import { attribute } from '../queue/message.ts';
import { parseReplay, type Replay } from '../queue/replay.ts';

/** An event as a consumer gets it: the partner's fields, and the receiver's metadata about its delivery. */
export interface ReceivedEvent<Name extends EventName = EventName> extends PartnerEvent<Name> {
  /** The partner's JSON text. */
  readonly text: string;
  readonly eventId: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly requestId: string | undefined;
  readonly replay: Replay | undefined;
}

/** What the attributes of a message say. Known before the payload is read. */
export interface MessageMetadata
  extends Pick<ReceivedEvent, 'eventId' | 'receivedAt' | 'requestId' | 'replay'> {
  /** 1 for the first receive. */
  readonly attempt: number;
}

/** A message that no retry can process. The error text shows nothing of the payload. */
export class UnprocessableMessageError extends Error {
  override readonly name = 'UnprocessableMessageError';
}

/**
 * Reads an event from a queue. A message without attributes, sent by hand, is accepted too: its id is the hash of its
 * body, and its receipt is the time when SQS got it.
 * @throws UnprocessableMessageError if the payload is not a usable event of this kind
 */
export async function readRecord<Name extends EventName>(
  name: Name,
  record: SQSRecord,
  metadata: MessageMetadata = readMetadata(record),
): Promise<ReceivedEvent<Name>> {
  const payload = payloadOf(record);
  const parsed =
    'body' in payload ? parsePayloadText(payload.body) : parsePayload(await stored(payload.payloadKey));
  if (parsed.kind === 'unusable') {
    throw new UnprocessableMessageError(`Not a usable event: ${describeProblems(parsed.problems)}`);
  }
  if (parsed.kind === 'unknown' || parsed.event.event !== name) {
    throw new UnprocessableMessageError(`Wrong event for this queue, which is for ${name}`);
  }
  const event = parsed.event as PartnerEvent<Name>;
  // Without this check, an unreadable repair would be processed as an ordinary delivery.
  if (metadata.replay === undefined && attributeOf(record, attribute.replay) !== undefined) {
    throw new UnprocessableMessageError('The message attribute `replay` is malformed');
  }
  return { ...event, ...metadata, text: parsed.text };
}

export function readMetadata(record: SQSRecord): MessageMetadata {
  const replay = attributeOf(record, attribute.replay);
  return {
    eventId: attributeOf(record, attribute.eventId) ?? sha256Hex(record.body),
    requestId: attributeOf(record, attribute.requestId),
    receivedAt: receivedAt(record),
    attempt: Number(record.attributes.ApproximateReceiveCount),
    replay: replay === undefined ? undefined : parseReplay(replay),
  };
}

/**
 * When API Gateway received the delivery. For a message that was sent by hand: when SQS received it, or now if that is
 * unknown. Must never throw, because a batch is archived in one call.
 */
function receivedAt(record: SQSRecord): string {
  const times = [attributeOf(record, attribute.receivedAt), Number(record.attributes.SentTimestamp)];
  const dates = times.flatMap((time) => (time === undefined ? [] : new Date(time)));
  return (dates.find(hasSortableYear) ?? new Date()).toISOString();
}

/** Versions sort as text, so a year needs four digits. Otherwise nothing could overwrite the event. */
function hasSortableYear(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999;
}

/** Where the payload is: in the message, or in the payload bucket. */
export function payloadOf(record: SQSRecord): { body: string } | { payloadKey: string } {
  const payloadKey = attributeOf(record, attribute.payloadKey);
  return payloadKey === undefined ? { body: record.body } : { payloadKey };
}

async function stored(payloadKey: string): Promise<Uint8Array> {
  const { getPayload } = await import('../queue/payload-store.ts');
  return getPayload(payloadKey);
}

const attributeOf = (record: SQSRecord, name: string) => record.messageAttributes[name]?.stringValue;
