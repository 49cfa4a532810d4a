import { randomUUID } from 'node:crypto';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { type Answer, Partner, signBody } from '../../../../test/support/partner.ts';
import { startTestStack } from '../../../../test/support/test-stack.ts';
import { deriveHistory } from '../../../stage/history/derive-history.ts';
import type { Fact } from '../../../stage/history/facts.ts';
import { findFacts } from '../../../stage/history/find-facts.ts';
import { findPayload } from '../../../stage/history/find-payload.ts';
import type { HistoryStep, StepKind } from '../../../stage/history/history.ts';
import { LocalFeed } from '../../../stage/history/local-feed.ts';
import { printTrace } from '../../../stage/history/print.ts';
import { printSearch } from '../../../stage/history/search.ts';
import { type Trace, traceDelivery } from '../../../stage/history/trace.ts';
import { awaitDeliveries } from '../../../stage/history/wait.ts';
import { redrive } from '../../../stage/queues/redrive.ts';
import { Project } from '../../commands/project.ts';
import { archived, objectKey, putObject, putRecords } from '../archive/support.ts';
import { Operator, refusalOf, replied } from '../queues/support.ts';
import { crashConsumer } from './support.ts';

const HOUR = 3_600_000;
const timestamp = '2026-01-31T09:00:00Z';
const shopUpdated = (more: object = {}, data: object = {}) => ({
  event: 'shop.updated',
  data: { shop_id: `shop-${randomUUID()}`, ...data },
  timestamp,
  ...more,
});

let feed: LocalFeed;
let stack: LocalStack;
let operator: Operator;
let partner: Partner;

beforeAll(async () => {
  feed = new LocalFeed();
  stack = await startTestStack({
    observer: feed,
    onLog: (line) => feed.onLog(line),
    environment: { FIRST_RETRY_DELAY_SECONDS: '1', MAXIMUM_RECEIVES: '2' },
  });
  feed.attach(stack);
  operator = await Operator.create(stack);
  partner = new Partner(stack.outputs.WebhookUrl);
});
afterEach(async () => {
  stack.faults.clear();
  await operator.empty();
});
afterAll(async () => {
  feed[Symbol.dispose]();
  await operator.close();
  await stack.close();
});

const { signal } = new AbortController();

/** Traces an id until its history is as expected. */
const traced = (id: unknown, wanted: (trace: Trace) => boolean = isDone, stage = operator.stack) =>
  eventually(
    async () => {
      const trace = await traceDelivery(stage, String(id), { signal }).catch(nothingYet);
      return trace !== undefined && wanted(trace) ? trace : undefined;
    },
    // Each try is a few dozen calls of AWS.
    { interval: 200 },
  );

function nothingYet(error: Error): undefined {
  if (!error.message.startsWith('Nothing was found')) throw error;
}

const kinds = ({ history }: Pick<Trace, 'history'>) => history.steps.map(({ kind }) => kind);
const state = ({ history }: Trace) => history.now[0].state;
const isArchived = (trace: Trace) => kinds(trace).at(-1) === 'archived';
const isDone = (trace: Trace) => ['processed', 'skipped'].includes(state(trace)) && isArchived(trace);
const isOnce = () => true;
const hasArchived = (count: number) => (trace: Trace) =>
  isDone(trace) && kinds(trace).filter((kind) => kind === 'archived').length === count;

/** A step of a kind. Fails if the history has none. */
function step({ history }: Trace, wanted: StepKind, index = 0): HistoryStep {
  const found = history.steps.filter(({ kind }) => kind === wanted).at(index);
  if (found === undefined) throw new Error(`No step ${wanted} in ${JSON.stringify(history)}`);
  return found;
}

async function printed(id: unknown, { json = false, stage = operator.stack } = {}) {
  const operation = { ...operator.operation(), stack: stage };
  const isWhole = await printTrace(operation, String(id), { json, since: undefined, until: undefined });
  return { text: operation.said.join('\n'), isWhole };
}

/**
 * The history from the observers of a local stack, when they know as much as a trace. Only the archive has its records.
 */
async function observed(trace: Trace) {
  const eventId = trace.history.eventId ?? '';
  const facts = (await findFacts(operator.stack, eventId, { signal }))?.facts ?? [];
  const records = facts.filter(({ kind }: Fact) => kind === 'record');
  return eventually(async () => {
    const history = deriveHistory([...feed.store.facts({ eventId }), ...records]);
    const isAsFar =
      history.steps.length === trace.history.steps.length && history.now[0].state === state(trace);
    return isAsFar ? history : undefined;
  });
}

/**
 * Steps whose times both feeds know exactly. The time of receipt comes from the local gateway until the archive has it.
 */
const withoutReceipt = ({ steps }: Pick<Trace['history'], 'steps'>) =>
  steps.filter(({ kind }) => kind !== 'received');

const deliveriesOf = (answers: readonly Answer[]) =>
  answers.map(({ body }) => ({ eventId: String(body.eventId), requestId: String(body.requestId) }));

/** Waits for a delivery as `npx hookctl send --wait` does. */
async function awaited(answer: Answer) {
  const operation = operator.operation();
  const since = new Date(Date.now() - 1_000);
  const isGood = await awaitDeliveries(operation, deliveriesOf([answer]), { since, seconds: 60 });
  const text = operation.said.join('\n');
  return { isGood, text, titles: [...text.matchAll(/● ([a-z]+(?: letter)?)/g)].map(([, title]) => title) };
}

const RECEIVED: StepKind[] = ['received', 'queued', 'answered'];
const ONCE: StepKind[] = [...RECEIVED, 'processed', 'archived'];

describe('a processed delivery', () => {
  let answer: Answer;
  let trace: Trace;
  // Its quotation mark is escaped in the payload.
  const webhookId = `w"é${randomUUID()}`;

  beforeAll(async () => {
    answer = await partner.post(shopUpdated({ webhookId }));
    trace = await traced(answer.body.eventId);
  });

  test('shows its receipt, queue, answer, attempts and archive record', async () => {
    expect(trace.history).toMatchObject({
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
    });
    const received = step(trace, 'received');
    expect(received.atTheLatest).toBeUndefined();
    const { at, latencyMs = 0 } = step(trace, 'processed');
    expect(Math.abs(Date.parse(at) - latencyMs - Date.parse(received.at))).toBeLessThan(10_000);
    expect(await observed(trace)).toEqual(trace.history);
  });

  test.each([
    ['the first eight characters of its event id', () => String(answer.body.eventId).slice(0, 8), 'eventId'],
    ['its event id in capitals', () => String(answer.body.eventId).toUpperCase(), 'eventId'],
    ['the beginning of its request id', () => String(answer.body.requestId).slice(0, 8), 'requestId'],
    ['the beginning of its message id', () => step(trace, 'processed').messageId?.slice(0, 8), 'messageId'],
    ['the partner’s webhookId', () => webhookId, 'webhookId'],
  ])('is found by %s', async (_, id, idIs) => {
    expect(await traced(id())).toMatchObject({ idIs, history: trace.history });
  });

  test('is printed as JSON for programs', async () => {
    const { text } = await printed(answer.body.eventId, { json: true });
    expect(JSON.parse(text).history).toEqual(JSON.parse(JSON.stringify(trace.history)));
  });

  test.each([
    { wrong: { ArchiveBucket: 'not-mine' }, named: 'The archive could not be read: NoSuchBucket' },
    {
      wrong: { ReceiverLogGroup: 'not-mine' },
      named: 'The logs could not be read, so rejected requests and failed attempts are missing: ',
    },
  ])('is shown without a source that may not be read, which is named: $wrong', async ({ wrong, named }) => {
    const stage = operator.stack.with({ outputs: { ...operator.stack.outputs, ...wrong } });
    const { text, isWhole } = await printed(answer.body.eventId, { stage });
    expect(text).toContain('Processed: ');
    expect(text).toContain(named);
    expect(isWhole).toBe(false);
  });

  test('is found in the logs if the stage keeps no archive, but not by its webhookId', async () => {
    const { ArchiveBucket: _, ...outputs } = operator.stack.outputs;
    const stage = operator.stack.with({ outputs });
    expect((await printed(answer.body.eventId, { stage })).text).toContain('The stage has no archive');
    await expect(traceDelivery(stage, webhookId, { signal })).rejects.toThrow('The stage has no archive');
  });
});

test('a processed delivery stays processed if the same bytes come again and are replayed', async () => {
  const body = shopUpdated();
  const first = await partner.post(body);
  await traced(first.body.eventId);
  const second = await partner.post(body);
  const trace = await traced(first.body.eventId, hasArchived(2));
  expect(kinds(trace)).toEqual([...ONCE, ...RECEIVED, 'skipped', 'archived']);
  expect(step(trace, 'received', 1).requestId).toBe(second.body.requestId);
  expect(step(trace, 'skipped')).toMatchObject({ reason: 'already-processed', origin: { kind: 'delivery' } });
  expect(await observed(trace)).toEqual(trace.history);
  // The request id of one delivery finds both deliveries.
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
});

describe('while a table is throttled', () => {
  test('a dead letter says when SQS deletes it; after a redrive it is processed', async () => {
    stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
    const answer = await partner.post(shopUpdated());
    const { isGood, text, titles } = await awaited(answer);
    expect({ isGood, titles }).toEqual({
      isGood: false,
      titles: ['received', 'queued', 'answered', 'failed', 'dead letter'],
    });
    expect(text).toMatch(/\nDead letter: .* It is on the dead-letter queue of shop\.updated\./);
    stack.faults.clear();
    const { eventId } = answer.body;
    const dead = await traced(eventId, (trace) => state(trace) === 'dead-letter' && isArchived(trace));
    expect(dead.history.now).toMatchObject([
      { state: 'dead-letter', queue: 'shop.updated', attempts: 2, until: expect.any(String) },
    ]);
    expect(withoutReceipt(await observed(dead))).toEqual(withoutReceipt(dead.history));
    // Only the queue knows the id of a dead letter, which is a new message.
    const [deadLetter] = await stack.inspectQueue(stack.outputs.ShopUpdatedDeadLetterQueueUrl ?? '');
    expect(await traced(deadLetter?.id.slice(0, 8), isOnce)).toMatchObject({
      idIs: 'messageId',
      history: dead.history,
    });
    await redrive(operator.operation(), operator.queue('shop.updated'));
    const trace = await traced(eventId);
    expect(kinds(trace)).toEqual([...kinds(dead), 'processed', 'archived']);
    expect(step(trace, 'processed')).toMatchObject({ attempt: 1, origin: { kind: 'redriven' } });
  });
});

// SQS gives the message up after two visibility timeouts of at least one second each.
test('a dead letter of a consumer that crashes shows the crashes, also after its redrive', async () => {
  const restore = await crashConsumer(stack, operator, 'girl.deleted', 2);
  const answer = await partner.post({ event: 'girl.deleted', data: { girl_id: randomUUID() }, timestamp });
  const { isGood, text, titles } = await awaited(answer);
  expect({ isGood, titles }).toEqual({
    isGood: false,
    titles: ['received', 'queued', 'answered', 'crashed', 'crashed', 'dead letter'],
  });
  expect(text).toContain(
    'Dead letter: The function crashed, timed out, or was throttled, without a log line. It is on the dead-letter queue of girl.deleted.',
  );
  const { eventId } = answer.body;
  const dead = await traced(eventId, (trace) => state(trace) === 'dead-letter');
  expect(kinds(dead)).toEqual([...RECEIVED, 'crashed', 'crashed', 'dead-lettered']);
  // Only the local stack knows when and why the function ended.
  const { steps, now } = await observed(dead);
  expect(steps.map(({ kind }) => kind)).toEqual(kinds(dead));
  expect(now[0].error).toBe('The function crashed (Runtime.ExitError)');

  await restore();
  await redrive(operator.operation(), operator.queue('girl.deleted'));
  const trace = await traced(eventId);
  const redriven: StepKind[] = [...kinds(dead), 'processed', 'archived'];
  // If processing takes longer than the short visibility timeout, the message arrives again and is skipped.
  expect(kinds(trace).slice(0, redriven.length)).toEqual(redriven);
  expect(step(trace, 'processed').origin).toEqual({ kind: 'redriven' });
});

test('a request with a wrong signature shows the reason, and nothing of its content', async () => {
  const body = shopUpdated();
  const signature = signBody(body, 'another-secret');
  const rejected = await partner.post(body, { signature });
  const trace = await traced(rejected.body.requestId, isOnce);
  expect(kinds(trace)).toEqual(['received', 'answered']);
  expect(step(trace, 'answered')).toMatchObject({ status: 401, rejection: 'wrong signature' });
  expect(trace.history.now).toMatchObject([{ state: 'rejected', status: 401 }]);
  expect(JSON.stringify(trace)).not.toContain(signature);
  await expect(findPayload(operator.stack, String(rejected.body.requestId), signal)).rejects.toThrow(
    'It was not accepted, so its bytes were not stored and cannot be sent again',
  );
  // The partner repeats the delivery, which brings the same event.
  await partner.post(body);
  const steps = kinds(await traced(rejected.body.requestId, hasArchived(1)));
  expect(steps.slice(0, 3)).toEqual(['received', 'answered', 'received']);
  expect(steps).toContain('queued');
});

test('an unusable delivery is in quarantine with its fields and bytes, also if the logs may not be read', async () => {
  const payload = { event: 'shop.updated', data: { shop_id: '' }, timestamp };
  const { body } = await partner.post(payload);
  const trace = await traced(body.requestId, isOnce);
  expect(kinds(trace)).toEqual(RECEIVED);
  expect(step(trace, 'answered')).toMatchObject({ status: 400, fields: ['data.shop_id'] });
  expect(trace.history.now).toMatchObject([{ state: 'invalid', until: expect.any(String) }]);
  expect(withoutReceipt(await observed(trace))).toEqual(withoutReceipt(trace.history));
  const outputs = { ...operator.stack.outputs, ReceiverLogGroup: 'not-mine' };
  const byQueue = await traced(body.requestId, isOnce, operator.stack.with({ outputs }));
  expect(byQueue.history).toMatchObject({ now: [{ state: 'invalid', queue: 'quarantine' }] });
  const found = await findPayload(operator.stack, String(body.requestId), signal);
  expect(found).toMatchObject({ from: 'the quarantine queue', bytes: Buffer.from(JSON.stringify(payload)) });
});

test('an event of an unknown kind is parked, until somebody deletes it', async () => {
  const { body } = await partner.post({ event: 'example.unknown', data: { at: randomUUID() }, timestamp });
  const trace = await traced(body.eventId, isOnce);
  expect(trace.history.now).toMatchObject([
    { state: 'parked', queue: 'unrouted', until: expect.any(String) },
  ]);
  expect(withoutReceipt(await observed(trace))).toEqual(withoutReceipt(trace.history));
  await operator.empty();
  await traced(body.eventId, (one) => state(one) === 'removed');
  expect((await printed(body.eventId)).text).toContain(
    'Removed: It was redriven or deleted. It was not on the unrouted queue at ',
  );
});

describe('an event that is no longer in the logs', () => {
  const settledAt = new Date(Date.now() - 50 * HOUR).toISOString();
  const webhookId = 'webhook-of-last-week';
  const record = archived({
    eventId: sha256Hex('of last week'),
    requestId: 'request-of-last-week=',
    receivedAt: new Date(Date.now() - 51 * HOUR).toISOString(),
    settledAt,
    body: JSON.stringify(shopUpdated({ webhookId })),
  });

  beforeAll(async () => {
    const { body: _, ...replayed } = record;
    const replay = { name: 'fill-1', mode: 'fill', notify: true } as const;
    const later = { ...replayed, replay, settledAt: new Date(Date.now() - 30 * HOUR).toISOString() };
    await putRecords(operator.stack, objectKey('old', 'shop.updated', settledAt.slice(0, 13)), [
      record,
      archived({ ...record, eventId: `${'f'.repeat(60)}0000`, requestId: 'another', body: '{}' }),
    ]);
    const key = objectKey('replayed', 'shop.updated', later.settledAt.slice(0, 13));
    await putRecords(operator.stack, key, [later]);
  });

  test.each([record.eventId.slice(0, 10), record.requestId, webhookId])(
    'is read from the archive: %s',
    async (id) => {
      const trace = await traced(id, isOnce);
      expect(kinds(trace)).toEqual(['received', 'processed', 'archived', 'processed', 'archived']);
      expect(step(trace, 'received').at).toBe(record.receivedAt);
      const origin = { kind: 'replay', name: 'fill-1', notify: true };
      expect(step(trace, 'processed', 1)).toMatchObject({ origin });
      expect(state(trace)).toBe('processed');
      expect(trace.sources.logs.lines).toBe(0);
    },
  );

  test('is not found in another window, which is named', async () => {
    const since = new Date(Date.now() - HOUR);
    await expect(traceDelivery(operator.stack, record.eventId, { since, signal })).rejects.toThrow(
      `the archive since ${since.toISOString()} (`,
    );
  });

  test('is shown as far as a damaged object can be read, which is named', async () => {
    const key = objectKey('damaged', 'shop.updated', settledAt.slice(0, 13));
    await putObject(operator.stack, key, Buffer.from('not gzip'));
    const { text, isWhole } = await printed(record.eventId);
    expect(isWhole).toBe(false);
    expect(text).toContain(`Damaged, and skipped from there on: ${key}: not gzip, or damaged`);
    expect(text).toContain('processed');
  });
});

describe('trace cannot find', () => {
  test('an id with which several events begin: they are named', async () => {
    const ids = ['1', '2'].map((end) => `abcdef99${end.repeat(56)}`);
    for (const eventId of ids) {
      await operator.put(stack.outputs.ShopUpdatedQueueUrl, JSON.stringify(shopUpdated()), { eventId });
    }
    for (const eventId of ids) await traced(eventId);
    const failure = traceDelivery(operator.stack, 'abcdef99', { signal });
    await expect(failure).rejects.toThrow("'abcdef99' matches several events. One of: ");
    for (const id of ids) await expect(failure).rejects.toThrow(`${id} (shop.updated, `);
  });

  test('an unknown id: it says where it searched, and who may know more', async () => {
    const failure = traceDelivery(operator.stack, 'q'.repeat(16), { signal });
    expect((await refusalOf(failure)).split('\n')).toEqual([
      `Nothing was found for '${'q'.repeat(16)}'.`,
      expect.stringMatching(/^Searched: the logs since \S+Z\.$/),
      expect.stringMatching(/^Searched: the archive since \S+Z \(\d+ records in \d+ objects.*\)\.$/),
      'Searched: the dead-letter, quarantine and unrouted queues.',
      expect.stringMatching(/^The search ends at \S+Z\. --since and --until change the window\.$/),
      'The request may never have arrived, or API Gateway answered it itself: see its access log.',
      'The archive has an event some minutes after its effect.',
    ]);
  });

  test('an empty id, or in a window that ends before it begins', async () => {
    await expect(printed('')).rejects.toThrow(
      'The id is empty: give an event id, a request id, a message id or a webhookId',
    );
    const window = { since: new Date('2026-01-31'), until: new Date('2026-01-30') };
    await expect(printTrace(operator.operation(), 'abcdef01', { json: false, ...window })).rejects.toThrow(
      /^--until must be after --since: /,
    );
  });
});

test('an interruption stops the Logs Insights query, which is paid by what it scans', async () => {
  const interruption = new AbortController();
  const asked: string[] = [];
  const answers: Readonly<Record<string, object>> = {
    DescribeLogGroupsCommand: { logGroups: [] },
    StartQueryCommand: { queryId: 'query-1' },
    GetQueryResultsCommand: { status: 'Running', results: [], statistics: {} },
    StopQueryCommand: { success: true },
  };
  const logs = replied(new CloudWatchLogsClient(stack.operator), (name) => {
    asked.push(name);
    if (name === 'GetQueryResultsCommand') interruption.abort();
    return answers[name];
  });
  const operation = operator.operation(interruption.signal);
  const options = { json: false, since: undefined, until: undefined };
  await printTrace({ ...operation, stack: operator.stack.with({ logs }) }, 'abcdef01', options);
  expect(operation.said).toEqual(['Interrupted. The query of the logs is stopped, and nothing was changed.']);
  expect(asked.at(-1)).toBe('StopQueryCommand');
});

describe('waiting for deliveries', () => {
  test('returns each history for programs, with repeated bytes as another delivery', async () => {
    const body = shopUpdated();
    const deliveries = deliveriesOf([await partner.post(body), await partner.post(body)]);
    const traces: Trace[] = [];
    const options = { since: new Date(), seconds: 60, onTrace: (trace: Trace) => traces.push(trace) };
    expect(await awaitDeliveries(operator.operation(), deliveries, options)).toBe(true);
    for (const [index, { eventId, requestId }] of deliveries.entries()) {
      const now = [{ state: expect.stringMatching(/^(processed|skipped)$/) }];
      expect(traces[index]).toMatchObject({ id: eventId, idIs: 'eventId', history: { now } });
      expect(new Set(traces[index]?.history.steps.map((one) => one.requestId))).toEqual(new Set([requestId]));
    }
  });

  // Takes 7 s: dead letters are searched only after 5 s without a line.
  test('names deliveries that are still on their way after the time limit, and searches nothing more', async () => {
    const posted = [1, 2, 3].map(() => partner.post(shopUpdated()));
    const deliveries = deliveriesOf(await Promise.all(posted));
    const since = new Date();
    const seconds = 7;
    let limit: AbortSignal | undefined;
    const searchedAfterLimit: boolean[] = [];
    const sqs = replied(new SQSClient(stack.operator), (_, { QueueUrl }) => {
      if (QueueUrl !== stack.outputs.ShopUpdatedDeadLetterQueueUrl) return;
      searchedAfterLimit.push(limit?.aborted === true);
    });
    const operation = { ...operator.operation(), stack: operator.stack.with({ sqs }) };
    // Without the lines of its consumer, a delivery never settles.
    const ended = awaitDeliveries(operation, deliveries, { since, seconds, functions: ['receiver'] });
    // Begins after the command's own limit, so a search that is in time for the command is in time here.
    limit = AbortSignal.timeout(seconds * 1000);
    expect(await ended).toBe(false);
    sqs.destroy();
    expect(operation.said.join('\n')).toMatch(
      /● answered.*\nIt has not settled after 7 s\.\nQueued: It has waited on the queue of shop\.updated/s,
    );
    expect(searchedAfterLimit).not.toContain(true);
  });
});

describe('a list', () => {
  async function listed(filter: Parameters<typeof printSearch>[1], stage = operator.stack) {
    const operation = { ...operator.operation(), stack: stage };
    const times = { json: false, since: undefined, until: undefined };
    return { isWhole: await printSearch(operation, filter, times), text: operation.said.join('\n') };
  }

  test('has the deliveries of exactly this shop, or with a text in their payload, without payloads', async () => {
    const shop = `Shop-${randomUUID()}`;
    const { body } = await partner.post(shopUpdated({}, { shop_id: shop, name: `say "${shop}"` }));
    await traced(body.eventId);
    for (const filter of [{ shop }, { search: `SAY "${shop}`.toUpperCase() }, { shop, search: shop }]) {
      const { text } = await listed(filter);
      expect(text).toMatch(/^1 delivery /);
      expect(text).toMatch(
        new RegExp(`shop\\.updated +${shop} +Processed +${RegExp.escape(String(body.requestId))}`),
      );
      expect(text).toContain('Payloads that wait on a queue or are too large');
      expect(text).not.toContain('say');
    }
    // Another shop's id may begin with this text.
    const { text } = await listed({ shop: shop.slice(0, -1) });
    expect(text).toMatch(/^No delivery of shop '.*' in the archive\.\n/);
  });

  test('names sources that may not be read', async () => {
    const stage = operator.stack.with({ outputs: { ...operator.outputs, ArchiveBucket: 'not-mine' } });
    const { isWhole, text } = await listed({ search: 'x' }, stage);
    expect(isWhole).toBe(false);
    expect(text).toContain('The archive, which has the payloads, could not be read: NoSuchBucket');
  });
});

describe('the commands', () => {
  let project: Project;
  beforeAll(async () => {
    project = await Project.create();
  });
  afterAll(() => project.remove());
  const run = (...args: string[]) => project.run([...args, '--outputs', operator.outputsFile]);

  test('send --wait signs with the secret of the stack, and prints the history until the effect', async () => {
    const { code, stdout, stderr } = await run('send', 'shop.updated', '--wait');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^200 queued {2}event [0-9a-f]{64} {2}request \S+\n\nshop\.updated /);
    expect(stdout).toMatch(/\nProcessed: Finished at \S+\.\n$/);
  });

  test('send --wait does not wait if the delivery is not accepted', async () => {
    const { code, stdout } = await run('send', 'shop.updated', '--wait', '--bad-signature');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^401 .*\n$/) });
  });

  test('send --again sends the bytes of the payload bucket again', async () => {
    const { body } = await partner.post(shopUpdated({}, { name: 'x'.repeat(1_200_000) }));
    await traced(body.eventId);
    const { code, stdout, stderr } = await run(
      'send',
      '--again',
      String(body.requestId).slice(0, 8),
      '--wait',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^Sending event [0-9a-f]{64} \(shop\.updated, \d+ bytes\) again, from the archive\.\n200 queued /,
    );
    expect(stdout).toContain(` event ${body.eventId} `);
    expect(stdout).toMatch(/\nSkipped: This event was processed before\.\n$/);
  });
});
