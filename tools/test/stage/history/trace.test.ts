import { randomUUID } from 'node:crypto';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { type Answer, Partner, signBody } from '../../../../test/support/partner.ts';
import { startTestStack } from '../../../../test/support/test-stack.ts';
import { findPayload } from '../../../stage/history/find-facts.ts';
import { queueOf } from '../../../stage/history/history.ts';
import { LocalFeed } from '../../../stage/history/local-feed.ts';
import { searchLogs, windowOf } from '../../../stage/history/log-search.ts';
import { printSearch, printTrace } from '../../../stage/history/print-trace.ts';
import { type Trace, traceDelivery } from '../../../stage/history/trace.ts';
import { redrive } from '../../../stage/queues/redrive.ts';
import { archived, objectKey, putObject, putRecords } from '../archive/support.ts';
import { Operator, refusalOf, replied } from '../queues/support.ts';

const HOUR = 3_600_000;
const timestamp = '2026-01-31T09:00:00Z';
const shop = `Shop-${randomUUID()}`;
const shopUpdated = (data: object = {}) => ({
  event: 'shop.updated',
  data: { shop_id: `shop-${randomUUID()}`, ...data },
  timestamp,
});
const toReject = shopUpdated();
const unusable = { event: 'shop.updated', data: { shop_id: '' }, timestamp };

let feed: LocalFeed;
let stack: LocalStack;
let operator: Operator;
let sent: Readonly<Record<'processed' | 'rejected' | 'unusable' | 'unknown' | 'dead', Answer['body']>>;

// All deliveries are sent at first, because their records reach the archive only after seconds.
beforeAll(async () => {
  feed = new LocalFeed();
  stack = await startTestStack({
    observer: feed,
    onLog: (line) => feed.onLog(line),
    environment: { FIRST_RETRY_DELAY_SECONDS: '1', MAXIMUM_RECEIVES: '2' },
  });
  feed.attach(stack);
  operator = await Operator.create(stack);
  const partner = new Partner(stack.outputs.WebhookUrl);
  const post = async (body: unknown, options = {}) => (await partner.post(body, options)).body;
  stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
  const dead = await post({ event: 'girl.deleted', data: { girl_id: randomUUID() }, timestamp });
  await traced(dead.eventId, (trace) => state(trace) === 'dead-letter');
  stack.faults.clear();
  sent = {
    dead,
    processed: await post(shopUpdated({ shop_id: shop, name: `say "${shop}"` })),
    rejected: await post(toReject, { signature: signBody(toReject, 'another-secret') }),
    unusable: await post(unusable),
    unknown: await post({ event: 'example.unknown', data: { at: randomUUID() }, timestamp }),
  };
  await traced(sent.processed.eventId, (trace) => kinds(trace).includes('archived'));
});
afterAll(async () => {
  feed[Symbol.dispose]();
  await operator.close();
  await stack.close();
});

const { signal } = new AbortController();

/** Traces an id until its history is as expected. */
const traced = (id: unknown, wanted: (trace: Trace) => boolean = () => true, stage = operator.stack) =>
  eventually(
    async () => {
      const trace = await traceDelivery(stage, String(id), { signal }).catch((error: Error) => {
        if (!error.message.startsWith('Nothing was found')) throw error;
      });
      return trace !== undefined && wanted(trace) ? trace : undefined;
    },
    // Each try is a few dozen calls of AWS.
    { interval: 200 },
  );

const kinds = ({ history }: Pick<Trace, 'history'>) => history.steps.map(({ kind }) => kind);
const state = ({ history }: Trace) => history.now[0].state;
const without = (name: string) =>
  operator.stack.with({ outputs: { ...operator.stack.outputs, [name]: 'not-mine' } });

async function printed(id: unknown, { json = false, stage = operator.stack } = {}) {
  const operation = { ...operator.operation(), stack: stage };
  const isWhole = await printTrace(operation, String(id), { json });
  return { text: operation.said.join('\n'), isWhole };
}

describe('a processed delivery', () => {
  test('shows its receipt, queue, answer, attempt and archive record', async () => {
    const trace = await traced(sent.processed.eventId);
    expect(trace.history).toMatchObject({
      event: 'shop.updated',
      shopId: shop,
      timestamp: expect.any(String),
      steps: [
        { kind: 'received', requestId: sent.processed.requestId },
        { kind: 'queued', queue: 'shop.updated' },
        { kind: 'answered', status: 200 },
        { kind: 'processed', attempt: 1, origin: { kind: 'delivery' } },
        { kind: 'archived', object: expect.stringMatching(/^event=shop\.updated\/date=/) },
      ],
      now: [{ state: 'processed' }],
    });
  });

  test('is found by the beginning of each id, and printed as JSON', async () => {
    const { history } = await traced(sent.processed.eventId);
    const { messageId = '' } = history.steps.find(({ kind }) => kind === 'processed') ?? {};
    const { eventId, requestId } = sent.processed;
    const short = [eventId, requestId, messageId].map((id) => String(id).slice(0, 8));
    for (const id of [...short, String(eventId).toUpperCase()]) {
      const { text } = await printed(id, { json: true });
      expect(JSON.parse(text).history).toEqual(JSON.parse(JSON.stringify(history)));
    }
  });

  test('is shown without a source that may not be read, which is named', async () => {
    const { eventId } = sent.processed;
    for (const [name, problem] of [
      ['ArchiveBucket', 'The archive could not be read: NoSuchBucket'],
      [
        'ReceiverLogGroup',
        'The logs could not be read, so rejected requests and failed attempts are missing: ',
      ],
    ] as const) {
      const { text, isWhole } = await printed(eventId, { stage: without(name) });
      expect(text).toContain('Processed: ');
      expect(text).toContain(problem);
      expect(isWhole).toBe(false);
    }
    const { ArchiveBucket: _, ...outputs } = operator.stack.outputs;
    for (const [archive, source] of [
      [{}, /The stage has no archive \(archive\.days is 0\)\.$/],
      [
        { ArchiveBucket: String(outputs.PayloadBucket) },
        /0 objects\. A record may be missing: Firehose .*\.$/,
      ],
    ] as const) {
      const stage = operator.stack.with({ outputs: { ...outputs, ...archive } });
      expect(await printed(eventId, { stage })).toEqual({
        isWhole: true,
        text: expect.stringMatching(source),
      });
    }
  });
});

test('rows need a person if, and only if, their message is on a queue that nothing consumes', async () => {
  const queues = {
    'girl.deleted': 'GirlDeletedDeadLetterQueueUrl',
    quarantine: 'QuarantineQueueUrl',
    unrouted: 'UnroutedQueueUrl',
  };
  const onQueues = Object.entries(queues).map(async ([name, output]) =>
    (await stack.inspectQueue(stack.outputs[output] ?? '')).map(
      ({ attributes }) => `${attributes.requestId} ${name}`,
    ),
  );
  const expected = (await Promise.all(onQueues)).flat();
  expect(expected).toHaveLength(3);
  const rows = () => feed.store.list().map((row) => `${row.id} ${queueOf(row)}`);
  const inNeed = () => rows().filter((row) => !row.endsWith(' undefined'));
  await eventually(async () => inNeed().length === expected.length || undefined);
  expect(new Set(inNeed())).toEqual(new Set(expected));
  expect(rows()).toHaveLength(5);
});

test('a dead letter says when SQS deletes it, is found by its new message, and is processed after a redrive', async () => {
  const { eventId } = sent.dead;
  const dead = await traced(eventId, (trace) => kinds(trace).at(-1) === 'archived');
  expect(kinds(dead)).toEqual(['received', 'queued', 'answered', 'failed', 'dead-lettered', 'archived']);
  expect(dead.history.now).toMatchObject([
    { state: 'dead-letter', queue: 'girl.deleted', attempts: 2, until: expect.any(String) },
  ]);
  const [message] = await stack.inspectQueue(stack.outputs.GirlDeletedDeadLetterQueueUrl ?? '');
  expect((await traced(message?.id.slice(0, 8))).history).toMatchObject(dead.history);
  await redrive(operator.operation(), operator.queue('girl.deleted'), {}, 500);
  const { history } = await traced(eventId, (trace) => state(trace) === 'processed');
  expect(history.steps).toContainEqual(
    expect.objectContaining({ kind: 'processed', attempt: 1, origin: { kind: 'redriven' } }),
  );
});

test('a request with a wrong signature shows the reason, and nothing of its content', async () => {
  const { requestId } = sent.rejected;
  const { history } = await traced(requestId);
  expect(history).toMatchObject({
    steps: [{ kind: 'received' }, { kind: 'answered', status: 401, rejection: 'wrong signature' }],
    now: [{ state: 'rejected', status: 401 }],
  });
  expect(JSON.stringify(history)).not.toContain(signBody(toReject, 'another-secret'));
  await expect(findPayload(operator.stack, String(requestId), signal)).rejects.toThrow(
    'It was not accepted, so its bytes were not stored and cannot be sent again',
  );
});

test('an unusable delivery is in quarantine with its fields and bytes, also if the logs may not be read', async () => {
  const { requestId } = sent.unusable;
  const { history } = await traced(requestId);
  expect(history.steps[2]).toMatchObject({ kind: 'answered', status: 400, fields: ['data.shop_id'] });
  expect(history.now).toMatchObject([{ state: 'invalid', until: expect.any(String) }]);
  const byQueue = await traced(requestId, undefined, without('ReceiverLogGroup'));
  expect(byQueue.history).toMatchObject({ now: [{ state: 'invalid', queue: 'quarantine' }] });
  // On the queue it is an event `unusable`, which is no name of an event.
  expect(byQueue.history.event).toBeUndefined();
  const found = await findPayload(operator.stack, String(requestId), signal);
  expect(found).toMatchObject({ from: 'the quarantine queue', bytes: Buffer.from(JSON.stringify(unusable)) });
});

test('an event of an unknown kind is parked, until somebody deletes it', async () => {
  const { eventId } = sent.unknown;
  expect((await traced(eventId)).history.now).toMatchObject([
    { state: 'parked', queue: 'unrouted', until: expect.any(String) },
  ]);
  await operator.empty();
  await traced(eventId, (trace) => state(trace) === 'removed');
});

describe('an event that is no longer in the logs', () => {
  const settledAt = new Date(Date.now() - 50 * HOUR).toISOString();
  const record = archived({
    eventId: sha256Hex('of last week'),
    requestId: 'request-of-last-week=',
    receivedAt: new Date(Date.now() - 51 * HOUR).toISOString(),
    settledAt,
    body: JSON.stringify(shopUpdated()),
  });
  const isNamedAs = (ending: string) => ({
    ...record,
    eventId: `abcdef99${ending.repeat(56)}`,
    requestId: ending,
  });

  beforeAll(async () => {
    const { body: _, ...replayed } = record;
    const replay = { name: 'fill-1', mode: 'fill', notify: true } as const;
    const later = { ...replayed, replay, settledAt: new Date(Date.now() - 30 * HOUR).toISOString() };
    await putRecords(operator.stack, objectKey('old', 'shop.updated', settledAt.slice(0, 13)), [
      record,
      ...[...'0123456789a'].map((ending) => archived({ ...isNamedAs(ending), body: '{}' })),
    ]);
    const key = objectKey('replayed', 'shop.updated', later.settledAt.slice(0, 13));
    await putRecords(operator.stack, key, [later]);
  });

  test.each([record.eventId.slice(0, 10), record.requestId])('is read from the archive: %s', async (id) => {
    expect((await traced(id)).history).toMatchObject({
      steps: [
        { kind: 'received', at: record.receivedAt },
        { kind: 'processed' },
        { kind: 'archived' },
        { kind: 'processed', origin: { kind: 'replay', name: 'fill-1' } },
        { kind: 'archived' },
      ],
      now: [{ state: 'processed' }],
    });
  });

  test('is shown as far as a damaged object can be read, which is named', async () => {
    const key = objectKey('damaged', 'shop.updated', settledAt.slice(0, 13));
    await putObject(operator.stack, key, Buffer.from('not gzip'));
    const { text, isWhole } = await printed(record.eventId);
    expect(isWhole).toBe(false);
    expect(text).toContain(`Damaged, and skipped from there on: ${key}: not gzip, or damaged`);
    expect(text).toContain('processed');
  });

  test('is one of several with which an id begins: ten of eleven are named', async () => {
    const failure = await refusalOf(traceDelivery(operator.stack, 'abcdef99', { signal }));
    expect(failure).toContain("'abcdef99' matches several events. One of: ");
    for (const ending of '0123456789')
      expect(failure).toContain(`${isNamedAs(ending).eventId} (shop.updated, `);
    expect(failure).toMatch(/[^a]\) and more$/);
  });

  test('is not found in another window: it says where it searched, and who may know more', async () => {
    const since = new Date(Date.now() - HOUR);
    const failure = traceDelivery(operator.stack, record.eventId, { since, signal });
    expect((await refusalOf(failure)).split('\n')).toEqual([
      `Nothing was found for '${record.eventId}'.`,
      expect.stringMatching(/^Logs from \S+Z to \S+Z: 0 lines\.$/),
      expect.stringMatching(/^Archive: \d+ records? read in \d+ objects?\./),
      expect.stringMatching(/^Dead letters, quarantined and parked messages: 0 messages\.$/),
      expect.stringContaining(`Searched from ${since.toISOString()} to `),
      'The request may never have arrived, or API Gateway answered it itself: see its access log.',
      'The archive has an event some minutes after its effect.',
    ]);
  });
});

test.each(['', '1234567', 'a "webhookId"'])('no id of ours is refused: %j', async (id) => {
  await expect(printed(id)).rejects.toThrow('Give at least 8 characters of an event, request or message id.');
});

/** A client whose query of the logs has this result. */
function queried(result: object, before: (call: string, input: { startTime: number }) => void) {
  const answers: Readonly<Record<string, object>> = {
    DescribeLogGroupsCommand: {
      logGroups: [{ logGroupName: operator.stack.receiverLogGroup, retentionInDays: 1 }],
    },
    StartQueryCommand: { queryId: 'query-1' },
    GetQueryResultsCommand: result,
    StopQueryCommand: { success: true },
  };
  return replied(new CloudWatchLogsClient(stack.operator), (call, input) => {
    before(call, input);
    return answers[call];
  });
}

test('logs are searched as far back as they reach; the source says what it costs, and if there are more lines', async () => {
  const begins: number[] = [];
  const found = { status: 'Complete', statistics: { bytesScanned: 2e9, recordsMatched: 1_001 } };
  const logs = queried(found, (call, { startTime }) => {
    if (call === 'StartQueryCommand') begins.push(startTime * 1000);
  });
  const stage = operator.stack.with({ logs, local: false });
  const { source } = await searchLogs(stage, 'any', windowOf({}), signal);
  expect(begins[0]).toBeGreaterThan(Date.now() - 25 * HOUR);
  // Half a US cent for each GiB.
  expect(source.text).toMatch(
    /: 0 lines, 2\.000 GB scanned for 0\.0093 dollars\. There are more lines: narrow the window with --since/,
  );
});

test('an interruption stops the Logs Insights query, which is paid by what it scans', async () => {
  const interruption = new AbortController();
  const asked: string[] = [];
  const logs = queried({ status: 'Running' }, (call) => {
    asked.push(call);
    if (call === 'GetQueryResultsCommand') interruption.abort();
  });
  const operation = { ...operator.operation(interruption.signal), stack: operator.stack.with({ logs }) };
  await printTrace(operation, 'abcdef01', { json: false });
  expect(operation.said).toEqual(['Interrupted. The query of the logs is stopped, and nothing was changed.']);
  expect(asked.at(-1)).toBe('StopQueryCommand');
});

test('a list has the deliveries of exactly this shop, or with a text in their payload, without payloads', async () => {
  async function listed(filter: Parameters<typeof printSearch>[1]) {
    const operation = operator.operation();
    await printSearch(operation, filter, { json: false });
    return operation.said.join('\n');
  }
  for (const filter of [{ shop }, { search: `SAY "${shop}`.toUpperCase() }, { shop, search: shop }]) {
    const text = await listed(filter);
    expect(text).toMatch(/^1 delivery in the archive\./);
    expect(text).toMatch(
      new RegExp(`shop\\.updated +${shop} +Processed +${RegExp.escape(String(sent.processed.requestId))}`),
    );
    expect(text).toContain('Payloads that wait on a queue or are too large');
    expect(text).not.toContain('say');
  }
  const { ArchiveBucket: _, ...outputs } = operator.stack.outputs;
  const withoutArchive = { ...operator.operation(), stack: operator.stack.with({ outputs }) };
  await expect(printSearch(withoutArchive, { shop }, { json: false })).rejects.toThrow(
    'The stage has no archive, so there are no payloads to search',
  );
  // Another shop's id may begin with this text.
  expect(await listed({ shop: shop.slice(0, -1) })).toMatch(/^0 deliveries in the archive\.\n/);
});
