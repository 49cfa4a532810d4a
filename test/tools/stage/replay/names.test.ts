import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Checkpoint, DONE_IN_STATE, hashes } from '../../../../tools/stage/replay/checkpoint.ts';
import { StateFile } from '../../../../tools/stage/replay/state.ts';
import { eventually } from '../../../support/eventually.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { ago, at, begun, numbered, OPERATOR, Replayer, SINCE } from './support.ts';

let aws: TestAws;
let replayer: Replayer;

beforeAll(async () => {
  aws = await startTestAws();
});
afterAll(() => aws.close());
beforeEach(async () => {
  replayer = await Replayer.create(aws);
});
afterEach(async () => {
  await replayer.operator.empty();
  await replayer.close();
});

const since = at(SINCE);
const shops = () => replayer.shops();
/** 90 shops in three objects, each once in the archive for all tests. */
const EXPECTED = Array.from({ length: 90 }, (_, index) => `shop-${index}`).sort();

beforeAll(async () => {
  const first = await Replayer.create(aws);
  for (const part of [0, 1, 2]) await first.archive(`part-${part}`, numbered(30, part * 30));
  await first.close();
});

test('Ctrl-C during the plan leaves nothing behind', async () => {
  const { done, said } = await replayer.replay({ name: 'planned', since }, AbortSignal.abort());
  expect({ done, said }).toEqual({ done: false, said: 'Interrupted. Nothing was sent.' });
  await expect(replayer.state('planned')).rejects.toMatchObject({ name: 'NoSuchKey' });
});

describe('run again under its name', () => {
  test('it goes on where it was, each message once; the same options do not matter, and the rate may be another one', async () => {
    const asked = { name: 'same', since, mode: 'repair' as const, events: ['shop.updated' as const] };
    const controller = new AbortController();
    const ended = replayer.replay({ ...asked, rate: 40 }, controller.signal);
    const count = () => replayer.operator.queues.count(aws.outputs.ShopUpdatedQueueUrl);
    await eventually(async () => (await count()) > 8 || undefined);
    controller.abort();
    expect((await ended).done).toBe(false);
    const { done, said } = await replayer.replay(asked);
    expect(done).toBe(true);
    expect(said).toContain('Continuing replay same in the stack of');
    expect(said).toMatch(/Replay same is finished: sent \d+ messages in \d+ s, and \d+ before\./);
    expect(await shops()).toEqual(EXPECTED);
    expect(await replayer.state('same')).toMatchObject({ sent: { 'shop.updated': 90 } });
  });

  test.each([
    ['events', { events: ['user.updated' as const] }, 'its event is shop.updated'],
    ['since', { since: at(ago(90)) }, `its --since is ${since.text}`],
    ['shop', { shop: 'shop-1' }, 'its --shop is any'],
    ['ids', { ids: ['request-1'] }, 'its --id is any'],
    ['outcomes', { outcomes: ['Stale' as const] }, 'its --outcome is any'],
    ['mode', { mode: 'repair' as const }, 'its --mode is fill'],
    ['notify', { notify: true }, 'its --notify is off'],
  ])('other %s are refused', async (option, asked, difference) => {
    const name = `other-${option}`;
    await replayer.putState(begun(name));
    await expect(replayer.replay({ name, since: undefined, ...asked })).rejects.toMatchObject({
      name: 'CommandError',
      message: `Replay ${name} has other options: ${difference}. Continue it with --name alone, or choose another --name`,
    });
    expect(await shops()).toEqual([]);
  });

  test('once it is finished, it is refused', async () => {
    await replayer.replay({ name: 'finished', since });
    await shops();
    await expect(replayer.replay({ name: 'finished' })).rejects.toMatchObject({
      name: 'CommandError',
      message: expect.stringMatching(/^Replay finished was finished at \S+Z\. Choose another --name$/),
    });
    expect(await shops()).toEqual([]);
  });

  test('while it runs, it is refused; once its process has not been heard of for a while, it goes on', async () => {
    const alive = { ...begun('running'), running: { by: OPERATOR, id: 'x', at: ago(0.1).toISOString() } };
    await replayer.putState(alive);
    await expect(replayer.replay({ name: 'running' })).rejects.toMatchObject({
      name: 'CommandError',
      message: expect.stringMatching(
        new RegExp(
          `^Replay running is running, by ${OPERATOR}, last seen . s ago\\. Stop it there with Ctrl-C\\. If it was killed, try again in . s$`,
        ),
      ),
    });
    expect(await shops()).toEqual([]);
    await replayer.putState({ ...alive, running: { ...alive.running, at: ago(0.5).toISOString() } });
    expect((await replayer.replay({ name: 'running', since: undefined })).done).toBe(true);
  });

  test('what is no state of a replay is refused', async () => {
    await replayer.putState({ name: 'damaged' } as never);
    await expect(replayer.replay({ name: 'damaged' })).rejects.toMatchObject({
      name: 'CommandError',
      message:
        "replays/damaged.json in the archive's bucket is not the state of a replay. Choose another --name",
    });
  });
});

test('one whose state somebody else has written stops', async () => {
  const one = new StateFile(replayer.operator.stack, 'taken');
  const other = new StateFile(replayer.operator.stack, 'taken');
  await one.write(begun('taken'));
  await other.read();
  await other.write(begun('taken'));
  const refusal = {
    name: 'CommandError',
    message: 'Another process has taken over this replay. This one stops',
  };
  await expect(one.write(begun('taken'))).rejects.toMatchObject(refusal);
  const third = new StateFile(replayer.operator.stack, 'taken');
  await expect(third.write(begun('taken'))).rejects.toMatchObject(refusal);
});

test('one that another process has taken over never writes its state again', async () => {
  const { stack } = replayer.operator;
  const take = async (file: StateFile) =>
    Checkpoint.take(file, (await file.read()) ?? begun('stalled'), OPERATOR);
  const file = new StateFile(stack, 'stalled');
  const stalled = await take(file);
  await take(new StateFile(stack, 'stalled'));
  const expected = await replayer.state('stalled');
  const refusal = { message: 'Another process has taken over this replay. This one stops' };
  await expect(stalled.save()).rejects.toMatchObject(refusal);
  await expect(file.write(begun('stalled'))).rejects.toMatchObject(refusal);
  // Even if the state is free again.
  await file.read();
  await expect(stalled.save({})).rejects.toMatchObject(refusal);
  expect(await replayer.state('stalled')).toEqual(expected);
});

test('a write whose answer was lost is not taken for somebody else’s', async () => {
  let lost = 0;
  const s3 = new S3Client({ ...aws.operator, forcePathStyle: true });
  s3.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next(args);
        if (commandName === 'PutObjectCommand' && lost < 1) {
          lost += 1;
          throw Object.assign(new Error('socket hang up'), { $retryable: {}, name: 'TimeoutError' });
        }
        return answer;
      },
    { step: 'finalizeRequest', priority: 'low' },
  );
  const file = new StateFile(replayer.operator.stack.with({ s3 }), 'lost');
  await file.write(begun('lost'));
  expect(lost).toBe(1);
  await file.write({ ...begun('lost'), planned: 91 });
  expect(await replayer.state('lost')).toMatchObject({ planned: 91 });
});

test('finished objects are known again, also those that the state has no room for', async () => {
  const { stack } = replayer.operator;
  const open = async () => {
    const file = new StateFile(stack, 'many');
    return Checkpoint.take(file, (await file.read()) ?? begun('many'), OPERATOR);
  };
  const checkpoint = await open();
  const keys = Array.from({ length: DONE_IN_STATE + 2 }, (_, index) => `event=shop.updated/${index}`);
  for (const key of keys.slice(0, -1)) checkpoint.noteEnd(key, undefined);
  await checkpoint.save();
  checkpoint.noteEnd(keys.at(-1) ?? '', undefined);
  await checkpoint.save();
  expect((await replayer.state('many')).done).toHaveLength(12);
  const again = await open();
  expect(keys.filter((key) => !again.isDone(key))).toEqual([]);
  expect(again.isDone('event=shop.updated/other')).toBe(false);
});

test('an object that was finished when the process was killed is no longer unfinished', async () => {
  const file = new StateFile(replayer.operator.stack, 'killed');
  await file.done.write(hashes(['finished']));
  const place = { line: 3, left: [] };
  const checkpoint = await Checkpoint.take(
    file,
    { ...begun('killed'), begun: { finished: place, other: place } },
    OPERATOR,
  );
  expect(checkpoint.state.begun).toEqual({ other: place });
});
