import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.ts';
import { Partner } from '../../../test/support/partner.ts';
import { pageCommands } from '../../commands/page-commands.ts';
import type { CommandRun } from '../../console/api.ts';
import { Commands } from '../../console/server/commands.ts';
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

const post = (request: unknown) => running.api.post('/api/commands', request);

async function run(line: string, input?: string): Promise<CommandRun> {
  const { status, body } = await running.api.run(line.split(' '), input);
  if (status !== 200) throw new Error(`${status}: ${body.detail}`);
  return body;
}

function newCommands() {
  const { source, stack } = running;
  const context = { source, local: { stack, secret: '' }, commands: pageCommands };
  return new Commands(context, { before: async () => {}, onChange: () => {} });
}

/** @returns a delivery when it has settled */
const settled = (id = '') =>
  eventually(async () => {
    const delivery = running.source.store.get(id);
    const isPending = ['queued', 'retrying', 'received', undefined].includes(delivery?.state);
    return isPending ? undefined : delivery;
  });

describe('a command that the console does not run', () => {
  const only =
    'The console does not run this command. It runs: send, dlq redrive, dlq discard, pause, resume, fault';

  const line = (text: string) => ({ argv: text.split(' ') });

  test.each([
    { request: { argv: [] }, detail: 'argv: Too small' },
    { request: { ...line('send'), confirmed: true }, detail: 'The request: Unrecognized key: "confirmed"' },
    { request: line('send --file -'), detail: '--file must be -, with input' },
    { request: { ...line('send --file /etc/passwd'), input: '{}' }, detail: '--file must be -, with input' },
    { request: line('send shop.updated --outputs x'), detail: 'The console does not support --outputs' },
    { request: line('send shop.updated --secret x'), detail: 'The console does not support --secret' },
    { request: line('archive forget'), detail: only },
    { request: line('constructor'), detail: only },
    { request: line('dlq show shop.updated --payload'), detail: only },
    { request: line('dlq'), detail: only },
    { request: line('dlq help'), detail: only },
    { request: line('dlq redrive'), detail: "Missing required argument 'queue'" },
    { request: line('dlq redrive unrouted -h'), detail: "Unknown option '-h'" },
    { request: line('dlq redrive unrouted --stage=x'), detail: 'The console does not support --stage' },
    { request: line('dlq discard unrouted --export=x'), detail: 'The console does not support --export' },
    {
      request: line(`dlq redrive unrouted${' --id=x'.repeat(20_000)}`),
      detail: 'The command is longer than',
    },
    {
      request: { argv: ['pause', 'shop.updated', '--reason', 'a\nb'] },
      detail: 'Give a reason, in one line',
    },
  ])('is refused in one line: $detail', async ({ request, detail }) => {
    const answer = await post(request);
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining(detail) } });
    expect(answer.body.detail).not.toContain('\n');
  });

  test('fails with its own message, if its parser accepts it', async () => {
    const lines = [expect.stringContaining("No queue '--stage'")];
    expect(await run('dlq redrive -- --stage')).toMatchObject({ state: 'failed', lines });
  });

  test('with text of the user’s own for a stage', async () => {
    await using stage = await startStageConsole(running.stack);
    const request = { argv: ['send', '--file', '-'], input: '{}' };
    const detail = expect.stringContaining('can only be sent to the local stack');
    expect(await stage.api.post('/api/commands', request)).toMatchObject({ status: 403, body: { detail } });
    expect(await stage.api.post('/api/commands', { argv: ['fault', 'list'] })).toMatchObject({ status: 400 });
  });
});

test('send of a sample becomes a settled delivery, signed by the stack’s secret in any environment', async () => {
  process.env.WEBHOOK_SECRET = 'another';
  const task = await run('send shop.updated').finally(() => delete process.env.WEBHOOK_SECRET);
  expect(task).toMatchObject({
    command: 'npx hookctl send shop.updated',
    state: 'done',
    lines: [expect.stringMatching(/^200 queued {2}event /)],
    sent: [{ requestId: expect.any(String), status: 200, text: 'queued' }],
  });
  expect(await settled(task.sent[0]?.requestId)).toMatchObject({
    event: 'shop.updated',
    state: 'processed',
  });
});

describe('dlq', () => {
  const dead = () => operator.outputs.ShopUpdatedDeadLetterQueueUrl;

  test('excludes a second one of the same queue, and is interrupted when the console closes', async () => {
    for (let count = 0; count < 4; count += 1) await operator.put(dead(), shopUpdated(randomUUID()), DEAD);
    const argv = ['dlq', 'redrive', 'shop.updated', '--rate', '1'];
    const commands = newCommands();
    const first = await commands.start({ argv });
    await expect(commands.start({ argv })).rejects.toThrow(
      `A running command changes the messages of shop.updated: ${first.command}`,
    );
    const closed = commands.close();
    await expect(commands.start({ argv })).rejects.toThrow('The console is closing');
    await closed;
    expect(await first.ended).toMatchObject({
      state: 'failed',
      lines: expect.arrayContaining([expect.stringMatching(/^Interrupted\. .* Nothing is lost\.$/)]),
    });
  });

  test('is shown for the delivery of the dead letter, until it is tried again', async () => {
    const requestId = randomUUID();
    running.feed.onExchange(answered(requestId, Buffer.from(shopUpdated('shop-1'))));
    const ids = { eventId: DEAD.eventId, event: 'shop.updated', requestId, messageId: 'message-1' };
    const about = { timestamp: new Date().toISOString(), level: 'ERROR', message: 'DeadLettered' };
    running.feed.onLog({ text: JSON.stringify({ ...about, ...ids, attempt: 10 }) });
    expect(running.source.store.get(requestId)).toMatchObject({ state: 'dead-letter' });
    const id = await operator.put(dead(), shopUpdated('shop-1'), { ...DEAD, requestId });
    await run('pause shop.updated --reason test');
    await run(`dlq redrive shop.updated --id ${id}`);
    // A reading of the queues that began before the redrive may be recorded after it.
    const { store } = running.source;
    await eventually(async () => store.get(requestId)?.state === 'queued' || undefined).finally(() =>
      run('resume shop.updated'),
    );
  });
});

test('an event is not resumed while its pause is being set, and its deliveries are then paused', async () => {
  const pausing = running.api.run(['pause', 'shop.updated', '--reason', 'away']);
  const refused = await eventually(async () => {
    const { status, body } = await post({ argv: ['resume', 'shop.updated'] });
    return status === 409 && body.detail.includes('A running command changes') ? body : undefined;
  });
  expect(refused.detail).toContain('the event source of shop.updated: npx hookctl pause shop.updated');
  expect((await pausing).body).toMatchObject({ state: 'done' });
  const { requestId } = (await partner.post(shopUpdated(randomUUID()))).body;
  const waiting = await running.api.get(`/api/deliveries/${encodeURIComponent(String(requestId))}`);
  expect(waiting.body).toMatchObject({
    state: 'queued',
    settled: false,
    history: { now: [{ state: 'paused', queue: 'shop.updated', paused: { reason: 'away' } }] },
  });
  expect(await run('resume shop.updated')).toMatchObject({ state: 'done' });
  expect(await settled(String(requestId))).toMatchObject({ state: 'processed' });
});
