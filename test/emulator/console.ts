import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { eventNames } from '../../lambda/events/catalogue.ts';
import type {
  DeadLetters,
  DeliveryDetail,
  DeliveryList,
  QueueMessages,
  Queues,
  StackInfo,
  TableRows,
  Task,
} from '../../tools/console/api.ts';
import { Partner } from '../acceptance/partner.ts';
import { readTarget } from '../acceptance/target.ts';
import { readWebhookSecret } from '../acceptance/webhook-secret.ts';
import { eventually } from '../support/eventually.ts';
import { start, stop } from './command.ts';
import type { Emulator } from './emulator.ts';

/** Milliseconds that something may take here: functions start in processes of their own. */
const PATIENCE = { limit: 120_000, interval: 500 };

/**
 * Opens the console of a stage as a person does, and has every view answer: a delivery is followed by the stage's logs,
 * archive and table.
 * @throws Error with what was otherwise
 */
export async function mustShow(
  stage: string,
  outputsFile: string,
  { environment, settings }: Pick<Emulator, 'environment' | 'settings'>,
): Promise<void> {
  const { outputs } = readTarget(outputsFile);
  const secret = await readWebhookSecret(outputs.WebhookSecretArn, settings);
  // Node.js' own client, which the console sends with, knows no names below `.localhost`.
  const partner = new Partner(outputs.WebhookUrl, secret);
  const command = start(
    ['npm', 'run', '--silent', 'console', '--', '--stage', stage, '--port', '0'],
    environment,
  );
  try {
    await lookAtEveryView(stage, await addressOf(command), partner);
  } finally {
    await stop(command);
  }
}

async function addressOf(command: ChildProcess): Promise<URL> {
  let output = '';
  for (const stream of [command.stdout, command.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return eventually(async () => {
    if (command.exitCode !== null) throw new Error(`The console ended: ${output}`);
    const [, address] = /Console {3}(\S+)/.exec(output) ?? [];
    return address === undefined ? undefined : new URL(address);
  }, PATIENCE);
}

async function lookAtEveryView(stage: string, address: URL, partner: Partner): Promise<void> {
  const { origin } = address;
  const opened = await fetch(address, { redirect: 'manual' });
  const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
  const headers = { cookie, 'content-type': 'application/json' };

  async function ask<Answer>(path: string, body?: unknown): Promise<Answer> {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${origin}/api${path}`, { headers, ...sent });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  }
  /** Runs a command to its end. */
  async function run(...argv: string[]): Promise<Task> {
    const { id } = await ask<Task>('/tasks', { argv });
    const task = await eventually(async () => {
      const now = await ask<Task>(`/tasks/${id}`);
      return now.state === 'running' ? undefined : now;
    }, PATIENCE);
    assert.equal(task.state, 'done', task.lines.join('\n'));
    return task;
  }

  const stack = await ask<StackInfo>('/stack');
  assert.deepEqual([stack.title, stack.local], [`stage ${stage} in us-east-1`, false]);

  const key = randomUUID();
  const timestamp = new Date().toISOString();
  const { body } = await partner.post({ event: 'shop.updated', data: { shop_id: key }, timestamp });
  const delivery = String(body.requestId);
  const path = `/deliveries/${encodeURIComponent(delivery)}`;
  await eventually(async () => {
    const { deliveries } = await ask<DeliveryList>('/deliveries?event=shop.updated&state=processed');
    return deliveries.find(({ id }) => id === delivery);
  }, PATIENCE);
  const detail = await eventually(async () => {
    const known = await ask<DeliveryDetail>(path);
    return known.effects.length > 0 ? known : undefined;
  }, PATIENCE);
  assert.deepEqual(detail.problems, []);
  assert.deepEqual(
    detail.effects.map((effect) => effect.kind === 'item' && [effect.table, effect.written]),
    [['ShopCacheTable', 'by this event']],
  );
  const found = await ask<DeliveryList>(`/deliveries?search=${encodeURIComponent(key)}`);
  assert.ok(found.deliveries.some(({ id }) => id === delivery));
  assert.equal(found.searched?.refused, undefined);

  const queues = await ask<Queues>('/queues');
  assert.deepEqual(queues.problems, []);
  assert.deepEqual(
    [queues.events.map(({ event }) => event), queues.receiverQueues.map(({ name }) => name)],
    [eventNames, ['quarantine', 'unrouted']],
  );
  for (const name of ['quarantine', 'unrouted', 'dead:shop.updated']) {
    assert.equal((await ask<QueueMessages>(`/queues/${name}/messages`)).limited, false);
  }
  assert.deepEqual((await ask<DeadLetters>('/dead-letters')).problems, []);
  for (const { name } of stack.tables) await ask<TableRows>(`/tables/${name}`);
  const rows = await ask<TableRows>(`/tables/ShopCacheTable?key=${encodeURIComponent(key)}`);
  assert.equal(rows.rows.length, 1);

  await run('pause', 'review.posted', '--reason', 'The console is tried');
  const { events } = await ask<Queues>('/queues');
  const paused = events.find(({ event }) => event === 'review.posted')?.paused;
  assert.equal(paused?.reason, 'The console is tried');
  await run('resume', 'review.posted');
  await run('replay', 'shop.updated', '--since', '1h', '--dry-run');
}
