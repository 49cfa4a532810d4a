import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { printTrace } from '../../../../tools/stage/history/print-trace.ts';
import type { Step, Trace } from '../../../../tools/stage/history/timeline.ts';
import { traceDelivery } from '../../../../tools/stage/history/trace.ts';
import { redriveAll } from '../../../../tools/stage/queues/move-task.ts';
import { redriveEach } from '../../../../tools/stage/queues/redrive-each.ts';
import type { Stage } from '../../../../tools/stage/stage.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Answer, Partner, signBody } from '../../../support/partner.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { archived, objectKey, putObject, putRecords } from '../archive/support.ts';
import { Operator } from '../queues/support.ts';

const HOUR = 3_600_000;
const timestamp = '2026-01-31T09:00:00Z';
const shopUpdated = (more: object = {}) => ({
  event: 'shop.updated',
  data: { shop_id: `shop-${randomUUID()}` },
  timestamp,
  ...more,
});
const idOf = (body: string) => createHash('sha256').update(body).digest('hex');
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

let stack: LocalStack;
let operator: Operator;
let partner: Partner;

beforeAll(async () => {
  stack = await startTestStack({ environment: { FIRST_RETRY_DELAY_SECONDS: '1', MAXIMUM_RECEIVES: '3' } });
  operator = await Operator.create(stack);
  partner = new Partner(stack.outputs.WebhookUrl);
});
afterAll(async () => {
  await operator.close();
  await stack.close();
});

const { signal } = new AbortController();

/** Traces an id until its timeline is as wanted. */
async function traced(id: unknown, wanted: (trace: Trace) => boolean = isDone): Promise<Trace> {
  return eventually(
    async () => {
      const trace = await traceDelivery(operator.stack, String(id), { signal }).catch(nothingYet);
      return trace !== undefined && wanted(trace) ? trace : undefined;
    },
    { interval: 300 },
  );
}

function nothingYet(error: Error): undefined {
  if (!error.message.startsWith('Nothing of')) throw error;
}

const kinds = ({ timeline }: Trace) => timeline.steps.map(({ what }) => what);
const isArchived = (trace: Trace) => kinds(trace).at(-1) === 'archived';
const isDone = (trace: Trace) => trace.timeline.now[0].state === 'done' && isArchived(trace);

/** A step of a kind, which a test expects to be there. */
function step<What extends Step['what']>({ timeline }: Trace, what: What, index = 0) {
  const steps = timeline.steps.filter((item): item is Extract<Step, { what: What }> => item.what === what);
  const found = steps.at(index);
  if (found === undefined) throw new Error(`No step ${what} in ${JSON.stringify(timeline)}`);
  return found;
}

async function said(id: string, options: { json?: boolean; width?: number; stack?: Stage } = {}) {
  const operation = { ...operator.operation(), width: options.width ?? Number.POSITIVE_INFINITY };
  await printTrace({ ...operation, stack: options.stack ?? operator.stack }, id, {
    json: options.json ?? false,
    since: undefined,
    until: undefined,
  });
  return operation.said.join('\n');
}

describe('an ordinary delivery', () => {
  let answer: Answer;
  let trace: Trace;
  const webhookId = `wh:${randomUUID()}`;

  beforeAll(async () => {
    answer = await partner.post(shopUpdated({ webhookId }));
    trace = await traced(answer.body.eventId);
  });

  test('was received, queued, answered, had its effect and is in the archive', () => {
    expect(trace).toMatchObject({
      idIs: 'eventId',
      timeline: { event: 'shop.updated', timestamp: expect.any(String) },
    });
    expect(kinds(trace)).toEqual(['received', 'queued', 'answered', 'effect', 'archived']);
    expect(step(trace, 'answered')).toMatchObject({ status: 200, requestId: answer.body.requestId });
    expect(step(trace, 'queued')).toMatchObject({ queue: 'shop.updated' });
    expect(step(trace, 'effect')).toMatchObject({
      outcome: 'Processed',
      attempt: 1,
      origin: { kind: 'delivery' },
    });
    expect(step(trace, 'archived').object).toMatch(/^event=shop\.updated\/date=/);
    expect(trace.timeline.now).toEqual([expect.objectContaining({ state: 'done', outcome: 'Processed' })]);
  });

  test('was received when API Gateway says so, and its effect came as late as its latency', () => {
    const received = step(trace, 'received');
    expect(received.exact).toBe(true);
    const { at, latencyMs = 0 } = step(trace, 'effect');
    expect(Math.abs(Date.parse(at) - latencyMs - Date.parse(received.at))).toBeLessThan(10_000);
  });

  test.each([
    ['the first eight characters of its event id', () => String(answer.body.eventId).slice(0, 8), 'eventId'],
    ['its event id in capitals', () => String(answer.body.eventId).toUpperCase(), 'eventId'],
    ['its request id', () => String(answer.body.requestId), 'requestId'],
    ['the partner’s webhookId', () => webhookId, 'webhookId'],
  ])('is found by %s', async (_, id, idIs) => {
    const found = await traced(id());
    expect(found.idIs).toBe(idIs);
    expect(found.timeline).toEqual(trace.timeline);
  });

  test('is printed for people', async () => {
    const text = await said(String(answer.body.eventId));
    expect(text).toContain(`shop.updated ${answer.body.eventId} in the stack of ${operator.outputsFile}`);
    expect(text).toMatch(/● answered +200 queued\n/);
    expect(text).toMatch(/● processed +attempt 1, \d+ m?s after receipt\n/);
    expect(text).toContain('Done: it has had its effect.');
  });

  test('for programs is its model as JSON', async () => {
    const { timeline } = JSON.parse(await said(String(answer.body.eventId), { json: true }));
    expect(timeline).toEqual(JSON.parse(JSON.stringify(trace.timeline)));
  });

  test('where the archive may not be read is told by the logs', async () => {
    const outputs = { ...operator.stack.outputs, ArchiveBucket: 'not-mine' };
    const found = await traceDelivery(operator.stack.with({ outputs }), String(answer.body.eventId), {
      signal,
    });
    expect(found?.timeline.now[0]).toMatchObject({ state: 'done' });
    expect(found?.sources.archive).toMatchObject({ state: 'refused', reason: 'NoSuchBucket' });
  });

  test('where the stack keeps no archive is told by the logs, and a webhookId is unknown', async () => {
    const { ArchiveBucket: _, ...outputs } = operator.stack.outputs;
    const withoutArchive = operator.stack.with({ outputs });
    const text = await said(String(answer.body.eventId), { stack: withoutArchive });
    expect(text).toContain('The stack keeps no archive (archive.days is 0).');
    await expect(traceDelivery(withoutArchive, webhookId, { signal })).rejects.toThrow(
      'and this stack keeps no archive',
    );
  });
});

test('a repeated delivery stands under the same event, in order of time', async () => {
  const body = shopUpdated();
  const first = await partner.post(body);
  await traced(first.body.eventId);
  const second = await partner.post(body);
  const trace = await traced(
    first.body.eventId,
    (found) => isDone(found) && kinds(found).filter((what) => what === 'archived').length === 2,
  );
  const once = ['received', 'queued', 'answered', 'effect', 'archived'];
  expect(kinds(trace)).toEqual([...once, ...once]);
  expect(step(trace, 'received', 1).requestId).toBe(second.body.requestId);
  expect(step(trace, 'effect', 1)).toMatchObject({ outcome: 'Duplicate', origin: { kind: 'delivery' } });
  // By the request of one of them both are found.
  expect((await traced(second.body.requestId)).timeline).toEqual(trace.timeline);
});

describe('while a table is throttled', () => {
  test('a message backs off, then fails again, and has its effect once that is over', async () => {
    const end = stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
    const { body } = await partner.post(shopUpdated());
    const backingOff = await traced(body.eventId, ({ timeline }) => timeline.now[0].state === 'backing off');
    expect(step(backingOff, 'failed')).toMatchObject({
      attempt: 1,
      error: expect.stringMatching(/^DynamoDB UpdateItem: ProvisionedThroughputExceededException: /),
      retryInSeconds: 1,
    });
    await traced(body.eventId, (found) => kinds(found).filter((what) => what === 'failed').length === 2);
    end();
    const trace = await traced(body.eventId);
    expect(kinds(trace)).toEqual([
      'received',
      'queued',
      'answered',
      'failed',
      'failed',
      'effect',
      'archived',
    ]);
    expect(step(trace, 'effect')).toMatchObject({ attempt: 3, outcome: 'Processed' });
  });

  test('a dead letter is where it is; redriven, it has its effect', async () => {
    const end = stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
    const { body } = await partner.post(shopUpdated());
    const dead = await traced(
      body.eventId,
      (found) => kinds(found).includes('dead-lettered') && isArchived(found),
    );
    end();
    expect(dead.timeline.now).toEqual([
      {
        state: 'dead letter',
        queue: 'shop.updated',
        since: step(dead, 'dead-lettered').at,
        until: expect.any(String),
        queueHolds: 1,
      },
    ]);
    expect(await said(String(body.eventId))).toContain(
      `Why, and what then: npm run dlq -- show shop.updated --outputs ${operator.outputsFile}`,
    );
    await redriveAll(operator.operation(), operator.queue('shop.updated'), { pollMilliseconds: 20 });
    const trace = await traced(body.eventId);
    expect(kinds(trace)).toEqual([
      ...['received', 'queued', 'answered', 'failed', 'failed', 'dead-lettered', 'archived'],
      ...['effect', 'archived'],
    ]);
    expect(step(trace, 'effect')).toMatchObject({ attempt: 1, origin: { kind: 'redriven' } });
    expect(await said(String(body.eventId))).toMatch(/processed +attempt 1 \(redriven\), /);
  });
});

test('a replay is named, and is neither a delivery nor late', async () => {
  const body = JSON.stringify(shopUpdated());
  const answer = await partner.post(body);
  await traced(answer.body.eventId);
  await operator.put(stack.outputs.ShopUpdatedQueueUrl, body, {
    event: 'shop.updated',
    eventId: String(answer.body.eventId),
    requestId: String(answer.body.requestId),
    receivedAt: new Date().toISOString(),
    replay: JSON.stringify({ name: 'repair-1', mode: 'repair', notify: false }),
  });
  const trace = await traced(
    answer.body.eventId,
    (found) => kinds(found).filter((what) => what === 'archived').length === 2,
  );
  expect(kinds(trace)).toEqual([
    'received',
    'queued',
    'answered',
    'effect',
    'archived',
    'effect',
    'archived',
  ]);
  const effect = step(trace, 'effect', 1);
  expect(effect.origin).toEqual({ kind: 'replay', name: 'repair-1', mode: 'repair', notify: false });
  expect(effect.latencyMs).toBeUndefined();
  expect(await said(String(answer.body.eventId))).toContain('attempt 1 (replay repair-1, repair)');
});

test('a request with a wrong signature is told with what was wrong, and nothing of it', async () => {
  const body = shopUpdated();
  const signature = signBody(body, 'another-secret');
  const rejected = await partner.post(body, { signature });
  const trace = await traced(rejected.body.requestId, () => true);
  expect(kinds(trace)).toEqual(['received', 'answered']);
  expect(step(trace, 'answered')).toMatchObject({ status: 401, reason: 'wrong-signature' });
  expect(trace.timeline.now).toEqual([expect.objectContaining({ state: 'not accepted', status: 401 })]);
  expect(JSON.stringify(trace)).not.toContain(signature);
  // The partner repeats it, and it is the same event.
  await partner.post(body);
  const steps = kinds(await traced(rejected.body.requestId));
  expect(steps.slice(0, 3)).toEqual(['received', 'answered', 'received']);
  // On a busy machine the consumer may be done before the receiver has its answer from the queue.
  expect(steps).toContain('queued');
});

test('an unusable delivery is in quarantine, with its fields, until it is redriven', async () => {
  const { body } = await partner.post({ event: 'shop.updated', data: { shop_id: '' }, timestamp });
  const trace = await traced(body.requestId, () => true);
  expect(kinds(trace)).toEqual(['received', 'queued', 'answered']);
  expect(step(trace, 'answered')).toMatchObject({ status: 400, fields: ['data.shop_id'] });
  expect(trace.timeline.now).toEqual([expect.objectContaining({ state: 'quarantined', queueHolds: 1 })]);
  expect(await said(String(body.requestId))).toContain('400 unusable: data.shop_id');
});

test('an unknown kind is parked; redriven it is of its queue', async () => {
  const { body } = await partner.post({ event: 'example.unknown', data: {}, timestamp });
  const trace = await traced(body.eventId, () => true);
  expect(trace.timeline.now).toEqual([
    expect.objectContaining({ state: 'parked', queue: 'unrouted', queueHolds: 1 }),
  ]);
  expect(await said(String(body.eventId))).toContain('200 parked');
  await operator.empty();
  expect(await said(String(body.eventId))).toContain(
    'On the unrouted queue it was, and nothing is there now',
  );
  const payload = shopUpdated();
  const later = await partner.post({ ...payload, event: 'shop.closed' });
  await operator.empty();
  // As a stack that knows the event by now redrives it.
  const eventId = String(later.body.eventId);
  const attributes = { event: 'shop.updated', eventId, requestId: String(later.body.requestId) };
  await operator.put(stack.outputs.UnroutedQueueUrl, JSON.stringify(payload), attributes);
  expect(await redriveEach(operator.operation(), operator.queue('unrouted'))).toBe(true);
  expect(step(await traced(eventId), 'effect').origin).toEqual({ kind: 'redriven' });
});

test('what could not be made safe says what failed, and that it is repeated', async () => {
  const end = stack.faults.inject({ service: 'sqs', operation: 'SendMessage', kind: 'down' });
  const { body, status } = await partner.post(shopUpdated());
  end();
  expect(status).toBe(500);
  const trace = await traced(body.requestId, () => true);
  expect(kinds(trace)).toEqual(['received', 'answered']);
  expect(step(trace, 'answered')).toMatchObject({ status: 500, error: expect.stringMatching(/\w+/) });
  expect(await said(String(body.requestId))).toContain('the partner repeats what is answered 500');
});

test('a message that was sent by hand is told apart', async () => {
  const body = JSON.stringify(shopUpdated());
  await operator.put(stack.outputs.ShopUpdatedQueueUrl, body);
  const trace = await traced(idOf(body));
  expect(kinds(trace)).toEqual(['effect', 'archived']);
  expect(step(trace, 'effect').origin).toEqual({ kind: 'by hand' });
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
      const trace = await traced(id, () => true);
      expect(kinds(trace)).toEqual(['received', 'effect', 'archived', 'effect', 'archived']);
      expect(step(trace, 'received')).toMatchObject({ at: record.receivedAt, exact: true });
      expect(step(trace, 'effect', 1).origin).toMatchObject({ kind: 'replay', name: 'fill-1', notify: true });
      expect(trace.timeline.now).toEqual([expect.objectContaining({ state: 'done', outcome: 'Processed' })]);
      expect(trace.sources.logs.lines).toBe(0);
    },
  );

  test('is not found in another window, and the window is said', async () => {
    const since = new Date(Date.now() - HOUR);
    await expect(traceDelivery(operator.stack, record.eventId, { since, signal })).rejects.toThrow(
      `nor in the archive since ${since.toISOString()} (`,
    );
  });

  test('in an object that is damaged, is told as far as it can be read, and the object is named', async () => {
    const key = objectKey('damaged', 'shop.updated', settledAt.slice(0, 13));
    await putObject(operator.stack, key, Buffer.from('not gzip'));
    const operation = operator.operation();
    const done = await printTrace(operation, record.eventId, {
      json: false,
      since: undefined,
      until: undefined,
    });
    expect(done).toBe(false);
    expect(operation.said.join('\n')).toContain(
      `Damaged, and skipped from there on: ${key}: not gzip, or damaged`,
    );
    expect(operation.said.join('\n')).toContain('processed');
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
    await expect(failure).rejects.toThrow("'abcdef99' is of several events. One of: ");
    for (const id of ids) await expect(failure).rejects.toThrow(`${id} (shop.updated, `);
  });

  test('an id that nothing has: how far was looked, and who may know more', async () => {
    const failure = traceDelivery(operator.stack, 'q'.repeat(16), { signal });
    await expect(failure).rejects.toThrow(
      /^Nothing of 'q{16}' in the logs since \S+Z, nor in the archive since \S+Z \(\d+ records in \d+ objects/,
    );
    await expect(failure).rejects.toThrow(
      'API Gateway has answered it by itself, which its access log knows',
    );
  });

  test('a window without time', async () => {
    const until = new Date('2026-01-31T09:00:00Z');
    const since = new Date('2026-01-31T10:00:00Z');
    await expect(traceDelivery(operator.stack, 'a'.repeat(8), { since, until, signal })).rejects.toThrow(
      '--until must be after --since',
    );
  });

  test('a stack without a log group', async () => {
    const { UserUpdatedLogGroup: _, ...outputs } = operator.stack.outputs;
    await expect(traceDelivery(operator.stack.with({ outputs }), 'a'.repeat(8), { signal })).rejects.toThrow(
      'The stack has no output UserUpdatedLogGroup: deploy it again',
    );
  });
});
