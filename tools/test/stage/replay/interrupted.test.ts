import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.ts';
import { essence } from '../../../../test/support/oracle.ts';
import { Partner } from '../../../../test/support/partner.ts';
import { sharedStack } from '../../../../test/support/shared-stack.ts';
import { Tables } from '../../../../test/support/tables.ts';
import { Project } from '../../commands/project.ts';
import { Operator } from '../queues/support.ts';

let project: Project;
beforeAll(async () => {
  project = await Project.create();
});
afterAll(() => project.remove());

/** Cast members that a bug made wrong. */
const WRONG = 60;
/** Reviews that are notified again. */
const REVIEWS = 10;
/** Messages a second: a run takes half a minute, so an interruption comes before its end on a busy machine, too. */
const RATE = 2;

// What each kind of replay writes is tested with the consumers.
test('a repair that is killed, and interrupted by Ctrl-C, ends in the right state, and notifies once', async () => {
  const stack = await sharedStack();
  const operator = await Operator.create(stack);
  const tables = new Tables(stack.operator);
  const partner = new Partner(stack.outputs.WebhookUrl);
  const TableName = stack.outputs.CastTable;
  const run = randomUUID();
  const shop_id = `shop-${run}`;
  const subscriber = await operator.queues.subscribe(stack.outputs.ReviewTopicArn, `interrupted-${run}`);
  const girls = Array.from({ length: WRONG }, (_, index) => `girl-${index}-${run}`);
  const cast = () =>
    Promise.all(girls.map(async (girl_id) => essence(await tables.get(TableName, { girl_id }))));
  const timestamp = '2026-01-31T09:00:00Z';

  for (const girl_id of girls) {
    const data = { shop_id, girl_id, name: `Right ${girl_id}` };
    await partner.post({ event: 'girl.created', data, timestamp });
  }
  for (let rating = 0; rating < REVIEWS; rating += 1) {
    await partner.post({ event: 'review.posted', data: { shop_id, rating }, timestamp });
  }
  const right = await eventually(async () => {
    const items = await cast();
    return items.every((item) => item !== undefined) ? items : undefined;
  });
  const dryRun = `replay girl.created review.posted --since 1h --shop ${shop_id} --mode repair --notify --name n-${run} --rate ${RATE} --dry-run --json`;
  const on = ['--outputs', operator.outputsFile];
  const { command } = await eventually(async () => {
    const plan = JSON.parse((await project.type([...dryRun.split(' '), ...on])).stdout || '{}');
    return plan.messages === WRONG + REVIEWS ? plan : undefined;
  });
  const words: string[] = command.split(' ').slice(2);
  await operator.queues.takeAll(subscriber);

  // Like a bug of a consumer.
  for (const girl_id of girls) {
    const Item = marshall({ ...(await tables.get(TableName, { girl_id })), name: 'wrong' });
    await tables.client.send(new PutItemCommand({ TableName, Item }));
  }
  const wrong = JSON.stringify(await cast());
  const killed = project.start(words);
  await eventually(async () => JSON.stringify(await cast()) !== wrong || undefined);
  await sleep(Math.random() * 1_500);
  killed.process.kill('SIGKILL');
  await killed.ended;
  const interrupted = project.start(words);
  await sleep(Math.random() * 1_500);
  // Before its first message, Ctrl-C ends the plan.
  await eventually(async () => interrupted.stdout().includes('To run this plan') || undefined);
  interrupted.interrupt();
  const { code, stdout } = await interrupted.ended;
  const all = (WRONG + REVIEWS).toLocaleString('en');
  expect(code).toBe(130);
  expect(stdout.trimEnd().split('\n').slice(-2)).toEqual([
    expect.stringMatching(new RegExp(`^Interrupted: [\\d,]+ of ${all} messages are sent\\.$`)),
    `Run it again with: ${command}`,
  ]);

  expect(await cast()).not.toEqual(right);
  const fast = words.map((word) => (word === String(RATE) ? '10000' : word));
  expect(await project.type(fast)).toMatchObject({ code: 0 });
  await eventually(async () => JSON.stringify(await cast()) === JSON.stringify(right) || undefined);
  const notified = new Set<string>();
  await eventually(async () => {
    for (const { MessageAttributes } of await operator.queues.takeAll(subscriber)) {
      const id = String(MessageAttributes?.eventId?.StringValue);
      expect(notified).not.toContain(id);
      notified.add(id);
    }
    return notified.size === REVIEWS || undefined;
  });
  await operator.close();
});
