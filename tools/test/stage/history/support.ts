import type { ArchiveRecord } from '../../../../lambda/archive/record-schema.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import {
  type DeadLetterFact,
  type LineFact,
  lineFact,
  type RecordFact,
  recordFact,
} from '../../../stage/history/facts.ts';

export const EVENT_ID = sha256Hex('one event');
const START = Date.parse('2026-01-31T09:00:00.000Z');

/** Epoch milliseconds, this many seconds after the first delivery. */
export const time = (seconds: number) => START + seconds * 1000;

/** {@link time} in ISO 8601. */
export const at = (seconds: number) => new Date(time(seconds)).toISOString();

export function received(seconds: number, message: string, more: object = {}): LineFact {
  const event = message === 'Accepted' ? { event: 'shop.updated' } : {};
  const line = { timestamp: at(seconds), level: 'INFO', message, eventId: EVENT_ID, requestId: 'request-1' };
  const fact = lineFact(JSON.stringify({ ...line, ...event, ...more }));
  if (fact === undefined) throw new Error(`No line of a function: ${message}`);
  return fact;
}

export const consumed = (seconds: number, message: string, more: object = {}): LineFact =>
  received(seconds, message, { event: 'shop.updated', messageId: 'message-1', attempt: 1, ...more });

export const failed = (seconds: number, attempt: number, retryInSeconds: number, more: object = {}) =>
  consumed(seconds, 'Failed', { level: 'WARN', attempt, retryInSeconds, error: 'Throttled', ...more });

/** A record in its own object. */
export function record(seconds: number, more: Partial<ArchiveRecord> = {}): RecordFact {
  const one: ArchiveRecord = {
    eventId: EVENT_ID,
    event: 'shop.updated',
    receivedAt: at(-0.5),
    requestId: 'request-1',
    outcome: 'Processed',
    attempt: 1,
    settledAt: at(seconds),
    ...more,
  };
  return recordFact(one, `event=shop.updated/date=2026-01-31/hour=09/${seconds}.jsonl.gz`);
}

export const started = (seconds: number, attempt: number, more: object = {}) =>
  consumed(seconds, 'Started', { attempt, ...more });

/** A crash of the consumer, as the local stack observes it. */
export const crash = (seconds: number, attempt: number) =>
  consumed(seconds, 'Crashed', { level: 'ERROR', attempt, error: 'Runtime.ExitError' });

/** A message that SQS moved to the dead-letter queue after its last receive. */
export const deadLetter = (more: Partial<DeadLetterFact> = {}): DeadLetterFact => ({
  kind: 'dead-letter',
  at: time(0),
  event: 'shop.updated',
  eventId: EVENT_ID,
  requestId: 'request-1',
  messageId: 'message-1',
  queue: 'shop.updated',
  seenAt: time(0),
  until: at(14 * 86_400),
  ...more,
});
