import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Project } from '../../cli/commands/project.ts';
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
const LONG = 120_000;

const shops = async () =>
  (await replayer.taken('ShopUpdatedQueueUrl')).map(({ Body = '' }): string => JSON.parse(Body).data.shop_id);

test(
  'interrupted at 20 random points, with late objects that sort earlier, it sends each message once, but for the group of a kill',
  async () => {
    const middle = ago(30);
    const name = 'interrupted';
    const args = ['replay', '--name', name, '--rate', String(RATE), '--yes'];
    const command = [...args, '--outputs', replayer.operator.outputsFile];
    /** By shop, the run in which it was received first. */
    const received = new Map<string, number>();
    /** Messages that were received again, by the kill that they are due to; by -1 if there was none. */
    const repeated = new Map<number, number>();
    let run = 0;
    let objects = 0;
    let expected = 0;
    const archive = async (count: number) => {
      // Each sorts before all that were there before.
      await replayer.archive(`object-${1_000 - objects}`, numbered(count, expected), middle);
      objects += 1;
      expected += count;
    };
    const isKilled = (index: number) => index % 2 === 1 && index < INTERRUPTIONS;
    /** The kill that a message may be repeated for: what a killed run had sent may also arrive after its end. */
    const killOf = (first: number) => [first, first - 1].find(isKilled) ?? -1;
    const take = async () => {
      for (const shop of await shops()) {
        const first = received.get(shop);
        if (first === undefined) received.set(shop, run);
        else repeated.set(killOf(first), (repeated.get(killOf(first)) ?? 0) + 1);
      }
    };
    const assertRepeated = () => {
      const beyond = [...repeated].filter(([kill, count]) => count > (kill === -1 ? 0 : GROUP));
      expect({ points, beyond }).toEqual({ points, beyond: [] });
    };
    let points = '';
    for (let index = 0; index < 10; index += 1) await archive(SHOPS);

    for (; run < INTERRUPTIONS; run += 1) {
      const isKill = isKilled(run);
      const interrupt = new AbortController();
      const since = run === 0 ? at(ago(60)) : undefined;
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
      await take();
      assertRepeated();
      // As if a quarter of a minute had passed after a kill.
      const { running: _, finishedAt, ...state } = await replayer.state(name);
      expect({ points, finishedAt }).toEqual({ points, finishedAt: undefined });
      await replayer.putState(state);
      await archive(isKill ? LATE_SHOPS : SHOPS);
    }
    // More may be left than a queue takes from a replay at a time.
    const last = project.start(command);
    let isRunning = true;
    const ended = last.ended.finally(() => {
      isRunning = false;
    });
    while (isRunning) await take();
    const { code, stdout } = await ended;
    await take();
    expect({ points, code }).toEqual({ points, code: 0 });
    expect(stdout).toContain('Replay interrupted is finished');
    assertRepeated();
    expect({ points, received: received.size }).toEqual({ points, received: expected });
  },
  LONG,
);
