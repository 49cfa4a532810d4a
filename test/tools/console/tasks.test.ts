import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Task } from '../../../tools/console/api.ts';
import { Tasks } from '../../../tools/console/server/tasks.ts';
import type { Step } from '../../../tools/stage/history/history.ts';
import { eventually } from '../../support/eventually.ts';
import { Partner } from '../../support/partner.ts';
import { DEAD, Operator, shopUpdated } from '../stage/queues/support.ts';
import { answered, startStageConsole, startTestConsole, type TestConsole } from './support.ts';

let running: TestConsole;
let operator: Operator;
let partner: Partner;

beforeAll(async () => {
  running = await startTestConsole();
  operator = await Operator.create(running.stack);
  partner = new Partner(running.stack.outputs.WebhookUrl);
});
afterAll(async () => {
  await operator.close();
  await running[Symbol.asyncDispose]();
});
beforeEach(() => operator.empty());

const post = (request: unknown) => running.api.post('/api/tasks', request);

/** Runs a command to its end. */
async function run(line: string, input?: string): Promise<Task> {
  const { status, body } = await post({ argv: line.split(' '), input });
  expect({ status, body }).toMatchObject({ status: 202, body: { state: 'running' } });
  return running.api.ended(body.id);
}

/** A delivery once nothing more happens to it. */
const settled = (id = '') =>
  eventually(async () => {
    const delivery = running.source.store.get(id);
    const isPending = ['queued', 'retrying', 'received', undefined].includes(delivery?.state);
    return isPending ? undefined : delivery;
  });

describe('a command that the console does not run', () => {
  const only = 'The console does not run this command. It runs: send, dlq redrive, pause, resume, replay';

  test.each([
    { request: {}, detail: 'argv: Invalid input: expected array, received undefined' },
    { request: { argv: [] }, detail: 'argv: Too small' },
    { request: { argv: ['send', 5] }, detail: 'argv.1: Invalid input: expected string' },
    { request: { argv: ['send'], confirmed: true }, detail: 'The body: Unrecognized key: "confirmed"' },
    { request: { argv: ['dlq', 'show', 'shop.updated', '--payload'] }, detail: only },
    { request: { argv: ['send', '--file', '-'] }, detail: '--file - and input need each other' },
    {
      request: { argv: ['send', 'shop.updated'], input: '{}' },
      detail: '--file - and input need each other',
    },
    { request: { argv: ['pause', 'shop.updated', '--reason', 'a\nb'] }, detail: 'Say why, in one line' },
    { request: { argv: ['dlq', 'redrive', '--', '--stage'] }, detail: "No queue '--stage'" },
    {
      request: { argv: ['dlq', 'redrive', 'unrouted', ...Array(5_000).fill(`--id=${randomUUID()}`)] },
      detail: 'The command is too long: ',
    },
  ])('is refused in one line: $detail', async ({ request, detail }) => {
    const answer = await post(request);
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining(detail) } });
    expect(answer.body.detail).not.toContain('\n');
  });

  test.each([
    { line: 'archive forget', detail: only },
    { line: 'constructor', detail: only },
    { line: 'dlq', detail: only },
    { line: 'dlq --help', detail: only },
    { line: 'dlq redrive', detail: "Missing required argument 'queue'" },
    { line: 'dlq redrive payments', detail: "No queue 'payments'" },
    { line: 'dlq redrive unrouted -h', detail: "Unknown option '-h'" },
    { line: 'dlq redrive unrouted --stage=x', detail: 'The console does not take --stage' },
    { line: 'send shop.update', detail: "No event 'shop.update'. Did you mean shop.updated?" },
    { line: 'send shop.updated --outputs /etc/passwd', detail: 'The console does not take --outputs' },
    { line: 'send shop.updated --url example.com', detail: 'The console does not take --url' },
    { line: 'send shop.updated --secret x', detail: 'The console does not take --secret' },
    { line: 'send --file /etc/passwd', detail: '--file takes only -' },
    { line: 'pause shop.updated', detail: 'Say why, in one line of 1 to 400 characters' },
    { line: 'resume shop.updated --reason x', detail: "Unknown option '--reason'" },
    { line: 'replay --since 1h', detail: 'A replay needs --dry-run or --yes' },
    { line: 'replay --since never --yes', detail: "Option '--since <time>' argument 'never' is invalid" },
  ])('is refused in one line: $line', async ({ line, detail }) => {
    const answer = await post({ argv: line.split(' ') });
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining(detail) } });
    expect(answer.body.detail).not.toContain('\n');
  });

  test('is text of one’s own for a stage', async () => {
    await using stage = await startStageConsole(running.stack);
    const request = { argv: ['send', '--file', '-'], input: '{}' };
    expect(await stage.api.post('/api/tasks', request)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('A stage gets only what the partner has sent') },
    });
  });
});

describe('send', () => {
  test('of a sample is a delivery that settles, signed by the stack’s secret whatever the environment has', async () => {
    process.env.WEBHOOK_SECRET = 'another';
    const task = await run('send shop.updated').finally(() => delete process.env.WEBHOOK_SECRET);
    expect(task).toMatchObject({
      command: 'npm run send -- shop.updated',
      state: 'done',
      blocks: [{ kind: 'text', text: expect.stringMatching(/^200 queued {2}event /) }],
      lines: [expect.stringMatching(/^200 queued {2}event /)],
      deliveries: [expect.any(String)],
    });
    expect(await settled(task.deliveries[0])).toMatchObject({ event: 'shop.updated', state: 'processed' });
  });

  test('--again --same-headers posts the same bytes, headers and signature', async () => {
    const text = `${shopUpdated(randomUUID())}\n`;
    const { body } = await partner.post(text, { headers: { 'X-Partner-Trace': 'trace-1' } });
    const first = await settled(String(body.requestId));
    const task = await run(`send --again ${first.id} --same-headers`);
    const second = await settled(task.deliveries[0]);
    expect(second).toMatchObject({ eventId: first.eventId, state: 'skipped', reason: 'already-processed' });
    const own = async (delivery: typeof first) =>
      (await running.source.request(delivery)).headers
        .filter(([name]) => !/^(connection|host)$/i.test(name))
        .toSorted();
    expect(await own(second)).toEqual(await own(first));
    expect(await own(second)).toContainEqual(['X-Partner-Trace', 'trace-1']);
  });

  test('--again signs the bytes of a delivery that only the console has', async () => {
    const { body } = await partner.post(shopUpdated(randomUUID()), { signature: 'wrong' });
    const id = String(body.requestId);
    const task = await run(`send --again ${id}`);
    expect(await settled(task.deliveries[0])).toMatchObject({ state: 'processed' });
    const same = await run(`send --again ${id} --same-headers`);
    expect(same).toMatchObject({
      state: 'failed',
      lines: [expect.anything(), expect.stringMatching(/^401 /)],
    });
  });

  test('--file - signs the input, whatever it is', async () => {
    const sent = await run('send --file -', shopUpdated(randomUUID()));
    expect(await settled(sent.deliveries[0])).toMatchObject({ state: 'processed' });
    const unusable = await run('send --file -', 'no JSON, ´\u0000´');
    expect(unusable).toMatchObject({ state: 'failed', lines: [expect.stringMatching(/^400 /)] });
    expect(await settled(unusable.deliveries[0])).toMatchObject({ state: 'invalid', status: 400 });
  });
});

describe('dlq redrive', () => {
  const dead = () => operator.outputs.ShopUpdatedDeadLetterQueueUrl;

  /** A delivery that is known, though no message of it is. @returns its id */
  function addDelivery(): string {
    const requestId = randomUUID();
    running.feed.onExchange(answered(requestId, Buffer.from(shopUpdated('shop-1'))));
    return requestId;
  }

  test('of one dead letter leaves the others, and a second one fails with the command’s own line', async () => {
    const other = await operator.put(dead(), shopUpdated('shop-1'), DEAD);
    const id = await operator.put(dead(), shopUpdated('shop-2'), DEAD);
    expect(await run(`dlq redrive shop.updated --id ${id}`)).toMatchObject({
      command: `npm run dlq -- redrive shop.updated --id ${id}`,
      state: 'done',
      lines: ['    1 × moved to the queue of shop.updated'],
    });
    expect(await running.stack.inspectQueue(dead() ?? '')).toMatchObject([{ id: other }]);
    expect(await run('dlq redrive girl.created')).toMatchObject({
      state: 'failed',
      lines: ['Nothing to redrive: the dead-letter queue of girl.created is empty'],
    });
  });

  test('shows its progress, keeps a second one of the same queue from starting, and can be cancelled', async () => {
    for (let count = 0; count < 4; count += 1) await operator.put(dead(), shopUpdated(randomUUID()), DEAD);
    const argv = ['dlq', 'redrive', 'shop.updated', '--rate', '1'];
    const { body: first } = await post({ argv });
    expect(await post({ argv })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(first.command) },
    });
    const progress = await eventually(
      async () => (await running.api.get(`/api/tasks/${first.id}`)).body.progress,
    );
    expect(progress).toMatchObject({ doing: 'Moving', total: 4, unit: 'messages' });
    expect(await running.api.delete(`/api/tasks/${first.id}`)).toMatchObject({ status: 202 });
    expect(await running.api.ended(first.id)).toMatchObject({
      state: 'failed',
      lines: [expect.any(String), expect.stringMatching(/^Cancelled\. /)],
    });
    expect(await running.api.delete('/api/tasks/none')).toMatchObject({ status: 404 });
  });

  test('is noted for the delivery whose dead letter it was, until it is tried again', async () => {
    const requestId = addDelivery();
    const about = {
      timestamp: new Date().toISOString(),
      level: 'ERROR',
      message: 'DeadLettered',
      attempt: 10,
    };
    const line = {
      ...about,
      eventId: DEAD.eventId,
      event: 'shop.updated',
      requestId,
      messageId: 'message-1',
    };
    running.feed.onLog({ text: JSON.stringify(line) });
    expect(running.source.store.get(requestId)).toMatchObject({ state: 'dead-letter' });
    const id = await operator.put(dead(), shopUpdated('shop-1'), { ...DEAD, requestId });
    const end = running.stack.faults.inject({ service: 'dynamodb', kind: 'slow', milliseconds: 1_500 });
    await run(`dlq redrive shop.updated --id ${id}`).finally(end);
    expect(running.source.store.get(requestId)).toMatchObject({ state: 'queued' });
  });

  test('of what fails again at once leaves its delivery a dead letter', async () => {
    const requestId = addDelivery();
    await operator.put(dead(), 'no JSON', { ...DEAD, requestId });
    expect(await run('dlq redrive shop.updated')).toMatchObject({ state: 'done' });
    expect(await settled(requestId)).toMatchObject({ state: 'dead-letter' });
  });
});

test('a second pause fails with the command’s own line, until the event is resumed', async () => {
  expect(await run('pause user.updated --reason away')).toMatchObject({
    state: 'done',
    lines: expect.arrayContaining([expect.stringMatching(/^Paused\. Nothing processes user\.updated/)]),
  });
  expect(await run('pause user.updated --reason again')).toMatchObject({
    state: 'failed',
    lines: [expect.stringMatching(/^user\.updated is paused already, since .*: away$/)],
  });
  expect(await run('resume user.updated')).toMatchObject({ state: 'done' });
});

describe('replay', () => {
  test('shows its plan and its end as tables, and leaves a processed delivery processed', async () => {
    const { body } = await partner.post(shopUpdated(randomUUID()));
    const first = await settled(String(body.requestId));
    const replay = `replay shop.updated --since 1h --id ${body.eventId} --name again`;
    const plan = await eventually(async () => {
      const task = await run(`${replay} --dry-run`);
      return task.state === 'done' ? task : undefined;
    });
    expect(plan.blocks).toEqual([
      { kind: 'heading', text: expect.stringMatching(/^Replay again in the local stack/) },
      { kind: 'facts', facts: expect.arrayContaining([['messages', '1']]) },
      {
        kind: 'table',
        columns: [{ heading: 'EVENT' }, expect.anything(), { heading: 'PROCESSED', align: 'right' }],
        rows: [['shop.updated', '1', '1']],
      },
    ]);
    expect(plan.lines.at(-1)).toMatch(/^shop\.updated +1 +1$/);
    expect(plan.lines.join('\n')).not.toContain('\u001b');
    const done = await run(`${replay} --yes`);
    expect(done.blocks).toContainEqual(
      expect.objectContaining({ kind: 'table', rows: [['shop.updated', '1']] }),
    );
    const replayed = await eventually(async () => {
      const { history } = await running.source.history(first, new AbortController().signal);
      return history.steps.some(({ reason }: Step) => reason === 'up-to-date') ? history.now : undefined;
    });
    expect(replayed).toMatchObject([{ state: 'processed' }]);
  });

  test('keeps another one from starting, whatever it replays', async () => {
    const argv = ['replay', '--since', '1h', '--rate', '1', '--yes'];
    const { body: task } = await post({ argv });
    expect(await post({ argv: [...argv, '--shop', 'shop-1'] })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`already changes the archive by a replay: ${task.command}`) },
    });
    await running.api.delete(`/api/tasks/${task.id}`);
    expect(await running.api.ended(task.id)).toMatchObject({ state: 'failed' });
  });
});

test('pages get each change of a task, and the list has the newest first', async () => {
  const changes: Task[] = [];
  const unsubscribe = running.console.news.subscribe((_subject, { event, data }) => {
    if (event === 'task') changes.push(data);
  });
  const { id } = await run('send review.posted');
  unsubscribe();
  expect(changes.at(0)).toMatchObject({ id, state: 'running' });
  expect(changes.at(-1)).toMatchObject({ id, state: 'done' });
  expect((await running.api.get('/api/tasks')).body[0]).toMatchObject({ id });
});

test('nothing starts while a closing console waits for the end of its tasks', async () => {
  const ending = Promise.withResolvers<boolean>();
  const command = { argv: [], command: 'npm run send', subject: undefined, run: () => ending.promise };
  const tasks = new Tasks(running.source.stage, () => {});
  tasks.start(command);
  const closed = tasks.close();
  expect(() => tasks.start(command)).toThrow('The console is closing');
  ending.resolve(true);
  await closed;
  expect(tasks.list()).toMatchObject([{ state: 'done' }]);
});
