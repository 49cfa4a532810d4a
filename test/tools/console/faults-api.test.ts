import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { eventually } from '../../support/eventually.ts';
import { Partner } from '../../support/partner.ts';
import { shopUpdated } from '../stage/queues/support.ts';
import { startTestConsole, type TestConsole } from './support.ts';

let running: TestConsole;

beforeAll(async () => {
  // What the event sources say of it is no problem of the test.
  running = await startTestConsole({ warmUp: true, onProblem: () => {} });
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
});
afterEach(() => running.stack.faults.clear());

const faults = async () => (await running.api.get('/api/faults')).body;
test('a fault hits calls until it is ended', async () => {
  expect(await faults()).toEqual({ active: [], functions: ['receiver', ...eventNames] });
  const { status, body } = await running.api.post('/api/faults', { service: 'sqs', kind: 'throttled' });
  expect({ status, body }).toEqual({
    status: 201,
    body: { id: expect.any(String), service: 'sqs', kind: 'throttled', hits: 0 },
  });
  const partner = new Partner(running.stack.outputs.WebhookUrl);
  expect(await partner.post(shopUpdated('shop-1'))).toMatchObject({ status: 500 });
  const { active } = await faults();
  expect(active).toMatchObject([{ id: body.id }]);
  expect(active[0].hits).toBeGreaterThan(0);

  expect(await running.api.delete(`/api/faults/${body.id}`)).toMatchObject({ status: 204 });
  expect(await running.api.delete(`/api/faults/${body.id}`)).toMatchObject({ status: 404 });
  expect(await partner.post(shopUpdated('shop-1'))).toMatchObject({ status: 200 });
});

test('all faults end together', async () => {
  await running.api.post('/api/faults', { service: 'dynamodb', kind: 'slow', milliseconds: 5, share: 0.5 });
  await running.api.post('/api/faults', { service: 's3', kind: 'down' });
  expect((await faults()).active).toMatchObject([{ milliseconds: 5, share: 0.5 }, { service: 's3' }]);
  expect(await running.api.delete('/api/faults')).toMatchObject({ status: 204 });
  expect((await faults()).active).toEqual([]);
});

test.each([
  [{ service: 'sqs', kind: 'slow' }, "'slow' needs its milliseconds"],
  [{ service: 'sqs', kind: 'broken' }, 'kind: Invalid option: expected one of'],
  [{ service: 'sqs', kind: 'down', share: 2 }, 'share: Too big'],
  [{ service: 'sqs', kind: 'down', callers: 'everyone' }, 'callers'],
  [{ service: 'sqs', kind: 'records-refused' }, "'records-refused' is of Firehose's PutRecordBatch"],
  ['down', 'The body: '],
])('of %j nothing is switched on', async (settings, detail) => {
  const { status, body } = await running.api.post('/api/faults', settings);
  expect({ status, detail: body.detail }).toEqual({ status: 400, detail: expect.stringContaining(detail) });
  expect((await faults()).active).toEqual([]);
});

test('a function that is killed at its next invocation does not do what it was to', async () => {
  const kill = (name: string, next: boolean) => running.api.post(`/api/functions/${name}/kill`, { next });
  expect(await kill('receiver', true)).toMatchObject({ status: 204 });
  const partner = new Partner(running.stack.outputs.WebhookUrl);
  expect(await partner.post(shopUpdated('shop-2'))).toMatchObject({ status: 500 });
  expect(await partner.post(shopUpdated('shop-2'))).toMatchObject({ status: 200 });

  const target = running.stack.functions.get('review-posted')?.function;
  expect(target?.environments).toBe(1);
  expect(await kill('review.posted', false)).toMatchObject({ status: 204 });
  await eventually(async () => target?.environments === 0 || undefined);
  expect(await kill('payment.made', false)).toMatchObject({ status: 404 });
});
