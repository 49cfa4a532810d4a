import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { DeleteQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { type WaitingMessage, waitingMessages } from '../../../stage/history/dead-letters.ts';
import { dlqExport } from '../../../stage/queues/dlq-export.ts';
import { dlqList } from '../../../stage/queues/dlq-list.ts';
import { dlqShow } from '../../../stage/queues/dlq-show.ts';
import { forEachMessage } from '../../../stage/queues/for-each-message.ts';
import { findQueue } from '../../../stage/queues/queue.ts';
import { copyKey } from '../../../stage/queues/received-message.ts';
import { ExportDestination } from '../../../terminal/files.ts';
import { Project } from '../../commands/project.ts';
import { DEAD, type Operator, quarantined, replied, shopUpdated, startedOperator } from './support.ts';

const started = startedOperator();
let project: Project;
let aws: TestAws;
let operator: Operator;
let dead = '';
let source: string | undefined;
let quarantine: string | undefined;
let unrouted: string | undefined;

beforeAll(async () => {
  project = await Project.create();
  ({ aws, operator } = started);
  dead = operator.queue('shop.updated').url;
  source = operator.outputs.ShopUpdatedQueueUrl;
  quarantine = operator.outputs.QuarantineQueueUrl;
  unrouted = operator.outputs.UnroutedQueueUrl;
});
afterAll(() => project.remove());
beforeEach(() => operator.empty());

const never = new AbortController().signal;

async function putMany(count: number) {
  for (let number = 0; number < count; number += 1) await operator.put(dead, `message ${number}`, DEAD);
}

const putShop = (shopId: string, requestId = `request-of-${shopId}`) =>
  operator.put(dead, shopUpdated(shopId), { ...DEAD, requestId });

const putObject = (Key: string, Body: string) =>
  operator.stack.s3.send(new PutObjectCommand({ Bucket: operator.outputs.PayloadBucket, Key, Body }));

async function listed({ json = false, stack = operator.stack, filter = {} } = {}) {
  const operation = { ...operator.operation(), stack };
  await dlqList(operation, filter, json);
  return operation.said.join('\n').replaceAll(/ +/g, ' ');
}

async function shown(name: string, options: Partial<Parameters<typeof dlqShow>[2]> = {}): Promise<string> {
  const operation = operator.operation();
  const queue = await findQueue(operator.stack, name);
  await dlqShow(operation, queue, { filter: {}, limit: 20, payload: false, json: false, ...options });
  return operation.said.join('\n');
}

describe('copies', () => {
  type Message = readonly [queue: string, body: string, attributes: Record<string, string>];
  const key = ([queue, body, attributes]: Message) =>
    copyKey({ queue: operator.queue(queue), id: randomUUID(), body, attributes, sentAt: new Date() });
  const LATER = {
    receivedAt: '2026-02-01T09:00:00.000Z',
    requestId: 'request-2',
    failureReason: 'Timeout',
    failedAt: '2026-02-01T12:00:00.000Z',
  };
  const wrapped = (fields: object) => JSON.stringify(fields);
  const large = { payloadKey: 'quarantine/a' };
  const shop = shopUpdated('shop-1');

  test.each<[string, Message, Message]>([
    [
      'dead letters of two deliveries',
      ['shop.updated', '{}', DEAD],
      ['shop.updated', '{}', { ...DEAD, ...LATER }],
    ],
    [
      'quarantined bytes with other problems',
      ['quarantine', wrapped({ problems: [], bodyBase64: '/w==' }), { ...DEAD, reason: 'one' }],
      ['quarantine', wrapped({ problems: ['new'], bodyBase64: '/w==' }), { ...DEAD, reason: 'two' }],
    ],
    [
      'quarantined bytes in S3 with other problems',
      ['quarantine', wrapped({ problems: [], ...large }), large],
      ['quarantine', wrapped({ problems: ['new'], ...large }), large],
    ],
  ])('are %s', (_, one, two) => {
    expect(key(one)).toBe(key(two));
  });

  test.each<[string, Message]>([
    ['other bytes under the same event id', ['unrouted', shopUpdated('shop-2'), DEAD]],
    ['the message of a replay', ['unrouted', shop, { ...DEAD, replay: '{"name":"a","mode":"fill"}' }]],
    ['another event kind', ['unrouted', shop, { ...DEAD, event: 'shop.closed' }]],
    ['bytes in S3 under another key', ['unrouted', shop, { ...DEAD, payloadKey: 'shop.updated/a' }]],
    ['messages of another queue', ['shop.updated', shop, DEAD]],
  ])('are not %s', (_, other) => {
    expect(key(other)).not.toBe(key(['unrouted', shop, DEAD]));
  });
});

describe('list', () => {
  test('counts messages on every queue without a consumer, and names the next step', async () => {
    await putMany(2);
    await operator.put(unrouted, '{}', { event: 'example.unknown' });
    expect((await listed()).split('\n')).toEqual([
      expect.stringMatching(/^Messages in /),
      '',
      'Dead letters, quarantine and unrouted events: they wait until you redrive them.',
      '',
      'QUEUE WAITING IN FLIGHT EVENTS OLDEST',
      ...eventNames.map((event) =>
        event === 'shop.updated'
          ? expect.stringMatching(/^shop\.updated 2 0 2 \d+ (s|min).*$/)
          : `${event} 0 0 – –`,
      ),
      'quarantine 0 0 – –',
      expect.stringMatching(/^unrouted 1 0 1 \d+ (s|min).*$/),
      '',
      'Event queues: empty.',
      '',
      `See why: npx hookctl dlq show shop.updated --outputs ${operator.outputsFile}`,
    ]);
  });

  test('says that all queues are empty only if they are, also of messages in flight', async () => {
    expect(await listed()).toMatch(/\nAll these queues are empty\.$/);
    const release = await operator.receiveNew(operator.outputs.GirlCreatedDeadLetterQueueUrl);
    const text = await listed();
    await release();
    expect(text).toContain('\ngirl.created 0 1 unknown unknown\n');
    expect(text).toContain('\nSee why: npx hookctl dlq show girl.created ');
    await operator.put(source, shopUpdated('shop-1'));
    expect(await listed()).not.toContain('empty');
  });

  test('with --shop counts the messages of that shop on every queue, also large ones', async () => {
    const payloadKey = 'unrouted/large';
    await putObject(payloadKey, shopUpdated('shop-1'));
    await operator.put(unrouted, JSON.stringify({ payloadKey }), { ...DEAD, payloadKey });
    await operator.put(quarantine, quarantined('\uFEFF{"data":{"shop_id":"shop-1"}}'), { reason: 'x' });
    for (const shopId of ['shop-1', 'shop-1', 'shop-10']) await operator.put(dead, shopUpdated(shopId), DEAD);
    expect(await listed({ filter: { shop: 'shop-1' } })).toMatch(
      /\nshop\.updated 2 0 1 .*\nquarantine 1 0 1 .*\nunrouted 1 0 1 .*\nSee why: npx hookctl dlq show shop\.updated --shop shop-1 --outputs/s,
    );
    const typed = ['dlq', 'list', '--search', 'nobody', '--outputs', operator.outputsFile];
    expect((await project.type(typed)).stdout).toMatch(
      /^No message matches\.\nThe queues of events were not searched/,
    );
  });

  test('prints JSON for programs', async () => {
    const release = await operator.receiveNew(source);
    const { queues, eventQueues } = JSON.parse(await listed({ json: true }));
    await release();
    const counts = { queue: 'shop.updated', kind: 'dead-letter', messages: 0, inFlight: 0 };
    expect(queues).toContainEqual({ ...counts, gaps: [] });
    expect(eventQueues).toContainEqual({ event: 'shop.updated', messages: 0, inFlight: 1 });
  });
});

test('the queues of a removed event are listed and shown, without those of other stages', async () => {
  const [Queue, DeadLetterQueue] = ['ShopClosedQueue0A1B2C3D', 'ShopClosedDeadLetterQueue4E5F6A7B-X9Y8Z7'];
  // The last is a queue of another stage, whose name begins like ours.
  const names = [Queue, DeadLetterQueue, `eu-${DeadLetterQueue}`];
  const left = await Promise.all(names.map((name) => operator.leaveQueue(name)));
  await operator.put(left[0], shopUpdated('shop-1'));
  await operator.put(left[1], '{}', DEAD);
  const [, lines = ''] = (await listed()).split('Left by removed events');
  const texts = [await shown(Queue), await shown(DeadLetterQueue)];
  for (const QueueUrl of left) await operator.queues.client.send(new DeleteQueueCommand({ QueueUrl }));
  // SQS still lists a queue for a minute after it was deleted.
  const sqs = replied(new SQSClient(aws.operator), (name) =>
    name === 'ListQueuesCommand' ? { QueueUrls: left } : undefined,
  );
  expect(await listed({ stack: operator.stack.with({ sqs }) })).not.toContain('removed events');
  for (const name of [Queue, DeadLetterQueue])
    expect(lines).toMatch(new RegExp(`\n${name} 1 0 1 \\d+ (s|min).*\n`));
  expect(lines).not.toContain('eu-');
  expect(lines).toContain('See why: npx hookctl dlq show ');
  expect(texts[0]).toContain('it waited when its consumer was removed');
  expect(texts[1]).toContain(DEAD.failureReason);
  expect(texts[1]).toContain(`If the event may come back: npx hookctl dlq redrive ${DeadLetterQueue}`);
});

describe('show', () => {
  test('tells why a dead letter is there and how to find its traces, without the payload', async () => {
    const id = await operator.put(dead, shopUpdated('shop-1'), DEAD);
    const text = await shown('shop.updated');
    const { failureReason, failedAt, receivedAt, eventId, requestId } = DEAD;
    for (const fact of [id, failureReason, failedAt, receivedAt, eventId, requestId, 'shop-1']) {
      expect(text).toContain(fact);
    }
    expect(text).not.toContain('Personal name');
  });

  test('with --json prints everything for programs, and the payload on request', async () => {
    const messageId = await operator.put(dead, shopUpdated('shop-1'), DEAD);
    const { failureReason: reason, ...attributes } = DEAD;
    const text = expect.any(String);
    const times = { sentAt: text, keptUntil: text, firstSentAt: text };
    const message = { messageId, reason, ...attributes, ...times, copies: 1, shopId: 'shop-1' };
    const expected = { stack: operator.stack.title, queue: 'shop.updated', more: false, inFlight: 0 };
    const parsed = async (payload: boolean) =>
      JSON.parse(await shown('shop.updated', { json: true, payload }));
    expect(await parsed(false)).toEqual({ ...expected, messages: [message] });
    expect((await parsed(true)).messages).toEqual([{ ...message, body: shopUpdated('shop-1') }]);
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

  test('says if there are more, and shows the payload of a named one', async () => {
    await putMany(3);
    const text = await shown('shop.updated', { limit: 2 });
    expect(text).toContain('3 messages on the dead-letter queue of shop.updated');
    expect(text).toContain('Only 2 are shown. To see more, raise --limit or export them.');
    expect(text.match(/^message /gm)).toHaveLength(2);
    const requestId = 'request-of-last';
    await operator.put(dead, 'last', { ...DEAD, requestId });
    expect(await shown('shop.updated', { limit: 1, filter: { ids: [requestId] }, payload: true })).toMatch(
      / payload +last\n/,
    );
  });

  test('distinguishes an empty queue from one whose messages are in flight', async () => {
    const empty = 'Nothing to show: the dead-letter queue of shop.updated is empty';
    expect(await shown('shop.updated')).toBe(empty);
    const release = await operator.receiveNew(dead);
    expect(await shown('shop.updated')).toContain('has 1 message in flight');
    await release();
  });

  test('shows copies as one: the newest, with their number', async () => {
    const putCopy = (requestId: string) =>
      operator.put(quarantine, quarantined(Buffer.from([0xff])), { requestId, reason: 'body must be JSON' });
    await putCopy('request-1');
    const before = Date.now();
    await eventually(async () => Date.now() > before || undefined);
    const newest = await putCopy('request-2');
    await operator.put(quarantine, quarantined('{'), { reason: 'other' });
    const text = await shown('quarantine', { payload: true });
    expect(text).toContain('2 events, 3 copies on the quarantine queue in ');
    expect(text).toMatch(/\n {4}1 × body must be JSON \(2 copies\)\n/);
    expect(text).toMatch(/\n {2}copies +2, the first queued 20/);
    const { messages, more } = JSON.parse(await shown('quarantine', { payload: true, json: true, limit: 2 }));
    expect({ more, count: messages.length }).toEqual({ more: false, count: 2 });
    const [one] = messages.filter(({ copies }: { copies: number }) => copies === 2);
    expect(one).toMatchObject({ messageId: newest, requestId: 'request-2', bodyBase64: '/w==' });
    expect(await listed()).toMatch(/\nquarantine 3 0 2 \d+ (s|min).*\n/);
  });

  test('of an unknown queue names all queues', async () => {
    const all = [...eventNames, 'quarantine', 'unrouted'].join(', ');
    await expect(shown('example.unknown')).rejects.toThrow(
      `No queue 'example.unknown' in ${operator.stack.title}. One of: ${all}`,
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

  test('writes each copy with its attributes and payload, counts events, and removes nothing', async () => {
    const ids = [await putShop('shop-1', 'request-1'), await putShop('shop-1', 'request-2')];
    const common = { queue: 'shop.updated', sentAt: expect.any(String), body: shopUpdated('shop-1') };
    const lines = ids.map((messageId, index) => {
      return { ...common, messageId, attributes: { ...DEAD, requestId: `request-${index + 1}` } };
    });
    const said = [
      'Exported 1 event, 2 copies from the dead-letter queue of shop.updated. Nothing was removed.',
    ];
    for (let time = 0; time < 2; time += 1) {
      const expected = { complete: true, lines: expect.arrayContaining(lines), said };
      expect(await exported('shop.updated')).toEqual(expected);
    }
  });

  test('writes payloads as text, other bytes as base64, large ones from S3, and names missing ones', async () => {
    const stored = (payloadKey: string) =>
      operator.put(quarantine, JSON.stringify({ payloadKey }), { payloadKey });
    await putObject('quarantine/large', 'large');
    await operator.put(quarantine, quarantined('{"event":'), { reason: 'x' });
    await operator.put(quarantine, quarantined(Buffer.from([0xff, 0xfe])), { reason: 'x' });
    await stored('quarantine/large');
    await stored('quarantine/gone');
    const { complete, lines } = await exported('quarantine');
    expect(complete).toBe(false);
    const unreadable = 'S3 no longer has it under quarantine/gone';
    for (const line of [{ body: '{"event":' }, { bodyBase64: '//4=' }, { body: 'large' }, { unreadable }]) {
      expect(lines).toContainEqual(expect.objectContaining(line));
    }
  });

  test('writes a new file, in a folder that exists, that only its owner can read', async () => {
    await putShop('shop-1');
    const file = operator.path('closed.jsonl');
    const typed = ['dlq', 'export', 'shop.updated', '--output', file, '--outputs', operator.outputsFile];
    expect(await project.type(typed)).toMatchObject({ code: 0 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ body: shopUpdated('shop-1') });
    const folder = dirname(file);
    const refused = (path: string) => expect(new ExportDestination(path).write('other\n')).rejects;
    await refused(file).toThrow(`${file} exists already`);
    await refused(folder).toThrow(`${folder} is a folder, not a file`);
    await refused(`${folder}/none/file`).toThrow(`No folder ${folder}/none`);
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
  ) => forEachMessage(operator.stack, operator.queue('shop.updated'), { signal: never, ...options }, visit);
  const countVisible = async () => (await visitAll()).seen;

  test('visits each message once up to its limit, deletes only settled ones, and returns everything after a failure', async () => {
    await putMany(23);
    expect(await visitAll(undefined, { limit: 12 })).toMatchObject({ seen: 12, limited: true });
    const visited = new Set<string>();
    const result = await visitAll(async ({ body }) => {
      visited.add(body);
      return body.endsWith('21') ? 'settled' : 'stays';
    });
    expect(result).toEqual({ seen: 23, undeleted: [], limited: false });
    expect(visited.size).toBe(23);
    const failing = visitAll(async ({ body }) => {
      if (body === 'message 1') throw new Error('no');
      return 'stays';
    });
    await expect(failing).rejects.toThrow('no');
    expect(await countVisible()).toBe(22);
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
  const isDead = ({ eventId }: WaitingMessage['fact']) => eventId === DEAD.eventId;
  const found = (fits = isDead, signal = never) => waitingMessages(operator.stack, fits, signal);

  test('that were sent by hand are found by the hash of their body', async () => {
    const body = shopUpdated('shop-1');
    await operator.put(dead, body);
    const { messages, complete } = await found(({ eventId }) => eventId === sha256Hex(body));
    expect(complete).toBe(true);
    expect(messages).toMatchObject([{ fact: { requestId: undefined, error: undefined } }]);
    expect(await operator.queues.count(dead)).toBe(1);
  });

  test('may be incomplete if some are in flight or the search is interrupted', async () => {
    await putMany(1);
    expect((await found(isDead, AbortSignal.abort())).complete).toBe(false);
    const release = await operator.receiveNew(operator.outputs.UserUpdatedDeadLetterQueueUrl);
    expect((await found()).complete).toBe(false);
    await release();
  });
});
