import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Project } from '../../commands/project.ts';
import { ago, at, numbered, Replayer } from './support.ts';

let aws: TestAws;
let replayer: Replayer;
let project: Project;

beforeAll(async () => {
  aws = await startTestAws();
  replayer = await Replayer.create(aws);
  project = await Project.create();
});
afterAll(async () => {
  await project.remove();
  await replayer.close();
  await aws.close();
});

const INTERRUPTIONS = 20;
const RATE = 400;
/** A group is a tenth of a second's messages. */
const GROUP = RATE / 10;
/** Shops of an object: it is left half done more often than not. */
const SHOPS = 3 * GROUP;
const LATE_SHOPS = 5;
/** Milliseconds from the first message to an interruption. */
const LONGEST_WAIT = 250;

const shops = () => replayer.shops();

test('interrupted at 20 random points, with late objects that sort earlier, it sends each message once, but for the group of a kill', async () => {
  const middle = ago(30);
  const name = 'interrupted';
  const args = ['replay', '--name', name, '--rate', String(RATE), '--yes'];
  const command = [...args, '--outputs', replayer.operator.outputsFile];
  const received = new Map<string, number>();
  let objects = 0;
  let expected = 0;
  const archive = async (count: number) => {
    // Each sorts before all that were there before.
    await replayer.archive(`object-${1_000 - objects}`, numbered(count, expected), middle);
    objects += 1;
    expected += count;
  };
  /** Takes what was sent. @returns how many messages had been received before */
  const takeRepeated = async () => {
    const all = await shops();
    const repeated = all.filter((shop) => received.has(shop)).length;
    for (const shop of all) received.set(shop, (received.get(shop) ?? 0) + 1);
    return repeated;
  };
  for (let index = 0; index < 10; index += 1) await archive(SHOPS);

  let wasKilled = false;
  let points = '';
  for (let index = 0; index < INTERRUPTIONS; index += 1) {
    const isKill = index % 2 === 1;
    const interrupt = new AbortController();
    const since = index === 0 ? at(ago(60)) : undefined;
    const killed = isKill ? project.start(command) : undefined;
    const ended = killed?.ended ?? replayer.replay({ name, rate: RATE, since }, interrupt.signal);
    const isSending = async () =>
      (await replayer.operator.queues.count(aws.outputs.ShopUpdatedQueueUrl)) > 0 ? true : undefined;
    await eventually(isSending, { interval: 5 });
    const wait = Math.random() * LONGEST_WAIT;
    points += ` ${isKill ? 'kill' : 'Ctrl-C'} ${Math.round(wait)} ms`;
    await sleep(wait);
    killed?.process.kill('SIGKILL');
    interrupt.abort();
    await ended;
    const repeated = await takeRepeated();
    expect({ points, repeated: repeated <= (wasKilled ? GROUP : 0) }).toEqual({ points, repeated: true });
    wasKilled = isKill;
    // As if a quarter of a minute had passed after a kill.
    const { running: _, finishedAt, ...state } = await replayer.state(name);
    expect({ points, finishedAt }).toEqual({ points, finishedAt: undefined });
    await replayer.putState(state);
    await archive(index % 2 === 0 ? SHOPS : LATE_SHOPS);
  }
  // More may be left than a queue takes from a replay at a time.
  const last = project.start(command);
  let repeated = 0;
  let isRunning = true;
  const ended = last.ended.finally(() => {
    isRunning = false;
  });
  while (isRunning) repeated += await takeRepeated();
  const { code, stdout } = await ended;
  repeated += await takeRepeated();
  expect({ points, code }).toEqual({ points, code: 0 });
  expect(stdout).toContain('Replay interrupted is finished');
  expect({ points, repeated: repeated <= GROUP }).toEqual({ points, repeated: true });
  expect({ points, received: received.size }).toEqual({ points, received: expected });
});
