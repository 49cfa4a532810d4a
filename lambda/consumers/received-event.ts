import type { SQSRecord } from 'aws-lambda';
import type { EventName } from '../contract/catalogue.ts';
import { describeProblems, type PartnerEvent, parsePayload, parsePayloadText } from '../contract/envelope.ts';
import { sha256Hex } from '../hash.ts';
import { attribute } from '../queue/message.ts';
import { versionOf } from './version.ts';

/** An event as a consumer gets it: the partner's, and what the receiver noted of its delivery. */
export interface ReceivedEvent<Name extends EventName = EventName> extends PartnerEvent<Name> {
  readonly eventId: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly requestId: string | undefined;
  /** What the event gives to the state it writes (decision D8). */
  readonly version: string;
}

/** A message that no repetition can make processable. Its message shows nothing of the payload. */
export class UnprocessableMessageError extends Error {
  override readonly name = 'UnprocessableMessageError';
}

/**
 * Reads an event from a queue. A message that somebody sent by hand, without attributes, is taken too:
 * its id is made of its body and its receipt is when SQS got it.
 * @throws UnprocessableMessageError where the payload is not a usable event of this kind
 */
export async function readRecord<Name extends EventName>(
  name: Name,
  record: SQSRecord,
): Promise<ReceivedEvent<Name>> {
  const payloadKey = noted(record, attribute.payloadKey);
  const parsed =
    payloadKey === undefined ? parsePayloadText(record.body) : parsePayload(await stored(payloadKey));
  if (parsed.kind === 'unusable') {
    throw new UnprocessableMessageError(`Not a usable event: ${describeProblems(parsed.problems)}`);
  }
  if (parsed.kind === 'unknown' || parsed.event.event !== name) {
    throw new UnprocessableMessageError(`Not an event of this queue, which holds ${name}`);
  }
  const event = parsed.event as PartnerEvent<Name>;
  const delivery = {
    ...readIds(record),
    receivedAt:
      noted(record, attribute.receivedAt) ?? new Date(Number(record.attributes.SentTimestamp)).toISOString(),
  };
  return { ...event, ...delivery, version: versionOf({ timestamp: event.timestamp, ...delivery }) };
}

/** The ids by which an event is followed through the logs; they are known before it is read. */
export function readIds(record: SQSRecord): { eventId: string; requestId: string | undefined } {
  return {
    eventId: noted(record, attribute.eventId) ?? sha256Hex(record.body),
    requestId: noted(record, attribute.requestId),
  };
}

async function stored(payloadKey: string): Promise<Uint8Array> {
  const { payloadStore } = await import('../queue/payload-store.ts');
  return payloadStore().get(payloadKey);
}

const noted = (record: SQSRecord, name: string) => record.messageAttributes[name]?.stringValue;
