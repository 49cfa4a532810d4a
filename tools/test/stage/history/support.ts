import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetQueueAttributesCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { expect } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import type { ArchiveRecord } from '../../../../lambda/archive/record.ts';
import type { EventName } from '../../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../../lambda/events/event-names.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import {
  type CrashFact,
  type DeadLetterFact,
  type LineFact,
  type RecordFact,
  recordFact,
} from '../../../stage/history/facts.ts';
import { lineFact } from '../../../stage/history/log-line.ts';
import type { Operator } from '../queues/support.ts';

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
export const crash = (seconds: number, attempt: number): CrashFact => ({
  kind: 'crash',
  at: time(seconds),
  event: 'shop.updated',
  eventId: EVENT_ID,
  requestId: 'request-1',
  messageId: 'message-1',
  attempt,
  invocationId: `invocation-${seconds}`,
  error: 'Runtime.ExitError',
});

/** A message that SQS moved to the dead-letter queue after its last receive. */
export const deadLetter = (more: Partial<DeadLetterFact> = {}): DeadLetterFact => ({
  kind: 'dead-letter',
  at: time(0),
  event: 'shop.updated',
  eventId: EVENT_ID,
  requestId: 'request-1',
  messageId: 'message-1',
  receives: 3,
  until: at(14 * 86_400),
  ...more,
});

const CRASHING = `import { handler as consume } from './consumer.mjs';
export function handler(...args) {
  if (args[0].Records.length > 0) setTimeout(() => process.exit(1), 200);
  return consume(...args);
}`;

/**
 * Makes the consumer of an event exit in the middle of its work. SQS gives a message up after some seconds, on a stage
 * after many minutes.
 * @returns a function that ends the crashes
 */
export async function crashConsumer(
  stack: LocalStack,
  { stack: stage }: Operator,
  event: EventName,
  maxReceiveCount: number,
) {
  const { queueUrl: QueueUrl } = stage.event(event);
  const { Attributes = {} } = await stage.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['RedrivePolicy'] }),
  );
  const RedrivePolicy = JSON.stringify({ ...JSON.parse(Attributes.RedrivePolicy ?? '{}'), maxReceiveCount });
  await stage.sqs.send(
    new SetQueueAttributesCommand({ QueueUrl, Attributes: { RedrivePolicy, VisibilityTimeout: '1' } }),
  );
  const name = kebabCase(event);
  const before = stack.functions.get(name)?.definition.codeDirectory ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'crashing-'));
  await cp(before, folder, { recursive: true });
  await rename(join(folder, 'index.mjs'), join(folder, 'consumer.mjs'));
  await writeFile(join(folder, 'index.mjs'), CRASHING);
  stack.faults.inject({ service: 'dynamodb', kind: 'slow', milliseconds: 60_000 });
  expect(await stack.replaceCode(name, folder)).toBeUndefined();
  return async () => {
    stack.faults.clear();
    expect(await stack.replaceCode(name, before)).toBeUndefined();
    await rm(folder, { recursive: true });
  };
}
