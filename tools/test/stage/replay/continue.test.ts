import { setTimeout as sleep } from 'node:timers/promises';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { Checkpoint, DONE_IN_STATE, hashes } from '../../../stage/replay/checkpoint.ts';
import { StateFile } from '../../../stage/replay/replay-state.ts';
import { Project } from '../../commands/project.ts';
import { refusalOf, replied } from '../queues/support.ts';
import {
  at,
  begun,
  minutesAgo,
  numbered,
  OPERATOR,
  type Replayer,
  SINCE,
  startedReplayer,
} from './support.ts';

const started = startedReplayer();
let aws: TestAws;
let replayer: Replayer;

beforeAll(() => {
  ({ aws, replayer } = started);
});

const shops = () => replayer.shops();
const waiting = () => replayer.operator.queues.count(aws.outputs.ShopUpdatedQueueUrl);

describe('a second run under the same name continues', () => {
  test.each([
    { asked: { events: ['user.updated' as const] }, difference: 'its event is shop.updated' },
    { asked: { since: at(minutesAgo(90)) }, difference: `its --since is ${SINCE.text}` },
    { asked: { shop: 'shop-1' }, difference: 'its --shop is any' },
    { asked: { ids: ['request-1'] }, difference: 'its --id is any' },
    { asked: { outcomes: ['Stale' as const] }, difference: 'its --outcome is any' },
    { asked: { mode: 'repair' as const }, difference: 'its --mode is fill' },
    { asked: { notify: true }, difference: 'its --notify is off' },
  ])('another run with other options is refused: $difference', async ({ asked, difference }) => {
    await replayer.putState(begun('other'));
    expect(await refusalOf(replayer.continue('other', asked))).toBe(
      `Replay other has other options: ${difference}. Continue it with --name alone, or choose another --name`,
    );
    expect(await shops()).toEqual([]);
  });

  test('a finished replay is refused', async () => {
    await replayer.putState({ ...begun('finished'), finishedAt: '2026-01-31T09:00:00.000Z' });
    expect(await refusalOf(replayer.continue('finished'))).toBe(
      'Replay finished was finished at 2026-01-31T09:00:00.000Z. Choose another --name',
    );
  });

  test('a running replay is refused; it can continue after its process has been silent for a while', async () => {
    const running = { by: OPERATOR, id: 'x', at: minutesAgo(0.1).toISOString() };
    await replayer.putState({ ...begun('running'), running });
    expect(await refusalOf(replayer.continue('running'))).toMatch(
      /^Replay running is running, by \S+, last seen . s ago\. Stop it there with Ctrl-C\. If it was killed, try again in . s$/,
    );
    await replayer.putState({
      ...begun('running'),
      running: { ...running, at: minutesAgo(0.5).toISOString() },
    });
    expect(await replayer.continue('running')).toMatchObject({ done: true });
  });

  test('at the rate of the last run, unless another is given, and says how long the rest takes', async () => {
    await replayer.putState({ ...begun('slow'), rate: 20, sent: { 'shop.updated': 30 } });
    const { said } = await replayer.continue('slow', { rate: undefined, dryRun: true });
    expect(said).toContain('at least 3 s, at 20 messages a second');
    await replayer.continue('slow', { rate: 50 });
    expect(await replayer.state('slow')).toMatchObject({ rate: 50 });
  });

  test('a replay that an earlier version began', async () => {
    const { begun: _begun, rate: _rate, skipped, ...state } = begun('earlier');
    const { tooOld: _tooOld, ...counted } = skipped;
    await replayer.putState({ ...state, skipped: counted } as never);
    expect(await replayer.continue('earlier', { rate: undefined })).toMatchObject({ done: true });
    expect(await replayer.state('earlier')).toMatchObject({ begun: {}, rate: 100, skipped: { tooOld: 0 } });
  });

  test('an invalid state file is refused', async () => {
    await replayer.putState({ name: 'damaged' } as never);
    expect(await refusalOf(replayer.continue('damaged'))).toBe(
      "replays/damaged.json in the archive's bucket is not the state of a replay. Choose another --name",
    );
  });
});

test('Ctrl-C inside an object leaves the rest of it for later', async () => {
  // A group has at most 250 messages, and one is read ahead.
  await replayer.archive('long', numbered(510));
  const controller = new AbortController();
  const sqs = replied(new SQSClient(aws.operator), (command) => {
    if (command === 'SendMessageBatchCommand') controller.abort();
  });
  const stack = replayer.operator.stack.with({ sqs });
  const { done } = await replayer.replay({ name: 'long' }, { stack, signal: controller.signal });
  expect(done).toBe(false);
  expect(await replayer.continue('long')).toMatchObject({ done: true });
  expect(await shops()).toEqual(Array.from(numbered(510), ({ shopId }) => shopId).sort());
});

describe('a checkpoint', () => {
  const open = async (name: string) => {
    const file = new StateFile(replayer.operator.stack, name);
    return { file, checkpoint: await Checkpoint.take(file, (await file.read()) ?? begun(name), OPERATOR) };
  };
  const takenOver = {
    name: 'CommandError',
    message: 'Another process has taken over this replay. This one stops',
  };

  test('that another process has taken over is never written again', async () => {
    const { file, checkpoint } = await open('stalled');
    await open('stalled');
    const expected = await replayer.state('stalled');
    await expect(checkpoint.save()).rejects.toMatchObject(takenOver);
    await expect(file.write(begun('stalled'))).rejects.toMatchObject(takenOver);
    await expect(
      new StateFile(replayer.operator.stack, 'stalled').write(begun('stalled')),
    ).rejects.toMatchObject(takenOver);
    // Reading the state again does not give the replay back to this process.
    await file.read();
    await expect(checkpoint.save({})).rejects.toMatchObject(takenOver);
    expect(await replayer.state('stalled')).toEqual(expected);
  });

  test('whose save got no answer was not taken over', async () => {
    let lost = 0;
    const s3 = new S3Client({ ...aws.operator, forcePathStyle: true });
    s3.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const answer = await next(args);
          if (commandName !== 'PutObjectCommand' || lost === 1) return answer;
          lost += 1;
          throw Object.assign(new Error('socket hang up'), { $retryable: {}, name: 'TimeoutError' });
        },
      { step: 'finalizeRequest', priority: 'low' },
    );
    const file = new StateFile(replayer.operator.stack.with({ s3 }), 'lost');
    await file.write(begun('lost'));
    expect(lost).toBe(1);
    await file.write({ ...begun('lost'), planned: 91 });
    expect(await replayer.state('lost')).toMatchObject({ planned: 91 });
    s3.destroy();
  });

  test('recognises finished objects, also those that do not fit into the state', async () => {
    const { checkpoint } = await open('many');
    const keys = Array.from({ length: DONE_IN_STATE + 2 }, (_, index) => `event=shop.updated/${index}`);
    for (const key of keys.slice(0, -1)) checkpoint.markObjectRead(key, undefined);
    await checkpoint.save();
    checkpoint.markObjectRead(keys.at(-1) ?? '', undefined);
    await checkpoint.save();
    expect((await replayer.state('many')).done).toHaveLength(12);
    const { checkpoint: again } = await open('many');
    expect(keys.filter((key) => !again.isDone(key))).toEqual([]);
    expect(again.isDone('event=shop.updated/other')).toBe(false);
  });

  test('has no unfinished object that was finished when the process was killed', async () => {
    const place = { line: 3, left: [] };
    const file = new StateFile(replayer.operator.stack, 'killed');
    await file.write({ ...begun('killed'), begun: { finished: place, other: place } });
    await file.done.write(hashes(['finished']));
    const { checkpoint } = await open('killed');
    expect(checkpoint.state.begun).toEqual({ other: place });
  });
});

describe('interrupted at random points', () => {
  let project: Project;
  beforeAll(async () => {
    project = await Project.create();
  });
  afterAll(() => project.remove());

  const RUNS = 8;
  const RATE = 400;
  /** Number of messages in a group: those of a tenth of a second. */
  const GROUP = RATE / 10;
  /** Milliseconds from the first message to an interruption. */
  const LONGEST_WAIT = 250;
  const isKill = (run: number) => run % 2 === 1;

  const name = 'interrupted';

  /** Replays until a random point, as a separate process that is killed or until Ctrl-C. @returns the point */
  async function replayUntil(run: number): Promise<string> {
    const interrupt = new AbortController();
    const typed = ['replay', '--name', name, '--rate', String(RATE), '--yes'];
    const killed = isKill(run) && project.start([...typed, '--outputs', replayer.operator.outputsFile]);
    const asked = { name, rate: RATE, ...(run > 0 && { since: undefined, until: undefined }) };
    const ended = killed ? killed.ended : replayer.replay(asked, { signal: interrupt.signal });
    await eventually(async () => (await waiting()) > 0 || undefined, { interval: 5 });
    const wait = Math.random() * LONGEST_WAIT;
    await sleep(wait);
    if (killed) killed.process.kill('SIGKILL');
    interrupt.abort();
    await ended;
    return `${killed ? 'kill' : 'Ctrl-C'} ${Math.round(wait)} ms`;
  }

  // Takes 8 s: four of the runs are separate processes.
  test('with late objects that sort earlier, it sends each message once, except the group of a kill', async () => {
    /** The runs in which each shop was received. */
    const received = new Map<string, number[]>();
    const points: string[] = [];
    let [objects, expected] = [0, 0];
    const archive = async (count: number) => {
      // Each key sorts before all earlier ones.
      await replayer.archive(`object-${1_000 - objects}`, numbered(count, expected));
      objects += 1;
      expected += count;
    };
    const take = async (run: number) => {
      for (const shop of await shops()) received.set(shop, [...(received.get(shop) ?? []), run]);
    };
    // Three groups per object, so that a run usually ends in the middle of an object.
    for (let index = 0; index < RUNS; index += 1) await archive(3 * GROUP);

    for (let run = 0; run < RUNS; run += 1) {
      points.push(await replayUntil(run));
      await take(run);
      // As if 15 seconds had passed after a kill.
      const { running: _, finishedAt, ...state } = await replayer.state(name);
      expect({ points, finishedAt }).toEqual({ points, finishedAt: undefined });
      await replayer.putState(state);
      await archive(isKill(run) ? 5 : 3 * GROUP);
    }
    const last = replayer.continue(name);
    for (let done = false; !done; ) {
      done = await Promise.race([last.then(() => true), sleep(50, false)]);
      await take(RUNS);
    }
    expect({ points, ...(await last) }).toMatchObject({ points, done: true });
    expect({ points, received: received.size }).toEqual({ points, received: expected });

    // Messages of a killed run may still arrive after its end.
    const repeated = [...received.values()].filter((runs) => runs.length > 1);
    const killOf = ([first = 0]: readonly number[]) => [first, first - 1].find(isKill) ?? -1;
    for (const [kill, runs] of Map.groupBy(repeated, killOf)) {
      const seen = { points, kill, repeated: runs.length <= GROUP };
      expect(seen).toEqual({ points, kill, repeated: isKill(kill) });
    }
  });
});
