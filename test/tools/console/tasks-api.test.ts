import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Action, Task } from '../../../tools/console/api.ts';
import type { Step } from '../../../tools/stage/history/history.ts';
import { eventually } from '../../support/eventually.ts';
import { Partner } from '../../support/partner.ts';
import { Tables } from '../../support/tables.ts';
import { DEAD, Operator, shopUpdated } from '../stage/queues/support.ts';
import { startTestConsole, type TestConsole } from './support.ts';

let running: TestConsole;
let operator: Operator;
let tables: Tables;
let partner: Partner;

beforeAll(async () => {
  running = await startTestConsole();
  operator = await Operator.create(running.stack);
  tables = new Tables(running.stack.operator);
  partner = new Partner(running.stack.outputs.WebhookUrl);
});
afterAll(async () => {
  await operator.close();
  await running[Symbol.asyncDispose]();
});
beforeEach(() => operator.empty());

const ask = (action: unknown, confirmed = false) => running.api.post('/api/tasks', { action, confirmed });

/** Has an action done, and waits for its end. */
async function act(action: Action): Promise<Task> {
  const { status, body } = await ask(action, true);
  expect({ status, body }).toMatchObject({ status: 202, body: { state: 'running' } });
  return ended(body.id);
}

const ended = (id: string) =>
  eventually(async () => {
    const { body } = await running.api.get(`/api/tasks/${id}`);
    return body.state === 'running' ? undefined : (body as Task);
  });

const settled = async (id: string | undefined) =>
  (await running.api.get(`/api/deliveries/${encodeURIComponent(id ?? '')}/settled?timeout=20`)).body;

const row = (shop_id: string) => tables.get(running.stack.outputs.ShopCacheTable, { shop_id });

describe('an action that is not confirmed is only said', () => {
  test.each<[Action, string, RegExp]>([
    [{ kind: 'send', event: 'shop.updated' }, 'npm run send -- shop.updated', /^Signs the sample/],
    [
      { kind: 'redrive', queue: 'shop.updated' },
      'npm run dlq -- redrive shop.updated',
      /^Moves every message of the dead-letter queue/,
    ],
    [
      { kind: 'redrive', queue: 'quarantine', ids: ['message-1', 'it’s'] },
      "npm run dlq -- redrive quarantine --id message-1 --id 'it’s'",
      /^Signs the bytes of 2 messages in quarantine anew/,
    ],
    [
      { kind: 'redrive', queue: 'unrouted' },
      'npm run dlq -- redrive unrouted',
      /whose event has a consumer by now/,
    ],
    [
      { kind: 'pause', event: 'shop.updated', reason: "It's $HOME" },
      `npm run pause -- shop.updated --reason 'It'\\''s $HOME'`,
      /what comes waits on its queue/,
    ],
    [{ kind: 'resume', event: 'shop.updated' }, 'npm run resume -- shop.updated', /what waits is processed/],
    [
      { kind: 'replay', dryRun: true, events: ['shop.updated'], since: '3h' },
      'npm run replay -- shop.updated --since 3h --dry-run',
      /Sends nothing\.$/,
    ],
    [
      {
        kind: 'replay',
        dryRun: false,
        events: [],
        since: '3h',
        until: '1h',
        ids: ['12345678'],
        shop: 'shop 1',
        mode: 'repair',
        notify: true,
        rate: 5,
        name: 'again',
      },
      "npm run replay -- --since 3h --until 1h --shop 'shop 1' --mode repair --rate 5 --name again --id 12345678 --notify --yes",
      /at most 5 messages a second: rewrites rows from their newest events\. Notifies people again\.$/,
    ],
  ])('%j', async (action, command, explanation) => {
    const { status, body } = await ask(action);
    expect({ status, body }).toEqual({
      status: 200,
      body: { command, explanation: expect.stringMatching(explanation) },
    });
    expect((await running.api.get('/api/tasks')).body).toEqual([]);
  });
});

describe('what is no action is refused, with the field that is wrong', () => {
  test.each<[unknown, number, string]>([
    [{ kind: 'drop' }, 400, 'action.kind: '],
    [{ kind: 'send', event: 'payment.made' }, 400, 'action.event: must be an event that there is'],
    [{ kind: 'send', event: 'shop.updated', count: 5 }, 400, 'action: Unrecognized key: "count"'],
    [
      { kind: 'pause', event: 'shop.updated', reason: 'a\nb' },
      400,
      'action.reason: must be one line of 1 to 400',
    ],
    [{ kind: 'pause', event: 'shop.updated', reason: ' ' }, 400, 'action.reason: must be one line'],
    [{ kind: 'redrive', queue: 'payments' }, 409, "No queue 'payments'"],
    [{ kind: 'replay', dryRun: true, events: [], since: 'never' }, 400, 'action.since: It must be a time'],
    [{ kind: 'replay', dryRun: true, events: [], rate: 0 }, 400, 'action.rate: Too small'],
    [{ kind: 'replay', dryRun: true, events: [], name: 'A b' }, 400, 'action.name: must be 1 to 63'],
    [{ kind: 'resend', id: 'nobody' }, 404, 'There is no delivery nobody'],
  ])('%j', async (action, status, detail) => {
    for (const confirmed of [false, true]) {
      const { body, ...answer } = await ask(action, confirmed);
      expect({ status: answer.status, detail: body.detail }).toEqual({
        status,
        detail: expect.stringContaining(detail),
      });
    }
  });
});

describe('a request that is too large is refused, and the console goes on,', () => {
  const MEBIBYTE = Buffer.alloc(1024 * 1024);

  test.each<[what: string, length: Record<string, string>, written: number]>([
    ['whose length is said', { 'content-length': String(61 * MEBIBYTE.length) }, 0],
    ['whose length shows as it comes', {}, 61],
  ])('%s', async (_what, length, written) => {
    const { port } = running.console;
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path: '/api/tasks',
      method: 'POST',
      agent: false,
      headers: {
        host: `localhost:${port}`,
        'content-type': 'application/json',
        'x-console-token': 'test-token',
        ...length,
      },
    });
    request.flushHeaders();
    const answered: Promise<IncomingMessage[]> = once(request, 'response');
    for (let count = 0; count < written; count += 1) request.write(MEBIBYTE);
    const [response] = await answered;
    expect(response?.statusCode).toBe(413);
    request.on('error', () => {}).destroy();
    expect((await running.api.get('/api/tasks')).status).toBe(200);
  });
});

describe('sending', () => {
  test('a sample is a delivery that settles', async () => {
    const task = await act({ kind: 'send', event: 'shop.updated' });
    expect(task).toMatchObject({ state: 'done', lines: [expect.stringMatching(/^200 queued {2}event /)] });
    expect(await settled(task.delivery)).toMatchObject({ event: 'shop.updated', state: 'processed' });
  });

  test('a delivery again sends the same bytes, headers and signature', async () => {
    const text = `${shopUpdated(randomUUID())}\n`;
    const { body } = await partner.post(text, { headers: { 'X-Partner-Trace': 'trace-1' } });
    const first = await settled(String(body.requestId));
    const task = await act({ kind: 'resend', id: first.id });
    const second = await settled(task.delivery);
    expect(second).toMatchObject({ eventId: first.eventId, state: 'skipped', reason: 'already-processed' });
    expect(second.id).not.toBe(first.id);
    const own = ({ request }: typeof first) =>
      request.headers.filter(([name]: [string]) => !/^(connection|host)$/i.test(name)).sort();
    expect(own(second)).toEqual(own(first));
    expect(own(second)).toContainEqual(['X-Partner-Trace', 'trace-1']);
  });

  test('a text is signed as it is, also one that is no JSON', async () => {
    const shopId = randomUUID();
    const sent = await act({ kind: 'send-text', body: shopUpdated(shopId) });
    expect(await settled(sent.delivery)).toMatchObject({ state: 'processed' });
    expect(await row(shopId)).toBeDefined();
    const unusable = await act({ kind: 'send-text', body: 'no JSON, ´\u0000´' });
    expect(unusable).toMatchObject({ state: 'done', lines: [expect.stringMatching(/^400 /)] });
    expect(await settled(unusable.delivery)).toMatchObject({ state: 'invalid', status: 400 });
  });
});

describe('redriving', () => {
  test('of one dead letter has its effect, and leaves the others', async () => {
    const url = operator.outputs.ShopUpdatedDeadLetterQueueUrl;
    const shopId = randomUUID();
    const other = await operator.put(url, shopUpdated('shop-1'), DEAD);
    const id = await operator.put(url, shopUpdated(shopId), DEAD);
    expect(await act({ kind: 'redrive', queue: 'shop.updated', ids: [id] })).toMatchObject({
      state: 'done',
      lines: ['    1 × moved to the queue of shop.updated'],
    });
    await eventually(() => row(shopId));
    const { body } = await running.api.get('/api/queues/dead:shop.updated/messages');
    expect(body.messages).toMatchObject([{ id: other }]);
  });

  test('of nothing fails with the command’s own line', async () => {
    expect(await act({ kind: 'redrive', queue: 'shop.updated' })).toMatchObject({
      state: 'failed',
      lines: ['Nothing to redrive: the dead-letter queue of shop.updated is empty'],
    });
  });

  test('is said of the delivery whose dead letter it was, until it is tried again', async () => {
    await act({ kind: 'pause', event: 'shop.updated', reason: 'A test' });
    const { body } = await partner.post(shopUpdated(randomUUID()));
    const requestId = String(body.requestId);
    const ids = { eventId: String(body.eventId), event: 'shop.updated', requestId, messageId: 'message-1' };
    const timestamp = new Date().toISOString();
    const line = { timestamp, level: 'ERROR', message: 'DeadLettered', attempt: 10, ...ids };
    running.feed.onLog({ text: JSON.stringify(line) });
    expect(running.source.store.get(requestId)).toMatchObject({ state: 'dead-letter' });
    await operator.put(operator.outputs.ShopUpdatedDeadLetterQueueUrl, shopUpdated('shop-1'), {
      ...DEAD,
      requestId,
    });
    await act({ kind: 'redrive', queue: 'shop.updated' });
    expect(running.source.store.get(requestId)).toMatchObject({ state: 'queued' });
    await act({ kind: 'resume', event: 'shop.updated' });
  });

  test('of what fails again at once leaves its delivery a dead letter', async () => {
    // No message of it is known yet.
    const { body } = await partner.post(shopUpdated(randomUUID()).replace('shop.updated', 'shop.opened'));
    const requestId = String(body.requestId);
    await settled(requestId);
    await operator.put(operator.outputs.ShopUpdatedDeadLetterQueueUrl, 'no JSON', { ...DEAD, requestId });
    expect(await act({ kind: 'redrive', queue: 'shop.updated' })).toMatchObject({ state: 'done' });
    expect(
      await eventually(async () => {
        const delivery = running.source.store.get(requestId);
        return delivery?.state === 'parked' ? undefined : delivery;
      }),
    ).toMatchObject({ state: 'dead-letter' });
  });
});

test('a delivery that was processed stays so after the same bytes and a replay, and is archived', async () => {
  const first = await settled((await act({ kind: 'send', event: 'shop.updated' })).delivery);
  await act({ kind: 'resend', id: first.id });
  const kinds = async () => {
    const { history } = await settled(first.id);
    return history.steps.map(({ kind, reason }: Step) => reason ?? kind);
  };
  await eventually(async () => ((await kinds()).includes('archived') ? true : undefined));
  await act({ kind: 'replay', dryRun: false, events: ['shop.updated'], since: '1h', name: 'again' });
  await eventually(async () => ((await kinds()).includes('up-to-date') ? true : undefined));
  expect(await kinds()).toEqual(expect.arrayContaining(['processed', 'already-processed', 'up-to-date']));
  expect(await settled(first.id)).toMatchObject({
    state: 'processed',
    history: { now: [{ state: 'processed' }] },
  });
});

test('a delivery whose consumer crashes until SQS moves it is a dead letter with its crashes, also redriven', async () => {
  const { stack } = running;
  const { queueUrl, deadLetterQueueUrl } = operator.stack.event('user.updated');
  const deadLetterTargetArn = deadLetterQueueUrl.replace(/^.*\/(\d+)\/(.*)$/, 'arn:aws:sqs:us-east-1:$1:$2');
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 });
  await operator.stack.sqs.send(
    new SetQueueAttributesCommand({
      QueueUrl: queueUrl,
      Attributes: { VisibilityTimeout: '1', RedrivePolicy },
    }),
  );
  const code = stack.functions.get('user-updated')?.definition.codeDirectory ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'crashing-'));
  await writeFile(join(folder, 'index.mjs'), 'export const handler = () => process.exit(1);\n');
  await stack.replaceCode('user-updated', folder);
  const { delivery } = await act({ kind: 'send', event: 'user.updated' });
  const crashes = { kind: 'crashed', attempt: 1, attempts: 2, error: 'Runtime.ExitError' };
  expect(await settled(delivery)).toMatchObject({
    state: 'dead-letter',
    error: 'The function crashed (Runtime.ExitError)',
    history: { steps: expect.arrayContaining([expect.objectContaining(crashes)]) },
  });

  await act({ kind: 'pause', event: 'user.updated', reason: 'It crashes' });
  await act({ kind: 'redrive', queue: 'user.updated' });
  const { body: redriven } = await running.api.get(`/api/deliveries/${encodeURIComponent(delivery ?? '')}`);
  expect(redriven).toMatchObject({
    state: 'queued',
    history: { now: [{ state: 'queued', crashes: 2, paused: { reason: 'It crashes' } }] },
  });

  await stack.replaceCode('user-updated', code);
  await act({ kind: 'resume', event: 'user.updated' });
  expect(await settled(delivery)).toMatchObject({
    state: 'processed',
    history: { steps: expect.arrayContaining([expect.objectContaining(crashes)]) },
  });
  await rm(folder, { recursive: true });
});

test('a pause is seen on its queue, into which one may look, and ends', async () => {
  expect(await act({ kind: 'pause', event: 'user.updated', reason: 'The table is away' })).toMatchObject({
    state: 'done',
    lines: expect.arrayContaining([expect.stringMatching(/^Paused\. Nothing processes user\.updated/)]),
  });
  await operator.put(operator.outputs.UserUpdatedQueueUrl, '{}', { eventId: DEAD.eventId });
  const { body } = await running.api.get('/api/queues');
  const queue = body.events.find(({ event }: { event: string }) => event === 'user.updated');
  expect(queue).toMatchObject({ visible: 1, paused: { reason: 'The table is away' } });
  expect((await running.api.get('/api/queues/user.updated/messages')).body.messages).toMatchObject([
    { eventId: DEAD.eventId, state: 'waiting', receives: 0 },
  ]);
  expect(await act({ kind: 'pause', event: 'user.updated', reason: 'Again' })).toMatchObject({
    state: 'failed',
    lines: [expect.stringMatching(/^user\.updated is paused already, since .*: The table is away$/)],
  });
  expect(await act({ kind: 'resume', event: 'user.updated' })).toMatchObject({ state: 'done' });
});

describe('a replay', () => {
  test('says its plan, and then sends what the archive has', async () => {
    const shopId = randomUUID();
    const { body } = await partner.post(shopUpdated(shopId));
    await settled(String(body.requestId));
    const replay = {
      kind: 'replay',
      events: ['shop.updated'],
      since: '1h',
      ids: [String(body.eventId)],
    } as const;
    const plan = await eventually(async () => {
      const task = await act({ ...replay, dryRun: true });
      return task.state === 'done' ? task : undefined;
    });
    expect(plan.lines.at(-1)).toMatch(/^shop\.updated +1 +1$/);
    expect(plan.lines.join('\n')).not.toContain('\u001b');
    const done = await act({ ...replay, dryRun: false });
    expect(done).toMatchObject({ state: 'done' });
    expect(done.lines.at(-1)).toBeDefined();
  });

  test('that is interrupted says how to go on, and meanwhile keeps another one from beginning', async () => {
    const shops = Array.from({ length: 3 }, () => randomUUID());
    for (const shopId of shops) await partner.post(shopUpdated(shopId));
    const replay = { kind: 'replay', dryRun: false, events: [], since: '1h', rate: 1 } as const;
    const { body: task } = await ask(replay, true);
    const second = await ask(replay, true);
    expect(second).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`already: ${task.command}`) },
    });
    const path = `/api/tasks/${task.id}`;
    const headers = { 'content-type': 'application/json', 'x-console-token': 'test-token' };
    expect(await running.api.request(path, { method: 'DELETE', headers })).toMatchObject({ status: 202 });
    expect(await ended(task.id)).toMatchObject({ state: 'failed' });
    const other = await running.api.request('/api/tasks/none', { method: 'DELETE', headers });
    expect(other.status).toBe(404);
  });
});

test('tasks are told to every page, the newest first in the list', async () => {
  const told: string[] = [];
  const end = running.console.news.subscribe((item) => {
    if (item.event === 'task') told.push(`${item.data.id} ${item.data.state}`);
  });
  const { id } = await act({ kind: 'send', event: 'review.posted' });
  end();
  expect([told[0], told.at(-1)]).toEqual([`${id} running`, `${id} done`]);
  expect((await running.api.get('/api/tasks')).body[0]).toMatchObject({ id });
});
