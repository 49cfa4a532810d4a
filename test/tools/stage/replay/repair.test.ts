import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { FunctionLines } from '../../../lambda/function-lines.ts';
import { takeAll } from '../../../soak/take-all.ts';
import { eventually } from '../../../support/eventually.ts';
import { essence, expectedState, type ReceivedDelivery } from '../../../support/oracle.ts';
import { Partner } from '../../../support/partner.ts';
import { type Row, Tables } from '../../../support/tables.ts';
import { startTestStack, testAssembly } from '../../../support/test-stack.ts';
import { Project } from '../../cli/commands/project.ts';
import { ago, at, noted, Replayer } from './support.ts';
import { deployMistake, type Mistake } from './wrong-consumer.ts';

/** Writes names that nobody has sent. */
const MISTAKES: readonly Mistake[] = [
  {
    event: 'girl.created',
    right: 'shopId, name, sentData',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
    wrong: 'shopId, name: `wrong ${name}`, sentData',
  },
  {
    event: 'user.updated',
    right: 'userId, fields }',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
    wrong: 'userId, fields: { ...fields, display_name: `wrong ${fields.display_name}` } }',
  },
];

const REVIEWS = 200;
const POSTS_AT_A_TIME = 8;

/** Far beyond what it takes here, as machines are noisy. */
const LONG = 180_000;

let folder: string;
let stack: LocalStack;
let replayer: Replayer;
let project: Project;
let rooms: string[];
let mend: () => Promise<void>;
const lines = new FunctionLines();

/** 400 members of staff and as many users, each in one event or two of which the newer comes first; and reviews. */
const bodies: readonly string[] = [
  ...Array.from({ length: 400 }, (_, index) => {
    const girl = Math.floor(index / 2);
    const data = { girl_id: `girl-${girl}`, shop_id: 'shop-1', name: `Name ${index}` };
    return { event: 'girl.created', data, timestamp: moment(1_000 - index) };
  }),
  ...Array.from({ length: 400 }, (_, index) => {
    const user = Math.floor(index / 2);
    const data = { user_id: `user-${user}`, display_name: `Name ${index}` };
    return { event: 'user.updated', data, timestamp: moment(1_000 - index) };
  }),
  ...Array.from({ length: REVIEWS }, (_, index) => ({
    event: 'review.posted',
    data: { shop_id: 'shop-1', rating: index },
    timestamp: moment(index),
  })),
].map((event) => JSON.stringify(event));

function moment(second: number): string {
  return new Date(Date.UTC(2026, 0, 31, 9, 0, second)).toISOString();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-repair-'));
  const assembly = join(folder, 'cdk.out');
  await cp(testAssembly(), assembly, { recursive: true });
  stack = await startTestStack({ assembly, onLog: lines.add });
  replayer = await Replayer.create(stack);
  project = await Project.create();
  rooms = [
    await replayer.operator.queues.subscribe(stack.outputs.ReviewTopicArn, 'reviews'),
    await replayer.operator.queues.subscribe(stack.outputs.ChatTopicArn, 'chat'),
  ];
  const mends: (() => Promise<void>)[] = [];
  for (const mistake of MISTAKES) mends.push(await deployMistake(stack, mistake));
  mend = async () => {
    for (const one of mends) await one();
  };
  const partner = new Partner(stack.outputs.WebhookUrl);
  const left = [...bodies];
  const post = async () => {
    for (let body = left.shift(); body !== undefined; body = left.shift()) {
      expect(await partner.post(body)).toMatchObject({ status: 200 });
    }
  };
  await Promise.all(Array.from({ length: POSTS_AT_A_TIME }, post));
  await quiet();
});

afterAll(async () => {
  await project?.remove();
  await replayer?.close();
  await stack?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Waits until nothing is on the queues of the events. */
async function quiet(): Promise<void> {
  const urls = ['GirlCreatedQueueUrl', 'UserUpdatedQueueUrl', 'ReviewPostedQueueUrl'];
  await eventually(
    async () => {
      const counts = await Promise.all(urls.map((url) => replayer.operator.queues.count(stack.outputs[url])));
      return counts.every((count) => count === 0) || undefined;
    },
    { limit: LONG, interval: 100 },
  );
}

async function rows(): Promise<Row[]> {
  const tables = new Tables(stack.operator);
  const all = await Promise.all([
    tables.scan(stack.outputs.CastTable),
    tables.scan(stack.outputs.ContactPartnerTable),
  ]);
  return all.flat().map((row) => essence(row) ?? {});
}

/** What the tables must hold, by the one rule that the newest event wins. */
function expectedRows(): Row[] {
  const deliveries: ReceivedDelivery[] = bodies.map((body) => ({
    body,
    receivedAt: new Date().toISOString(),
  }));
  const { cast, contacts } = expectedState(deliveries);
  return [...cast.values(), ...contacts.values()].map((row) => essence(row) ?? {});
}

const byId = (one: Row, other: Row) => idOf(one).localeCompare(idOf(other));
const idOf = (row: Row) => String(row.girl_id ?? row.user_id);

const told = () => takeAll(replayer.operator.queues, rooms);
const eventIds = (notifications: readonly Message[]) =>
  notifications.map((message) => noted(message, 'eventId') ?? '');

/** Each review once, and nothing else. */
function expectEachOnce(notifications: readonly Message[]): void {
  const ids = eventIds(notifications);
  expect(ids).toHaveLength(REVIEWS);
  expect(new Set(ids).size).toBe(REVIEWS);
}

const since = at(ago(60));

test('with the mistakes every name is wrong, and everybody is told once', async () => {
  expect((await rows()).sort(byId)).not.toEqual(expectedRows().sort(byId));
  const names = (await rows()).map(({ name, display_name }) => String(name ?? display_name));
  expect(names).toHaveLength(400);
  expect(names.filter((name) => !name.startsWith('wrong '))).toEqual([]);
  expectEachOnce(await told());
});

test('once they are mended, a replay that fills leaves the wrong rows as they are, as they are up to date', async () => {
  await mend();
  expect(await replayer.replay({ since, mode: 'fill' })).toMatchObject({ done: true });
  await quiet();
  const names = (await rows()).map(({ name, display_name }) => String(name ?? display_name));
  expect(names.filter((name) => !name.startsWith('wrong '))).toEqual([]);
  expect(await told()).toEqual([]);
});

test('one that repairs makes every row right by its newest event, and nobody is told; it shows as a replay', async () => {
  const before = { logged: lines.logged.length, metrics: lines.metrics.length };
  const { said, done } = await replayer.replay({ since, mode: 'repair', name: 'mend-names' });
  expect(done).toBe(true);
  await quiet();
  expect((await rows()).sort(byId)).toEqual(expectedRows().sort(byId));
  expect(await told()).toEqual([]);
  expect(said).toContain('sent 1,000 messages');

  const counted = lines.metrics.slice(before.metrics).map(({ name }) => name);
  expect(new Set(counted)).toEqual(new Set(['Replayed']));
  expect(counted).toHaveLength(bodies.length);
  const settled = lines.logged
    .slice(before.logged)
    .filter(({ message }) => ['Processed', 'Stale', 'Duplicate'].includes(String(message)));
  expect(settled).toHaveLength(bodies.length);
  expect(
    settled.filter(({ replay, latencyMs }) => replay !== 'mend-names' || latencyMs !== undefined),
  ).toEqual([]);
});

test('with --notify everybody is told once more, and the rows stay right', async () => {
  expect(await replayer.replay({ since, mode: 'repair', notify: true })).toMatchObject({ done: true });
  await quiet();
  expectEachOnce(await told());
  expect((await rows()).sort(byId)).toEqual(expectedRows().sort(byId));
});

test('killed in the middle and run again under its name it tells each once', async () => {
  const options = 'review.posted --since 1h --mode repair --notify --name killed --yes'.split(' ');
  const where = ['--outputs', replayer.operator.outputsFile];
  const killed = project.start(['replay', ...options, '--rate', '30', ...where]);
  await eventually(
    async () => {
      const { sent = {} } = await replayer.state('killed').catch(() => ({ sent: {} }));
      return Object.values<number>(sent).some((count) => count > 0) || undefined;
    },
    { limit: LONG },
  );
  killed.process.kill('SIGKILL');
  await killed.ended;

  const again = ['replay', ...options, ...where];
  const refused = await project.run(again);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^Replay killed is running, by \S+, last seen \d+ s ago\. .*\n$/);

  // As if a quarter of a minute had passed.
  const { running, ...state } = await replayer.state('killed');
  expect(running).toBeDefined();
  const sent = state.sent['review.posted'] ?? 0;
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(REVIEWS);
  await replayer.putState(state);
  const { code, stdout } = await project.run(again);
  expect(code).toBe(0);
  expect(stdout).toContain(`Replay killed is finished: sent ${REVIEWS - sent} messages in`);
  await quiet();
  expectEachOnce(await told());
});
