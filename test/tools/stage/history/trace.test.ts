import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import type { Step, StepKind } from '../../../../tools/stage/history/history.ts';
import { printTrace } from '../../../../tools/stage/history/print.ts';
import { type Trace, traceDelivery } from '../../../../tools/stage/history/trace.ts';
import { redriveAll } from '../../../../tools/stage/queues/redrive-all.ts';
import { redriveEach } from '../../../../tools/stage/queues/redrive-each.ts';
import type { Stage } from '../../../../tools/stage/stage.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Answer, Partner, signBody } from '../../../support/partner.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { Project } from '../../cli/commands/project.ts';
import { archived, objectKey, putObject, putRecords } from '../archive/support.ts';
import { Operator } from '../queues/support.ts';
import { crashConsumer } from './crashing-consumer.ts';

const HOUR = 3_600_000;
const timestamp = '2026-01-31T09:00:00Z';
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const shopUpdated = (more: object = {}) => ({
  event: 'shop.updated',
  data: { shop_id: `shop-${randomUUID()}` },
  timestamp,
  ...more,
});

let stack: LocalStack;
let operator: Operator;
let partner: Partner;
let project: Project;

beforeAll(async () => {
  stack = await startTestStack({ environment: { FIRST_RETRY_DELAY_SECONDS: '1', MAXIMUM_RECEIVES: '3' } });
  operator = await Operator.create(stack);
  partner = new Partner(stack.outputs.WebhookUrl);
  project = await Project.create();
});
afterAll(async () => {
  await operator.close();
  await stack.close();
  await project.remove();
});

const { signal } = new AbortController();

/** Traces an id until its history is as wanted. */
async function traced(
  id: unknown,
  wanted: (trace: Trace) => boolean = isDone,
  stage = operator.stack,
): Promise<Trace> {
  return eventually(
    async () => {
      const trace = await traceDelivery(stage, String(id), { signal }).catch(nothingYet);
      return trace !== undefined && wanted(trace) ? trace : undefined;
    },
    { interval: 300 },
  );
}

function nothingYet(error: Error): undefined {
  if (!error.message.startsWith('Nothing was found')) throw error;
}

const kinds = ({ history }: Trace) => history.steps.map(({ kind }) => kind);
const state = ({ history }: Trace) => history.now[0].state;
const isArchived = (trace: Trace) => kinds(trace).at(-1) === 'archived';
const isDone = (trace: Trace) => ['processed', 'skipped'].includes(state(trace)) && isArchived(trace);
const isOnce = () => true;
const hasArchived = (count: number) => (trace: Trace) =>
  isDone(trace) && kinds(trace).filter((kind) => kind === 'archived').length === count;

/** A step of a kind, which a test expects to be there. */
function step({ history }: Trace, wanted: StepKind, index = 0): Step {
  const found = history.steps.filter(({ kind }) => kind === wanted).at(index);
  if (found === undefined) throw new Error(`No step ${wanted} in ${JSON.stringify(history)}`);
  return found;
}

async function printed(id: unknown, { json = false, stage = operator.stack as Stage } = {}) {
  const operation = { ...operator.operation(), stack: stage };
  const times = { since: undefined, until: undefined };
  const isWhole = await printTrace(operation, String(id), { json, ...times });
  return { text: operation.said.join('\n'), isWhole };
}

const RECEIVED: StepKind[] = ['received', 'queued', 'answered'];
const ONCE: StepKind[] = [...RECEIVED, 'processed', 'archived'];

describe('an ordinary delivery', () => {
  let answer: Answer;
  let trace: Trace;
  // Its quotation mark is escaped in the payload.
  const webhookId = 'w"é';

  beforeAll(async () => {
    answer = await partner.post(shopUpdated({ webhookId }));
    trace = await traced(answer.body.eventId);
  });

  test('was received, queued, answered, processed and is in the archive', () => {
    expect(trace).toMatchObject({
      idIs: 'eventId',
      history: {
        event: 'shop.updated',
        timestamp: expect.any(String),
        steps: [
          { kind: 'received', requestId: answer.body.requestId },
          { kind: 'queued', queue: 'shop.updated' },
          { kind: 'answered', status: 200 },
          { kind: 'processed', attempt: 1, origin: { kind: 'delivery' } },
          { kind: 'archived', object: expect.stringMatching(/^event=shop\.updated\/date=/) },
        ],
        now: [{ state: 'processed' }],
      },
    });
  });

  test('was received when API Gateway says so, and processed as late as its latency', () => {
    const received = step(trace, 'received');
    expect(received.atTheLatest).toBeUndefined();
    const { at, latencyMs = 0 } = step(trace, 'processed');
    expect(Math.abs(Date.parse(at) - latencyMs - Date.parse(received.at))).toBeLessThan(10_000);
  });

  test.each([
    ['the first eight characters of its event id', () => String(answer.body.eventId).slice(0, 8), 'eventId'],
    ['its event id in capitals', () => String(answer.body.eventId).toUpperCase(), 'eventId'],
    ['its request id', () => String(answer.body.requestId), 'requestId'],
    ['the beginning of its request id', () => String(answer.body.requestId).slice(0, 8), 'requestId'],
    ['the beginning of its message id', () => step(trace, 'processed').messageId?.slice(0, 8), 'messageId'],
    ['the partner’s webhookId, however short', () => webhookId, 'webhookId'],
  ])('is found by %s', async (_, id, idIs) => {
    const found = await traced(id());
    expect(found).toMatchObject({ idIs, history: trace.history });
  });

  test('is its history as JSON for programs', async () => {
    const { text } = await printed(answer.body.eventId, { json: true });
    expect(JSON.parse(text).history).toEqual(JSON.parse(JSON.stringify(trace.history)));
  });

  test.each([
    ['the logs if the archive', { ArchiveBucket: 'not-mine' }, 'The archive could not be read: NoSuchBucket'],
    [
      'the archive if the logs',
      { ReceiverLogGroup: 'not-mine' },
      'The logs could not be read, so rejected requests and failed attempts are missing: ',
    ],
  ])('is told by %s may not be read, which is named', async (_, wrong, named) => {
    const stage = operator.stack.with({ outputs: { ...operator.stack.outputs, ...wrong } });
    const { text, isWhole } = await printed(answer.body.eventId, { stage });
    expect(text).toContain('Processed: ');
    expect(text).toContain(named);
    expect(isWhole).toBe(false);
  });

  test('is told by the logs if the stage keeps no archive, and its webhookId is unknown', async () => {
    const { ArchiveBucket: _, ...outputs } = operator.stack.outputs;
    const stage = operator.stack.with({ outputs });
    expect((await printed(answer.body.eventId, { stage })).text).toContain('The stage keeps no archive');
    await expect(traceDelivery(stage, webhookId, { signal })).rejects.toThrow('The stage keeps no archive');
  });
});

test('a webhookId of 300 characters finds its event', async () => {
  const webhookId = 'x'.repeat(300);
  const { body } = await partner.post(shopUpdated({ webhookId }));
  expect((await traced(webhookId)).history.eventId).toBe(body.eventId);
});

test('what was processed stays so, though the same bytes come again and are replayed', async () => {
  const body = shopUpdated();
  const first = await partner.post(body);
  await traced(first.body.eventId);
  const second = await partner.post(body);
  const trace = await traced(first.body.eventId, hasArchived(2));
  expect(kinds(trace)).toEqual([...ONCE, ...RECEIVED, 'skipped', 'archived']);
  expect(step(trace, 'received', 1).requestId).toBe(second.body.requestId);
  expect(step(trace, 'skipped')).toMatchObject({ reason: 'already-processed', origin: { kind: 'delivery' } });
  // By the request of one of them both are found.
  expect((await traced(second.body.requestId)).history).toEqual(trace.history);
  await operator.put(stack.outputs.ShopUpdatedQueueUrl, JSON.stringify(body), {
    event: 'shop.updated',
    eventId: String(first.body.eventId),
    requestId: String(first.body.requestId),
    receivedAt: new Date().toISOString(),
    replay: JSON.stringify({ name: 'repair-1', mode: 'repair', notify: false }),
  });
  const replayed = await traced(first.body.eventId, hasArchived(3));
  const last = replayed.history.steps.at(-2);
  expect(last?.origin).toEqual({ kind: 'replay', name: 'repair-1', mode: 'repair', notify: false });
  expect(last?.latencyMs).toBeUndefined();
  expect(state(replayed)).toBe('processed');
  expect((await printed(first.body.eventId)).text).toContain('attempt 1 (replay repair-1, repair)');
});

describe('while a table is throttled', () => {
  test('a message is retried, and its equal failures are one step, until it is processed', async () => {
    const end = stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
    const { body } = await partner.post(shopUpdated());
    const retrying = await traced(body.eventId, (trace) => state(trace) === 'retrying');
    const { nextAttemptAt = '', at, error } = step(retrying, 'failed');
    expect(error).toMatch(/^DynamoDB UpdateItem: ProvisionedThroughputExceededException: /);
    expect(Date.parse(nextAttemptAt) - Date.parse(at)).toBe(1_000);
    await traced(body.eventId, (found) => kinds(found).filter((kind) => kind === 'failed').length === 2);
    end();
    const trace = await traced(body.eventId);
    expect(kinds(trace)).toEqual([...RECEIVED, 'failed', 'failed', 'processed', 'archived']);
    expect(step(trace, 'processed').attempt).toBe(3);
    expect((await printed(body.eventId)).text).toMatch(/● failed +attempts 1–2: DynamoDB UpdateItem: /);
  });

  test('a dead letter says until when it is kept; redriven, it is processed', async () => {
    const end = stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
    const { body } = await partner.post(shopUpdated());
    const dead = await traced(
      body.eventId,
      (found) => kinds(found).includes('dead-lettered') && isArchived(found),
    );
    end();
    expect(dead.history.now).toMatchObject([
      { state: 'dead-letter', queue: 'shop.updated', attempts: 3, until: expect.any(String), queueHolds: 1 },
    ]);
    const { text } = await printed(body.eventId);
    expect(text).toContain(`Show it: npm run dlq -- show shop.updated --outputs ${operator.outputsFile}`);
    // Only the queue knows the id of a dead letter, which is a message of its own.
    const [letter] = await stack.inspectQueue(stack.outputs.ShopUpdatedDeadLetterQueueUrl ?? '');
    expect(await traced(letter?.id.slice(0, 8), isOnce)).toMatchObject({
      idIs: 'messageId',
      history: dead.history,
    });
    await redriveAll(operator.operation(), operator.queue('shop.updated'));
    const trace = await traced(body.eventId);
    expect(kinds(trace)).toEqual([
      ...RECEIVED,
      ...(['failed', 'failed', 'dead-lettered', 'archived', 'processed', 'archived'] as const),
    ]);
    expect(step(trace, 'processed')).toMatchObject({ attempt: 1, origin: { kind: 'redriven' } });
  });
});

test('a consumer that dies leaves a dead letter, which is told with the crashes, before and after its redrive', async () => {
  const restore = await crashConsumer(stack, operator, 'girl.deleted', 2);
  const sent = await project.run(['send', 'girl.deleted', '--wait', '60', '--outputs', operator.outputsFile]);
  expect(sent).toMatchObject({ code: 1, stderr: '' });
  expect(sent.stdout.match(/● [a-z]+( letter)?/g)).toEqual(
    ['received', 'queued', 'answered', 'crashed', 'crashed', 'dead letter'].map((title) => `● ${title}`),
  );
  const place =
    'Dead letter: The function crashed (Runtime.ExitError). It is on the dead-letter queue of girl.deleted.';
  expect(sent.stdout).toContain(place);

  const eventId = / event ([0-9a-f]{64}) /.exec(sent.stdout)?.[1];
  const { text } = await printed(eventId);
  expect(text).toMatch(/● crashed +attempts 1–2: the function crashed \(Runtime\.ExitError\)\n/);
  expect(text).toMatch(/● dead letter +SQS moved it to the dead-letter queue after 2 attempts\n/);
  expect(text).toContain(place);

  await restore();
  await redriveAll(operator.operation(), operator.queue('girl.deleted'));
  const trace = await traced(eventId);
  expect(kinds(trace)).toEqual([
    ...RECEIVED,
    ...(['crashed', 'crashed', 'dead-lettered', 'processed', 'archived'] as const),
  ]);
  expect(step(trace, 'processed').origin).toEqual({ kind: 'redriven' });
});

test('a request with a wrong signature is told with what was wrong, and nothing of it', async () => {
  const body = shopUpdated();
  const signature = signBody(body, 'another-secret');
  const rejected = await partner.post(body, { signature });
  const trace = await traced(rejected.body.requestId, isOnce);
  expect(kinds(trace)).toEqual(['received', 'answered']);
  expect(step(trace, 'answered')).toMatchObject({ status: 401, rejection: 'wrong signature' });
  expect(trace.history.now).toEqual([expect.objectContaining({ state: 'rejected', status: 401 })]);
  expect(JSON.stringify(trace)).not.toContain(signature);
  // The partner repeats it, and it is the same event.
  await partner.post(body);
  const steps = kinds(await traced(rejected.body.requestId));
  expect(steps.slice(0, 3)).toEqual(['received', 'answered', 'received']);
  // On a busy machine the consumer may be done before the receiver has its answer from the queue.
  expect(steps).toContain('queued');
});

test('an unusable delivery is in quarantine, with its fields, also if the logs may not be read', async () => {
  const { body } = await partner.post({ event: 'shop.updated', data: { shop_id: '' }, timestamp });
  const trace = await traced(body.requestId, isOnce);
  expect(kinds(trace)).toEqual(RECEIVED);
  expect(step(trace, 'answered')).toMatchObject({ status: 400, fields: ['data.shop_id'] });
  expect(trace.history.now).toEqual([expect.objectContaining({ state: 'invalid', queueHolds: 1 })]);
  expect((await printed(body.requestId)).text).toContain('400 invalid: data.shop_id');
  const outputs = { ...operator.stack.outputs, ReceiverLogGroup: 'not-mine' };
  const byQueue = await traced(body.requestId, isOnce, operator.stack.with({ outputs }));
  expect(byQueue.history).toMatchObject({ now: [{ state: 'invalid', queue: 'quarantine' }] });
});

test('an unknown kind is parked; redriven it is of its queue', async () => {
  const { body } = await partner.post({ event: 'example.unknown', data: {}, timestamp });
  const trace = await traced(body.eventId, isOnce);
  expect(trace.history.now).toEqual([
    expect.objectContaining({ state: 'parked', queue: 'unrouted', queueHolds: 1 }),
  ]);
  expect((await printed(body.eventId)).text).toContain('200 parked');
  await operator.empty();
  expect((await printed(body.eventId)).text).toContain('It was on the unrouted queue, which is empty now');
  const payload = shopUpdated();
  const later = await partner.post({ ...payload, event: 'shop.closed' });
  await operator.empty();
  // As a stack that knows the event by now redrives it.
  const eventId = String(later.body.eventId);
  const attributes = { event: 'shop.updated', eventId, requestId: String(later.body.requestId) };
  await operator.put(stack.outputs.UnroutedQueueUrl, JSON.stringify(payload), attributes);
  expect(await redriveEach(operator.operation(), operator.queue('unrouted'))).toBe(true);
  expect(step(await traced(eventId), 'processed').origin).toEqual({ kind: 'redriven' });
});

test('what was not accepted says what failed, and that it is repeated', async () => {
  const end = stack.faults.inject({ service: 'sqs', operation: 'SendMessage', kind: 'down' });
  const { body, status } = await partner.post(shopUpdated());
  end();
  expect(status).toBe(500);
  const trace = await traced(body.requestId, isOnce);
  expect(kinds(trace)).toEqual(['received', 'answered']);
  expect(step(trace, 'answered')).toMatchObject({ status: 500, error: expect.stringMatching(/\w+/) });
  expect((await printed(body.requestId)).text).toMatch(
    /Server error: The answer was 500: .* The partner sends it again\./,
  );
});

test('a message that was sent by hand is told apart', async () => {
  const body = JSON.stringify(shopUpdated());
  await operator.put(stack.outputs.ShopUpdatedQueueUrl, body);
  const trace = await traced(sha(body));
  expect(kinds(trace)).toEqual(['processed', 'archived']);
  expect(step(trace, 'processed').origin).toEqual({ kind: 'by hand' });
});

describe('what the logs no longer have', () => {
  const settledAt = new Date(Date.now() - 50 * HOUR).toISOString();
  const record = archived({
    eventId: sha('of last week'),
    requestId: 'request-of-last-week=',
    receivedAt: new Date(Date.now() - 51 * HOUR).toISOString(),
    settledAt,
    body: JSON.stringify({ ...shopUpdated(), webhookId: 'webhook-of-last-week' }),
  });

  beforeAll(async () => {
    const { body: _, ...replayed } = record;
    const replay = { name: 'fill-1', mode: 'fill', notify: true } as const;
    const later = { ...replayed, replay, settledAt: new Date(Date.now() - 30 * HOUR).toISOString() };
    await putRecords(operator.stack, objectKey('old', 'shop.updated', settledAt.slice(0, 13)), [
      record,
      archived({ ...record, eventId: `${'f'.repeat(60)}0000`, requestId: 'another', body: '{}' }),
    ]);
    await putRecords(operator.stack, objectKey('replayed', 'shop.updated', later.settledAt.slice(0, 13)), [
      later,
    ]);
  });

  test.each([record.eventId.slice(0, 10), 'request-of-last-week=', 'webhook-of-last-week'])(
    'is told by the archive: %s',
    async (id) => {
      const trace = await traced(id, isOnce);
      expect(kinds(trace)).toEqual(['received', 'processed', 'archived', 'processed', 'archived']);
      expect(step(trace, 'received').at).toBe(record.receivedAt);
      expect(step(trace, 'processed', 1).origin).toMatchObject({
        kind: 'replay',
        name: 'fill-1',
        notify: true,
      });
      expect(state(trace)).toBe('processed');
      expect(trace.sources.logs.lines).toBe(0);
    },
  );

  test('is not found in another window, and the window is named', async () => {
    const since = new Date(Date.now() - HOUR);
    await expect(traceDelivery(operator.stack, record.eventId, { since, signal })).rejects.toThrow(
      `in the archive since ${since.toISOString()} (`,
    );
  });

  test('is told as far as a damaged object can be read, which is named', async () => {
    const key = objectKey('damaged', 'shop.updated', settledAt.slice(0, 13));
    await putObject(operator.stack, key, Buffer.from('not gzip'));
    const { text, isWhole } = await printed(record.eventId);
    expect(isWhole).toBe(false);
    expect(text).toContain(`Damaged, and skipped from there on: ${key}: not gzip, or damaged`);
    expect(text).toContain('processed');
  });
});

describe('what cannot be traced is said in one line', () => {
  test('an id that several events begin with: which', async () => {
    const ids = ['1', '2'].map((end) => `abcdef99${end.repeat(56)}`);
    for (const eventId of ids) {
      await operator.put(stack.outputs.ShopUpdatedQueueUrl, JSON.stringify(shopUpdated()), { eventId });
    }
    for (const eventId of ids) await traced(eventId);
    const failure = traceDelivery(operator.stack, 'abcdef99', { signal });
    await expect(failure).rejects.toThrow("'abcdef99' matches several events. One of: ");
    for (const id of ids) await expect(failure).rejects.toThrow(`${id} (shop.updated, `);
  });

  test('an id that nothing has: how far was looked, and who may know more', async () => {
    const failure = traceDelivery(operator.stack, 'q'.repeat(16), { signal });
    await expect(failure).rejects.toThrow(
      /^Nothing was found for 'q{16}' in the logs since \S+Z, in the archive since \S+Z \(\d+ records in \d+ objects/,
    );
    await expect(failure).rejects.toThrow('API Gateway answered it itself: see its access log');
  });
});
