import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Task } from '../../../tools/console/api.ts';
import { Tasks } from '../../../tools/console/server/tasks.ts';
import type { Step } from '../../../tools/stage/history/history.ts';
import { eventually } from '../../support/eventually.ts';
import { Partner } from '../../support/partner.ts';
import { Tables } from '../../support/tables.ts';
import { DEAD, Operator, shopUpdated } from '../stage/queues/support.ts';
import { startStageConsole } from './stage-console.ts';
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

const post = (request: unknown) => running.api.post('/api/tasks', request);

/** Runs a command to its end. */
async function run(line: string, input?: string): Promise<Task> {
  const { status, body } = await post({ argv: line.split(' '), input });
  expect({ status, body }).toMatchObject({ status: 202, body: { state: 'running' } });
  return running.api.ended(body.id);
}

const PENDING = ['queued', 'retrying', 'received'];

/** A delivery once nothing more happens to it. */
const settled = (id = '') =>
  eventually(async () => {
    const delivery = running.source.store.get(id);
    return delivery === undefined || PENDING.includes(delivery.state) ? undefined : delivery;
  });

const row = (shop_id: string) => tables.get(running.stack.outputs.ShopCacheTable, { shop_id });

describe('what the console does not run is refused in one line,', () => {
  const only = 'The console does not run this command. It runs: send, dlq redrive, pause, resume, replay';

  test.each<[request: unknown, status: number, detail: string]>([
    [{}, 400, 'argv: Invalid input: expected array, received undefined'],
    [{ argv: [] }, 400, 'argv: Too small'],
    [{ argv: ['send', 5] }, 400, 'argv.1: Invalid input: expected string'],
    [{ argv: ['send'], confirmed: true }, 400, 'The body: Unrecognized key: "confirmed"'],
    [{ argv: ['archive', 'forget'] }, 400, only],
    [{ argv: ['constructor'] }, 400, only],
    [{ argv: ['dlq'] }, 400, only],
    [{ argv: ['dlq', 'help'] }, 400, only],
    [{ argv: ['dlq', '--help'] }, 400, only],
    [{ argv: ['dlq', 'list'] }, 400, only],
    [{ argv: ['dlq', 'show', 'shop.updated', '--payload'] }, 400, only],
    [{ argv: ['dlq', 'redrive'] }, 400, "Missing required argument 'queue'"],
    [{ argv: ['dlq', 'redrive', 'payments'] }, 400, "No queue 'payments'"],
    [{ argv: ['dlq', 'redrive', '--', '--stage'] }, 400, "No queue '--stage'"],
    [{ argv: ['dlq', 'redrive', 'unrouted', '-h'] }, 400, "Unknown option '-h'"],
    [{ argv: ['dlq', 'redrive', 'unrouted', '--stage=x'] }, 400, 'The console does not take --stage'],
    [{ argv: ['send'] }, 400, 'Name one event: '],
    [{ argv: ['send', 'shop.update'] }, 400, "No event 'shop.update'. Did you mean shop.updated?"],
    [{ argv: ['send', 'shop.updated', 'user.updated'] }, 400, 'Too many arguments'],
    [{ argv: ['send', 'shop.updated', '--stage', 'prod'] }, 400, 'The console does not take --stage'],
    [
      { argv: ['send', 'shop.updated', '--outputs', '/etc/passwd'] },
      400,
      'The console does not take --outputs',
    ],
    [{ argv: ['send', 'shop.updated', '--url', 'example.com'] }, 400, 'The console does not take --url'],
    [{ argv: ['send', 'shop.updated', '--secret', 'x'] }, 400, 'The console does not take --secret'],
    [{ argv: ['send', 'shop.updated', '--count', '9'] }, 400, 'The console does not take --count'],
    [{ argv: ['send', '--file', '/etc/passwd'] }, 400, '--file takes only -'],
    [{ argv: ['send', '--file', '-'] }, 400, '--file - and input need each other'],
    [{ argv: ['send', 'shop.updated'], input: '{}' }, 400, '--file - and input need each other'],
    [{ argv: ['send', 'shop.updated', '--file', '-'], input: '{}' }, 400, 'Either an event or --file'],
    [{ argv: ['pause', 'shop.updated'] }, 400, 'Say why, in one line of 1 to 400 characters'],
    [{ argv: ['pause', 'shop.updated', '--reason', 'a\nb'] }, 400, 'Say why, in one line'],
    [{ argv: ['pause', 'shop.update', '--reason', 'x'] }, 400, "No event 'shop.update'"],
    [{ argv: ['resume', 'shop.updated', '--reason', 'x'] }, 400, "Unknown option '--reason'"],
    [{ argv: ['replay', '--since', '1h'] }, 400, 'A replay needs --dry-run or --yes'],
    [
      { argv: ['replay', '--since', 'never', '--yes'] },
      400,
      "Option '--since <time>' argument 'never' is invalid",
    ],
    [{ argv: ['replay', '--rate', '0', '--yes'] }, 400, "Option '--rate <n>' argument '0' is invalid"],
  ])('%j', async (request, status, detail) => {
    const answer = await post(request);
    expect(answer).toMatchObject({ status, body: { detail: expect.stringContaining(detail) } });
    expect(answer.body.detail).not.toContain('\n');
    expect((await running.api.get('/api/tasks')).body).toEqual([]);
  });

  test('and so is a command of thousands of ids', async () => {
    const ids = Array.from({ length: 5_000 }, () => `--id=${randomUUID()}`);
    expect(await post({ argv: ['dlq', 'redrive', 'unrouted', ...ids] })).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/^The command is too long: .* Name fewer ids$/) },
    });
  });
});

describe('send', () => {
  test('of a sample is a delivery that settles', async () => {
    const task = await run('send shop.updated');
    expect(task).toMatchObject({
      command: 'npm run send -- shop.updated',
      state: 'done',
      blocks: [{ kind: 'text', text: expect.stringMatching(/^200 queued {2}event /) }],
      lines: [expect.stringMatching(/^200 queued {2}event /)],
      deliveries: [expect.any(String)],
    });
    expect(await settled(task.deliveries[0])).toMatchObject({ event: 'shop.updated', state: 'processed' });
  });

  test('signs with the secret of the stack, whatever the environment has', async () => {
    process.env.WEBHOOK_SECRET = 'another';
    try {
      expect(await run('send shop.updated')).toMatchObject({ state: 'done' });
    } finally {
      delete process.env.WEBHOOK_SECRET;
    }
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
    expect(await settled(id)).toMatchObject({ status: 401 });
    const task = await run(`send --again ${id}`);
    expect(await settled(task.deliveries[0])).toMatchObject({ state: 'processed' });
    const same = await run(`send --again ${id} --same-headers`);
    expect(same).toMatchObject({
      state: 'failed',
      lines: [expect.anything(), expect.stringMatching(/^401 /)],
    });
  });

  test('--file - signs the input, whatever it is', async () => {
    const shopId = randomUUID();
    const sent = await run('send --file -', shopUpdated(shopId));
    expect(await settled(sent.deliveries[0])).toMatchObject({ state: 'processed' });
    expect(await row(shopId)).toBeDefined();
    const unusable = await run('send --file -', 'no JSON, ´\u0000´');
    expect(unusable).toMatchObject({ state: 'failed', lines: [expect.stringMatching(/^400 /)] });
    expect(await settled(unusable.deliveries[0])).toMatchObject({ state: 'invalid', status: 400 });
  });

  test('to a stage takes no text', async () => {
    await using stage = await startStageConsole(running.stack);
    const request = { argv: ['send', '--file', '-'], input: '{}' };
    const { status, body } = await stage.api.post('/api/tasks', request);
    expect({ status, detail: body.detail }).toEqual({
      status: 403,
      detail: expect.stringContaining('A stage gets only what the partner has sent'),
    });
  });
});

describe('dlq redrive', () => {
  test('of one dead letter has its effect, and leaves the others', async () => {
    const url = operator.outputs.ShopUpdatedDeadLetterQueueUrl;
    const shopId = randomUUID();
    const other = await operator.put(url, shopUpdated('shop-1'), DEAD);
    const id = await operator.put(url, shopUpdated(shopId), DEAD);
    expect(await run(`dlq redrive shop.updated --id ${id}`)).toMatchObject({
      command: `npm run dlq -- redrive shop.updated --id ${id}`,
      state: 'done',
      lines: ['    1 × moved to the queue of shop.updated'],
    });
    await eventually(() => row(shopId));
    expect(await running.stack.inspectQueue(url ?? '')).toMatchObject([{ id: other }]);
  });

  test('of nothing fails with the command’s own line', async () => {
    expect(await run('dlq redrive shop.updated')).toMatchObject({
      state: 'failed',
      lines: ['Nothing to redrive: the dead-letter queue of shop.updated is empty'],
    });
  });

  test('shows its progress, and keeps a second one of the same queue from starting', async () => {
    const url = operator.outputs.ShopUpdatedDeadLetterQueueUrl;
    for (let count = 0; count < 4; count += 1) await operator.put(url, shopUpdated(randomUUID()), DEAD);
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
    await running.api.delete(`/api/tasks/${first.id}`);
    expect(await running.api.ended(first.id)).toMatchObject({
      state: 'failed',
      lines: [expect.any(String), expect.stringMatching(/^Cancelled\. /)],
    });
  });

  test('is noted for the delivery whose dead letter it was, until it is tried again', async () => {
    await run('pause shop.updated --reason test');
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
    await run('dlq redrive shop.updated');
    expect(running.source.store.get(requestId)).toMatchObject({ state: 'queued' });
    await run('resume shop.updated');
  });

  test('of what fails again at once leaves its delivery a dead letter', async () => {
    // No message of it is known yet.
    const { body } = await partner.post(shopUpdated(randomUUID()).replace('shop.updated', 'shop.opened'));
    const requestId = String(body.requestId);
    await settled(requestId);
    await operator.put(operator.outputs.ShopUpdatedDeadLetterQueueUrl, 'no JSON', { ...DEAD, requestId });
    expect(await run('dlq redrive shop.updated')).toMatchObject({ state: 'done' });
    expect(
      await eventually(async () => {
        const delivery = running.source.store.get(requestId);
        return delivery?.state === 'parked' ? undefined : delivery;
      }),
    ).toMatchObject({ state: 'dead-letter' });
  });

  test('of a message whose consumer crashed leaves its crashes in the history', async () => {
    const { stack, source } = running;
    const { queueUrl, deadLetterQueueUrl } = operator.stack.event('user.updated');
    const deadLetterTargetArn = deadLetterQueueUrl.replace(
      /^.*\/(\d+)\/(.*)$/,
      'arn:aws:sqs:us-east-1:$1:$2',
    );
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
    const [id = ''] = (await run('send user.updated')).deliveries;
    const history = async () => {
      const delivery = await settled(id);
      return (await source.history(delivery, new AbortController().signal)).history;
    };
    const crashes = { kind: 'crashed', attempt: 1, attempts: 2, error: 'Runtime.ExitError' };
    expect(await settled(id)).toMatchObject({
      state: 'dead-letter',
      error: 'The function crashed (Runtime.ExitError)',
    });
    expect((await history()).steps).toContainEqual(expect.objectContaining(crashes));

    await run('pause user.updated --reason crashes');
    await run('dlq redrive user.updated');
    expect(source.store.get(id)).toMatchObject({ state: 'queued' });
    await stack.replaceCode('user-updated', code);
    await run('resume user.updated');
    expect(await settled(id)).toMatchObject({ state: 'processed' });
    expect((await history()).steps).toContainEqual(expect.objectContaining(crashes));
    await rm(folder, { recursive: true });
  });
});

test('pause and resume print what they did, and a second pause is refused', async () => {
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
    const history = () => running.source.history(first, new AbortController().signal);
    const replayed = await eventually(async () => {
      const { steps, now } = (await history()).history;
      return steps.some(({ reason }: Step) => reason === 'up-to-date') ? now : undefined;
    });
    expect(replayed).toMatchObject([{ state: 'processed' }]);
  });

  test('that is interrupted fails, and meanwhile no other one starts', async () => {
    for (const shopId of Array.from({ length: 3 }, () => randomUUID())) {
      await partner.post(shopUpdated(shopId));
    }
    const argv = ['replay', '--since', '1h', '--rate', '1', '--yes'];
    const { body: task } = await post({ argv });
    expect(await post({ argv })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`already changes the archive by a replay: ${task.command}`) },
    });
    expect(await running.api.delete(`/api/tasks/${task.id}`)).toMatchObject({ status: 202 });
    expect(await running.api.ended(task.id)).toMatchObject({ state: 'failed' });
    expect(await running.api.delete('/api/tasks/none')).toMatchObject({ status: 404 });
  });
});

test('pages get each change of a task, and the list has the newest first', async () => {
  const changes: Task[] = [];
  const unsubscribe = running.console.news.subscribe((_subject, { event, data }) => {
    if (event === 'task') changes.push(data);
  });
  const { id } = await run('send review.posted');
  unsubscribe();
  const states = changes.map((task) => `${task.id} ${task.state}`);
  expect([states[0], states.at(-1)]).toEqual([`${id} running`, `${id} done`]);
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
  expect(tasks.list()[0]).toMatchObject({ state: 'done' });
});
