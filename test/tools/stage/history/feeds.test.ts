import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { Faults } from '../../../../local/aws/faults.ts';
import type { LocalStack } from '../../../../local/local-stack.ts';
import type { Fact } from '../../../../tools/stage/history/facts.ts';
import { findFacts } from '../../../../tools/stage/history/find-facts.ts';
import { fold } from '../../../../tools/stage/history/fold.ts';
import type { History, State } from '../../../../tools/stage/history/history.ts';
import { LocalFeed } from '../../../../tools/stage/history/local-feed.ts';
import { redriveAll } from '../../../../tools/stage/queues/redrive-all.ts';
import { eventually } from '../../../support/eventually.ts';
import { Partner } from '../../../support/partner.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { Operator } from '../queues/support.ts';
import { crashConsumer } from './crashing-consumer.ts';

/** Starts of the stack, and a message that SQS gives up, take more than Jest's 5 s. */
jest.setTimeout(60_000);

let stack: LocalStack;
let feed: LocalFeed;
let operator: Operator;
let partner: Partner;
const faults = new Faults();
const { signal } = new AbortController();

beforeAll(async () => {
  feed = new LocalFeed();
  stack = await startTestStack({
    faults,
    observer: feed,
    onLog: (line) => feed.onLog(line),
    environment: { FIRST_RETRY_DELAY_SECONDS: '1', MAXIMUM_RECEIVES: '2' },
  });
  feed.attach(stack);
  operator = await Operator.create(stack);
  partner = new Partner(stack.outputs.WebhookUrl);
});
afterAll(async () => {
  feed[Symbol.dispose]();
  await operator.close();
  await stack.close();
});

const timestamp = '2026-01-31T09:00:00Z';

let shops = 0;
function shopUpdated() {
  shops += 1;
  return { event: 'shop.updated', data: { shop_id: `shop-${shops}` }, timestamp };
}

/** @returns the id of the event */
async function post(payload: object): Promise<string> {
  await partner.post(payload);
  return sha256Hex(JSON.stringify(payload));
}

/** Only the archive has its records, so they are of both feeds. */
const isRecord = ({ kind }: Fact) => kind === 'record';

const kinds = ({ steps }: History) => steps.map(({ kind }) => kind);

/** What each feed knows of an event, once the AWS feed says so. */
async function histories(
  eventId: string,
  state: State,
  steps = 0,
): Promise<{ aws: History; local: History }> {
  return eventually(
    async () => {
      const found = await findFacts(operator.stack, eventId, { signal }).catch(() => undefined);
      const aws = fold(found?.facts ?? []);
      if (aws.now[0].state !== state || aws.steps.length < steps) return undefined;
      const local = fold([...feed.store.facts({ eventId }), ...(found?.facts ?? []).filter(isRecord)]);
      // The local feed looks at dead-letter queues each second.
      return local.now[0].state === state && local.steps.length === aws.steps.length
        ? { aws, local }
        : undefined;
    },
    { interval: 200, limit: 20_000 },
  );
}

test('an ordinary delivery has the same history by both feeds', async () => {
  const { aws, local } = await histories(await post(shopUpdated()), 'processed', 5);
  expect(kinds(aws)).toEqual(['received', 'queued', 'answered', 'processed', 'archived']);
  expect(local).toEqual(aws);
});

test('so has one that came twice', async () => {
  const payload = shopUpdated();
  const eventId = await post(payload);
  await histories(eventId, 'processed', 5);
  await post(payload);
  const { aws, local } = await histories(eventId, 'processed', 10);
  expect(aws.steps.find(({ kind }) => kind === 'skipped')).toMatchObject({ reason: 'already-processed' });
  expect(local).toEqual(aws);
});

test('so has one that failed to the end', async () => {
  faults.inject({ service: 'dynamodb', kind: 'down' });
  const eventId = await post(shopUpdated());
  const { aws, local } = await histories(eventId, 'dead-letter', 6);
  faults.clear();
  expect(kinds(aws)).toEqual(['received', 'queued', 'answered', 'failed', 'dead-lettered', 'archived']);
  // When SQS deletes it is known by a look at the queue.
  expect(local).toEqual({ ...aws, now: [{ ...aws.now[0], until: undefined }] });
});

test.each([
  ['is invalid', { event: 'shop.updated', data: {}, timestamp: 'yesterday' }, 'invalid'],
  ['is of an unknown kind', { event: 'example.unknown', data: {}, timestamp }, 'parked'],
] as const)('so has one that %s', async (_, payload, state) => {
  const { aws, local } = await histories(await post(payload), state);
  expect(withoutReceipt(local)).toEqual(withoutReceipt(aws));
});

test('so has one that crashes its consumer until SQS moves it, and is redriven', async () => {
  const restore = await crashConsumer(stack, operator, 'user.updated', 3);
  const eventId = await post({ event: 'user.updated', data: { user_id: 'user-1' }, timestamp });
  const { aws, local } = await histories(eventId, 'dead-letter');
  expect(
    aws.steps.filter(({ kind }) => kind === 'crashed').map(({ attempt, error }) => [attempt, error]),
  ).toEqual([1, 2, 3].map((attempt) => [attempt, 'Runtime.ExitError']));
  expect(withoutReceipt(local).steps).toEqual(withoutReceipt(aws).steps);

  await restore();
  await redriveAll(operator.operation(), operator.queue('user.updated'));
  const redriven = await histories(eventId, 'processed');
  expect(redriven.aws.steps.find(({ kind }) => kind === 'processed')).toMatchObject({
    attempt: 1,
    origin: { kind: 'redriven' },
  });
  expect(redriven.aws.steps.filter(({ kind }) => kind === 'crashed')).toHaveLength(3);
});

/** The receipt is exact by the local gateway only, until the archive has it. */
function withoutReceipt({ steps, now: [{ until: _, ...place }] }: History) {
  return { place, steps: steps.filter(({ kind }) => kind !== 'received') };
}
