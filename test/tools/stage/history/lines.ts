import type { ArchiveRecord } from '../../../../lambda/archive/record.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import type { LogLine } from '../../../../tools/stage/history/log-line.ts';
import type { FoundRecord } from '../../../../tools/stage/history/messages.ts';

export const EVENT_ID = sha256Hex('one event');
const START = Date.parse('2026-01-31T09:00:00.000Z');

/** ISO 8601, of so many seconds after the first delivery. */
export const at = (seconds: number) => new Date(START + seconds * 1000).toISOString();

/** Epoch milliseconds of the same. */
export const time = (seconds: number) => START + seconds * 1000;

/** A line of the receiver. */
export function received(seconds: number, message: string, facts: Partial<LogLine> = {}): LogLine {
  const event = message === 'Accepted' ? { event: 'shop.updated' } : {};
  return {
    at: time(seconds),
    level: 'INFO',
    message,
    eventId: EVENT_ID,
    requestId: 'request-1',
    ...event,
    ...facts,
  };
}

/** A line of a consumer. */
export function consumed(seconds: number, message: string, facts: Partial<LogLine> = {}): LogLine {
  return {
    at: time(seconds),
    level: 'INFO',
    message,
    eventId: EVENT_ID,
    requestId: 'request-1',
    event: 'shop.updated',
    messageId: 'message-1',
    attempt: 1,
    ...facts,
  };
}

/** A failure that may pass. */
export const failed = (
  seconds: number,
  attempt: number,
  retryInSeconds: number,
  facts: Partial<LogLine> = {},
) => consumed(seconds, 'Failed', { level: 'WARN', attempt, retryInSeconds, error: 'Throttled', ...facts });

/** A record in an object of its own. */
export function record(seconds: number, facts: Partial<ArchiveRecord> = {}): FoundRecord {
  return {
    object: `event=shop.updated/date=2026-01-31/hour=09/${seconds}.jsonl.gz`,
    record: {
      eventId: EVENT_ID,
      event: 'shop.updated',
      receivedAt: at(-0.5),
      requestId: 'request-1',
      outcome: 'Processed',
      attempt: 1,
      settledAt: at(seconds),
      ...facts,
    },
  };
}
