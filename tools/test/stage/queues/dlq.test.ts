import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { DeleteQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { DEAD_LETTER_RETENTION_SECONDS } from '../../../../lambda/limits.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { recordFileHandles } from '../../../../test/support/file-handles.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { dlqExport } from '../../../stage/queues/dlq-export.ts';
import { dlqList } from '../../../stage/queues/dlq-list.ts';
import { dlqShow } from '../../../stage/queues/dlq-show.ts';
import { forEachMessage } from '../../../stage/queues/for-each-message.ts';
import { findQueue } from '../../../stage/queues/queue.ts';
import { type WaitingMessage, waitingMessages } from '../../../stage/queues/waiting-messages.ts';
import { ExportDestination } from '../../../terminal/files.ts';
import { Project } from '../../commands/project.ts';
import { DEAD, type Operator, quarantined, replied, shopUpdated, startedOperator } from './support.ts';

/** Retention of a dead-letter queue, in milliseconds. */
const KEPT = DEAD_LETTER_RETENTION_SECONDS * 1000;

const started = startedOperator();
let project: Project;
let aws: TestAws;
let operator: Operator;
let dead = '';
let quarantine: string | undefined;
let unrouted: string | undefined;

beforeAll(async () => {
  project = await Project.create();
  ({ aws, operator } = started);
  dead = operator.queue('shop.updated').url;
  quarantine = operator.outputs.QuarantineQueueUrl;
  unrouted = operator.outputs.UnroutedQueueUrl;
});
afterAll(() => project.remove());
beforeEach(() => operator.empty());

const never = new AbortController().signal;

async function putMany(count: number, url: string | undefined = dead, attributes: object = DEAD) {
  for (let number = 0; number < count; number += 1) {
    await operator.put(url, `message ${number}`, { ...attributes });
  }
}

async function listed({ json = false, width = Number.POSITIVE_INFINITY, stack = operator.stack } = {}) {
  const operation = { ...operator.operation(), stack, width };
  await dlqList(operation, { json });
  return operation.said.join('\n');
}

async function shown(name: string, options: Partial<Parameters<typeof dlqShow>[2]> = {}): Promise<string> {
  const operation = operator.operation();
  const queue = await findQueue(operator.stack, name);
  await dlqShow(operation, queue, { limit: 20, payload: false, json: false, ...options });
  return operation.said.join('\n');
}

describe('list', () => {
  test('counts messages on every queue without a consumer, and names the next step', async () => {
    await putMany(2);
    await operator.put(unrouted, '{}', { event: 'example.unknown' });
    expect((await listed()).replaceAll(/ +/g, ' ').split('\n')).toEqual([
      expect.stringMatching(/^Messages in /),
      '',
      'Dead letters, quarantine and unrouted events: they wait until you redrive them.',
      '',
      'QUEUE WAITING IN FLIGHT EVENTS OLDEST',
      ...eventNames.map((event) =>
        event === 'shop.updated' ? expect.stringMatching(/^shop\.updated 2 0 2 \d+ s$/) : `${event} 0 0 – –`,
      ),
      'quarantine 0 0 – –',
      expect.stringMatching(/^unrouted 1 0 1 \d+ s$/),
      '',
      'Event queues: empty.',
      '',
      `See why: npx hookctl dlq show shop.updated --outputs ${operator.outputsFile}`,
    ]);
  });

  test('says that all queues are empty only if they are', async () => {
    expect(await listed()).toMatch(/\nAll these queues are empty\.$/);
    await operator.put(operator.outputs.ShopUpdatedQueueUrl, shopUpdated('shop-1'));
    expect(await listed()).not.toContain('empty');
  });

  test('shows a dead letter in flight, and how to see why', async () => {
    const release = await operator.receiveNew(operator.outputs.GirlCreatedDeadLetterQueueUrl);
    const text = await listed();
    await release();
    expect(text).toMatch(/\ngirl\.created +0 +1 +unknown +unknown\n/);
    expect(text).toMatch(/\nSee why: npx hookctl dlq show girl\./);
  });
});

test('list with --shop counts the messages of that shop on every queue, also large ones', async () => {
  const Key = 'unrouted/large';
  const Body = shopUpdated('shop-1');
  await operator.stack.s3.send(new PutObjectCommand({ Bucket: operator.outputs.PayloadBucket, Key, Body }));
  await operator.put(unrouted, JSON.stringify({ payloadKey: Key }), { ...DEAD, payloadKey: Key });
  await operator.put(quarantine, quarantined('\uFEFF{"data":{"shop_id":"shop-1"}}'), { reason: 'x' });
  for (const shopId of ['shop-1', 'shop-1', 'shop-10']) await operator.put(dead, shopUpdated(shopId), DEAD);
  const { code, stdout } = await project.type([
    'dlq',
    'list',
    '--shop',
    'shop-1',
    '--outputs',
    operator.outputsFile,
  ]);
  expect(code).toBe(0);
  expect(stdout.replaceAll(/ +/g, ' ')).toMatch(
    /\nshop\.updated 2 1 20.*\nquarantine 1 1 20.*\nunrouted 1 1 20.*\nSee why: npx hookctl dlq show shop\.updated --shop shop-1 --outputs/s,
  );
});

describe('list, of a message in flight,', () => {
  const at = new Date(Date.now() - 5_000).toISOString();
  const failed = {
    timestamp: at,
    level: 'WARN',
    message: 'Failed',
    eventId: DEAD.eventId,
    error: 'Throttled',
  };
  const record = { requestId: 'invocation-1', status: 'error', errorType: 'Runtime.ExitError' };

  /** The list while a message of shop.updated is in flight and its consumer has logged a line. */
  async function listedWith(line: object | undefined, json = false) {
    const release = await operator.receiveNew(operator.outputs.ShopUpdatedQueueUrl);
    const logs = replied(new CloudWatchLogsClient(aws.operator), () => ({
      events: line ? [{ message: JSON.stringify(line) }] : [],
    }));
    const text = await listed({ json, stack: operator.stack.with({ logs }) });
    await release();
    return text;
  }

  test.each([
    ['a failed attempt', failed, 'Throttled'],
    [
      'a crash, as the runtime logs it',
      { timestamp: at, message: { errorType: 'Runtime.ExitError' } },
      'Runtime.ExitError',
    ],
    ['a crash, as Lambda logs it', { time: at, type: 'platform.report', record }, 'Runtime.ExitError'],
    ['a timeout', { time: at, type: 'platform.report', record: { status: 'timeout' } }, 'timeout'],
  ])('shows the last failure of its event: %s', async (_, line, error) => {
    const text = await listedWith(line);
    expect(text).toMatch(new RegExp(`\\nshop\\.updated +0 +1 {2}last failure \\d+ s ago: ${error}\\n`));
    expect(text).toMatch(/\nIf they keep failing, .*: docs\/operations\.md, "Failing"\.$/);
  });

  test('shows no failure if there was none, and prints JSON for programs', async () => {
    expect(await listedWith(undefined)).toMatch(/\nshop\.updated +0 +1\n/);
    const { queues, eventQueues } = JSON.parse(await listedWith(failed, true));
    const counts = { messages: 0 };
    expect(queues).toContainEqual({ queue: 'shop.updated', ...counts, inFlight: 0 });
    const lastFailure = { at: Date.parse(at), error: 'Throttled' };
    expect(eventQueues).toContainEqual({ event: 'shop.updated', ...counts, inFlight: 1, lastFailure });
  });

  test('says why the failure is unknown if the log cannot be read', async () => {
    const release = await operator.receiveNew(operator.outputs.ShopUpdatedQueueUrl);
    const { ShopUpdatedLogGroup: _, ...outputs } = operator.stack.outputs;
    const withoutOutput = await listed({ stack: operator.stack.with({ outputs }) });
    await release();
    expect(withoutOutput).toMatch(
      / last failure unknown: The stack has no output ShopUpdatedLogGroup: deploy .* again\n/,
    );
  });
});

describe('the queues of a removed event', () => {
  const [Queue, DeadLetterQueue] = ['ShopClosedQueue0A1B2C3D', 'ShopClosedDeadLetterQueue4E5F6A7B-X9Y8Z7'];
  const left: string[] = [];
  beforeAll(async () => {
    left.push(await operator.leaveQueue(Queue), await operator.leaveQueue(DeadLetterQueue));
    // A queue of another stage, whose name begins like ours.
    left.push(await operator.leaveQueue(`eu-${DeadLetterQueue}`));
  });
  afterAll(async () => {
    for (const QueueUrl of left) await operator.queues.client.send(new DeleteQueueCommand({ QueueUrl }));
  });

  test('are listed and shown with their messages, without those of other stages', async () => {
    await operator.queues.takeAll(left[0]);
    await operator.queues.takeAll(left[1]);
    await operator.put(left[0], shopUpdated('shop-1'));
    await operator.put(left[1], '{}', DEAD);
    const [, lines = ''] = (await listed()).split('Left by removed events');
    expect(lines).toMatch(new RegExp(`\n${Queue} +1 +0 +1 +\\d+ s\n`));
    expect(lines).toMatch(new RegExp(`\n${DeadLetterQueue} +1 +0 +1 +\\d+ s\n`));
    expect(lines).not.toContain('eu-');
    expect(lines).toContain(`See why: npx hookctl dlq show `);
    expect(await shown(Queue)).toContain('it waited when its consumer was removed');
    const text = await shown(DeadLetterQueue);
    expect(text).toContain(DEAD.failureReason);
    expect(text).toContain(`If the event may come back: npx hookctl dlq redrive ${DeadLetterQueue}`);
  });

  test('are unknown if they cannot be listed, with the reason', async () => {
    // Without the SDK's retries, which take seconds.
    const stack = operator.stack.with({
      sqs: replied(new SQSClient(aws.operator), (name) => {
        if (name !== 'ListQueuesCommand') return;
        throw Object.assign(new Error('slow down'), { name: 'RequestThrottled', $metadata: {} });
      }),
    });
    expect(await listed({ stack })).toContain(
      '\nWhich queues removed events have left is unknown: RequestThrottled',
    );
  });
});

describe('show', () => {
  test('tells why a dead letter is there and how to find its traces, without the payload', async () => {
    const id = await operator.put(dead, shopUpdated('shop-1'), DEAD);
    const text = await shown('shop.updated');
    const { failureReason, failedAt, receivedAt, eventId, requestId } = DEAD;
    for (const fact of [id, failureReason, failedAt, receivedAt, eventId, requestId]) {
      expect(text).toContain(fact);
    }
    expect(text).not.toContain('Personal name');
  });

  test('with --json prints everything for programs, and the payload on request', async () => {
    const messageId = await operator.put(dead, shopUpdated('shop-1'), DEAD);
    const { failureReason: reason, ...attributes } = DEAD;
    const [sentAt, receives] = [expect.any(String), expect.any(Number)];
    const times = { sentAt, keptUntil: expect.any(String), firstSentAt: expect.any(String) };
    const message = { messageId, reason, ...attributes, ...times, receives, copies: 1, shopId: 'shop-1' };
    const expected = { stack: operator.stack.title, queue: 'shop.updated', more: false, inFlight: 0 };
    expect(JSON.parse(await shown('shop.updated', { json: true }))).toEqual({
      ...expected,
      messages: [message],
    });
    const withPayload = JSON.parse(await shown('shop.updated', { json: true, payload: true }));
    expect(withPayload.messages).toEqual([{ ...message, body: shopUpdated('shop-1') }]);
    expect(JSON.parse(await shown('quarantine', { json: true })).messages).toEqual([]);
  });

  test('shows the content of a quarantined message, which cannot control the terminal', async () => {
    await operator.put(quarantine, quarantined(Buffer.from('{"\u001b[2J')), { reason: 'body must be JSON' });
    const text = await shown('quarantine', { payload: true });
    expect(text).toContain('body must be JSON');
    expect(text).toContain('{"\\u001b[2J');
  });

  test('tells whether an unrouted event has a consumer now', async () => {
    await operator.put(unrouted, '{}', { event: 'example.unknown' });
    const text = await shown('unrouted');
    expect(text).toContain("event kind 'example.unknown' had no consumer");
    expect(text).toContain(
      'After you add the event (npx hookctl new-event) and deploy: npx hookctl dlq redrive',
    );
    expect(text).not.toContain('has a consumer now');
    await operator.put(unrouted, '{}', { event: 'user.updated' });
    expect(await shown('unrouted')).toContain('has a consumer now');
  });

  test('says if there are more', async () => {
    await putMany(3);
    const text = await shown('shop.updated', { limit: 2 });
    expect(text).toContain('3 messages on the dead-letter queue of shop.updated');
    expect(text).toContain('Only 2 are shown. To see more, raise --limit or export them.');
    expect(text.match(/^message /gm)).toHaveLength(2);
  });

  test('distinguishes an empty queue from one whose messages are in flight', async () => {
    const empty = 'Nothing to show: the dead-letter queue of shop.updated is empty';
    expect(await shown('shop.updated')).toBe(empty);
    const release = await operator.receiveNew(dead);
    expect(await shown('shop.updated')).toContain('has 1 message in flight');
    await release();
  });

  test('shows copies as one: the newest, with their number', async () => {
    const putCopy = (requestId: string, problem: string) => {
      const facts = { ...DEAD, event: 'unusable', requestId, reason: 'body must be JSON' };
      // Another version of the receiver may name other problems.
      return operator.put(quarantine, JSON.stringify({ problems: [problem], bodyBase64: '/w==' }), facts);
    };
    await putCopy('request-1', 'one');
    const before = Date.now();
    await eventually(async () => Date.now() > before || undefined);
    const newest = await putCopy('request-2', 'two');
    await operator.put(quarantine, quarantined('{'), { event: 'unusable', reason: 'other' });
    const text = await shown('quarantine', { payload: true });
    expect(text).toContain('2 events, 3 copies on the quarantine queue in ');
    expect(text).toContain('\n    1 × body must be JSON (2 copies)\n    1 × other\n');
    expect(text).toMatch(/\n {2}copies +2, the first queued 20/);
    const { messages, more } = JSON.parse(await shown('quarantine', { payload: true, json: true, limit: 2 }));
    expect({ more, count: messages.length }).toEqual({ more: false, count: 2 });
    const [one] = messages.filter(({ copies }: { copies: number }) => copies === 2);
    expect(one).toMatchObject({ messageId: newest, requestId: 'request-2', bodyBase64: '/w==' });
    expect(await listed()).toMatch(/\nquarantine +3 +0 +2 +\d+ s\n/);
  });

  test('of an unknown queue names all queues', async () => {
    const all = [...eventNames, 'quarantine', 'unrouted'].join(', ');
    await expect(shown('example.unknown')).rejects.toThrow(
      `No queue 'example.unknown' in the stack of ${operator.outputsFile}. One of: ${all}`,
    );
  });
});

describe('export', () => {
  async function exported(name: string) {
    const operation = operator.operation();
    const lines: object[] = [];
    const complete = await dlqExport(operation, operator.queue(name), {}, async (line) => {
      lines.push(JSON.parse(line));
    });
    return { complete, said: operation.said, lines };
  }

  test('writes each message with its attributes and payload, and removes nothing', async () => {
    const messageId = await operator.put(dead, shopUpdated('shop-1'), DEAD);
    const sentAt = expect.stringMatching(/^\d{4}-.*Z$/);
    const message = { queue: 'shop.updated', messageId, sentAt, attributes: DEAD };
    const expected = { complete: true, lines: [{ ...message, body: shopUpdated('shop-1') }] };
    expect(await exported('shop.updated')).toMatchObject(expected);
    expect(await exported('shop.updated')).toMatchObject(expected);
  });

  test.each([
    { bytes: Buffer.from('{"event":'), expected: { body: '{"event":' } },
    { bytes: Buffer.from([0xff, 0xfe]), expected: { bodyBase64: '//4=' } },
  ])('writes quarantined payloads as text, and other bytes as base64: $expected', async (row) => {
    await operator.put(quarantine, quarantined(row.bytes), { reason: 'x' });
    expect((await exported('quarantine')).lines).toMatchObject([row.expected]);
  });

  test('writes each copy, and says how many events there are', async () => {
    for (const requestId of ['request-1', 'request-2']) {
      await operator.put(dead, shopUpdated('shop-1'), { ...DEAD, requestId });
    }
    const { lines, said } = await exported('shop.updated');
    expect(lines).toHaveLength(2);
    expect(said).toEqual([
      'Exported 1 event, 2 copies from the dead-letter queue of shop.updated. Nothing was removed.',
    ]);
  });

  test('reads a payload that was too large for a message, and names missing ones', async () => {
    const Key = 'shop.updated/large';
    const Bucket = operator.outputs.PayloadBucket;
    await operator.stack.s3.send(new PutObjectCommand({ Bucket, Key, Body: 'large' }));
    await operator.put(dead, JSON.stringify({ payloadKey: Key }), { ...DEAD, payloadKey: Key });
    expect(await exported('shop.updated')).toMatchObject({ complete: true, lines: [{ body: 'large' }] });
    await operator.put(dead, '{}', { ...DEAD, payloadKey: 'shop.updated/gone' });
    const { complete, lines } = await exported('shop.updated');
    expect(complete).toBe(false);
    expect(lines).toContainEqual(
      expect.objectContaining({ unreadable: 'S3 no longer has it under shop.updated/gone' }),
    );
  });

  test('writes a new file, in a folder that exists, that only its owner can read', async () => {
    const file = operator.path('dead.jsonl');
    await using destination = new ExportDestination(file);
    await destination.write('line\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toBe('line\n');
    const folder = dirname(file);
    const refused = (path: string) => expect(new ExportDestination(path).write('other\n')).rejects;
    await refused(file).toThrow(`${file} exists already`);
    await refused(folder).toThrow(`${folder} is a folder, not a file`);
    await refused(`${folder}/none/file`).toThrow(`No folder ${folder}/none`);
  });

  test('closes its file before it ends', async () => {
    await operator.put(dead, shopUpdated('shop-1'), DEAD);
    const file = operator.path('closed.jsonl');
    const opened = recordFileHandles();
    const typed = ['dlq', 'export', 'shop.updated', '--output', file, '--outputs', operator.outputsFile];
    expect(await project.type(typed)).toMatchObject({ code: 0 });
    expect(opened()).toEqual(['closed']);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ body: shopUpdated('shop-1') });
  });

  test('returns the messages if its reader ends early', async () => {
    await putMany(60);
    const typed = `${process.execPath} tools/hookctl.js dlq export shop.updated --outputs ${operator.outputsFile}`;
    const shell = project.spawn(['bash', '-c', `set -o pipefail; ${typed} | head -1`]);
    const { code, stdout, stderr } = await shell.ended;
    expect({ code, lines: stdout.trim().split('\n').length }).toEqual({ code: 0, lines: 1 });
    expect(stderr).not.toMatch(/EPIPE/);
    expect(await operator.queues.count(dead)).toBe(60);
  });
});

describe('reading a queue', () => {
  const visitAll = (
    visit: Parameters<typeof forEachMessage>[3] = async () => 'stays',
    options: Partial<Parameters<typeof forEachMessage>[2]> = {},
  ) => forEachMessage(operator.stack, dead, { signal: never, ...options }, visit);
  const countVisible = async () => (await visitAll()).seen;

  test('visits each message once and leaves all visible', async () => {
    await putMany(23);
    const visited = new Set<string>();
    const result = await visitAll(async ({ body }) => {
      visited.add(body);
      return 'stays';
    });
    expect(result).toEqual({ seen: 23, undeleted: [], limited: false });
    expect(visited.size).toBe(23);
    expect(await countVisible()).toBe(23);
  });

  test('deletes only settled messages', async () => {
    await putMany(12);
    await visitAll(async ({ body }) => (body.endsWith('1') ? 'settled' : 'stays'));
    expect(await countVisible()).toBe(10);
  });

  test('ends at its limit and says so', async () => {
    await putMany(15);
    expect(await visitAll(undefined, { limit: 12 })).toMatchObject({ seen: 12, limited: true });
    expect(await countVisible()).toBe(15);
  });

  test('returns everything if a visit fails', async () => {
    await putMany(3);
    const failing = visitAll(async ({ body }) => {
      if (body === 'message 1') throw new Error('no');
      return 'stays';
    });
    await expect(failing).rejects.toThrow('no');
    expect(await countVisible()).toBe(3);
  });

  test('returns everything if it is interrupted, and finishes the current page', async () => {
    await putMany(15);
    const interruption = new AbortController();
    const visit = async () => {
      interruption.abort();
      return 'settled' as const;
    };
    expect(await visitAll(visit, { signal: interruption.signal })).toMatchObject({ seen: 10 });
    expect(await countVisible()).toBe(5);
  });
});

describe('messages for review', () => {
  const isDead = ({ eventId }: WaitingMessage) => eventId === DEAD.eventId;
  const found = (fits = isDead, signal = never) => waitingMessages(operator.stack, fits, signal);

  test('are found on every queue with ids, times and reason, and stay there', async () => {
    const body = shopUpdated('shop-1');
    const messageId = await operator.put(dead, body, DEAD);
    await operator.put(unrouted, body, { ...DEAD, event: 'shop.closed' });
    await operator.put(dead, shopUpdated('shop-2'), { ...DEAD, eventId: 'f'.repeat(64) });
    const { messages, complete } = await found();
    const one = messages.find((message) => message.messageId === messageId);
    expect({ complete, events: messages.map(({ event }) => event).toSorted() }).toEqual({
      complete: true,
      events: ['shop.closed', 'shop.updated'],
    });
    const { event, requestId, failureReason } = DEAD;
    expect(one).toMatchObject({ body, queue: { name: event }, event, requestId, failureReason });
    expect(one?.expiresAt.getTime()).toBe((one?.message.sentAt.getTime() ?? 0) + KEPT);
    expect(await shown('shop.updated')).toContain('2 messages on');
  });

  test('are identified by their bytes if they were sent by hand', async () => {
    await operator.put(dead, shopUpdated('shop-1'));
    const { messages } = await found(({ eventId }) => eventId === sha256Hex(shopUpdated('shop-1')));
    expect(messages).toMatchObject([{ requestId: undefined, failureReason: undefined }]);
  });

  test('may be incomplete if some are in flight or the search is interrupted', async () => {
    await putMany(1);
    expect((await found(isDead, AbortSignal.abort())).complete).toBe(false);
    const release = await operator.receiveNew(operator.outputs.UserUpdatedDeadLetterQueueUrl);
    expect((await found()).complete).toBe(false);
    await release();
  });
});
