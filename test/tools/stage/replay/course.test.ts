import { gzipSync } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { archiveLine } from '../../../../lambda/archive/record.ts';
import { Faults } from '../../../../local/aws/faults.ts';
import { MAX_WAITING } from '../../../../tools/stage/replay/backlog.ts';
import type { Stage } from '../../../../tools/stage/stage.ts';
import { eventually } from '../../../support/eventually.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { archived } from '../archive/support.ts';
import { ago, at, numbered, Replayer, window } from './support.ts';

const faults = new Faults(1);
let aws: TestAws;
let replayer: Replayer;

beforeAll(async () => {
  aws = await startTestAws(faults);
  replayer = await Replayer.create(aws);
});
afterEach(async () => {
  faults.clear();
  await replayer.operator.empty();
});
afterAll(async () => {
  await replayer.close();
  await aws.close();
});

const shops = () => replayer.shops();

test('a rate is kept', async () => {
  const { since, until, middle } = window();
  await replayer.archive('paced', numbered(30), middle);
  const began = performance.now();
  await replayer.replay({ since, until, rate: 20 });
  const seconds = (performance.now() - began) / 1000;
  expect(await shops()).toHaveLength(30);
  // A tenth of a second's messages may go at once.
  expect(seconds).toBeGreaterThanOrEqual((30 - 2) / 20 - 0.01);
});

test('it holds while more wait on the queue than its consumer works off soon, and says so', async () => {
  const { since, until, middle } = window();
  await replayer.archive('much', numbered(MAX_WAITING + 200), middle);
  const ended = replayer.replay({ since, until });
  const waiting = () => replayer.operator.queues.count(aws.outputs.ShopUpdatedQueueUrl);
  await eventually(async () => ((await waiting()) === MAX_WAITING ? true : undefined));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await waiting()).toBe(MAX_WAITING);
  const first = await shops();
  const { shown, done } = await ended;
  expect(done).toBe(true);
  expect(new Set([...first, ...(await shops())]).size).toBe(MAX_WAITING + 200);
  expect(shown).toContain('Replaying');
  expect(shown).toContain(`holds: ${MAX_WAITING.toLocaleString('en')} wait on the queue of shop.updated`);
});

test('what comes into the archive while it runs, wherever its key sorts, is sent, too', async () => {
  const middle = ago(30);
  const since = at(ago(40));
  await replayer.archive('b', numbered(40), middle);
  const ended = replayer.replay({ since, rate: 20 });
  await eventually(async () =>
    (await replayer.operator.queues.count(aws.outputs.ShopUpdatedQueueUrl)) > 10 ? true : undefined,
  );
  // Before the object that is being read, and behind it.
  await replayer.archive('a', numbered(1, 100), middle);
  await replayer.archive('c', numbered(1, 101), middle);
  const { said, done } = await ended;
  expect(done).toBe(true);
  expect(await shops()).toEqual(
    [...numbered(40), ...numbered(1, 100), ...numbered(1, 101)].map(({ shopId }) => shopId).sort(),
  );
  expect(said).toContain('sent 42 messages');
});

test('where the window reaches to now it waits for what Firehose holds, and says so', async () => {
  const middle = ago(5);
  await replayer.archive('early', numbered(1), middle);
  const ended = replayer.replay({ since: at(ago(6)) });
  await eventually(async () =>
    (await replayer.operator.queues.count(aws.outputs.ShopUpdatedQueueUrl)) === 1 ? true : undefined,
  );
  await replayer.archive('late', numbered(1, 1), middle);
  const { shown } = await ended;
  expect(await shops()).toEqual(['shop-0', 'shop-1']);
  expect(shown).toContain('Waiting for records that Firehose has not written yet');
});

describe('damaged objects', () => {
  const whole = gzipSync(
    numbered(500)
      .map((record) => ({ ...record, receivedAt: ago(61).toISOString(), settledAt: ago(61).toISOString() }))
      .map((record) => archiveLine(archived(record)))
      .join(''),
  );

  test('are named, and what else is there is sent; it ends with false', async () => {
    const { since, until, middle } = window();
    const keys = [
      await replayer.archiveBytes('not-gzip', Buffer.from('nothing of ours'), middle),
      await replayer.archiveBytes('no-records', gzipSync('{"a":1}\n'), middle),
    ];
    await replayer.archive('sound', numbered(2), middle);
    const { said, done } = await replayer.replay({ since, until, name: 'damaged' });
    expect(done).toBe(false);
    expect(await shops()).toEqual(['shop-0', 'shop-1']);
    expect(said.split('2 objects are damaged')).toHaveLength(3);
    for (const key of keys) expect(said.split(key)).toHaveLength(3);
    expect((await replayer.state('damaged')).damaged).toHaveLength(2);
  });

  test('that are cut off are sent up to there', async () => {
    const middle = ago(61);
    await replayer.archiveBytes('cut', whole.subarray(0, whole.length / 2), middle);
    const { done, said } = await replayer.replay({ since: at(ago(62)), until: at(ago(60.5)) });
    expect(done).toBe(false);
    const sent = (await shops()).length;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(500);
    expect(said).toMatch(/cut\.jsonl\.gz: cut off from line \d+ on/);
  });

  test('end a dry run with false, too', async () => {
    const { since, until, middle } = window();
    await replayer.archiveBytes('not-gzip', Buffer.from('nothing of ours'), middle);
    await replayer.archive('sound', numbered(1), middle);
    expect(await replayer.replay({ since, until, dryRun: true })).toMatchObject({ done: false });
  });
});

describe('what SQS does not take', () => {
  test('is sent again: each message of a batch by itself', async () => {
    const { since, until, middle } = window();
    await replayer.archive('partly', numbered(20), middle);
    const sqs = failing((entries, call) => (call < 2 ? entries.filter((_, index) => index % 2 === 0) : []));
    const { done } = await on({ sqs }, () => replayer.replay({ since, until }));
    expect(done).toBe(true);
    expect(await shops()).toEqual(Array.from(numbered(20), ({ shopId }) => shopId).sort());
  });

  test('and never will is named, and the others are sent', async () => {
    const { since, until, middle } = window();
    const [bad = {}] = numbered(1, 7);
    await replayer.archive('refused', [{ ...bad, body: 'not \u0000 for SQS' }, ...numbered(2)], middle);
    const { done, said } = await replayer.replay({ since, until });
    expect(done).toBe(false);
    expect(await shops()).toEqual(['shop-0', 'shop-1']);
    expect(said).toContain('SQS refuses 1 message:');
    expect(said).toContain(`  shop.updated ${bad.eventId}: `);
    expect(said).not.toContain('for SQS');
  });

  test('as it may not be sent at all ends it in one line, with what to do', async () => {
    const { since, until, middle } = window();
    await replayer.archive('denied', numbered(2), middle);
    const sqs = new SQSClient(aws.operator);
    sqs.middlewareStack.add((next, { commandName }) => async (args) => {
      if (commandName !== 'SendMessageBatchCommand') return next(args);
      throw Object.assign(new Error('not authorized'), {
        name: 'AccessDenied',
        $fault: 'client',
        $metadata: {},
      });
    });
    await expect(on({ sqs }, () => replayer.replay({ since, until, name: 'denied' }))).rejects.toMatchObject({
      name: 'CommandError',
      message: `AccessDenied: not authorized. What was sent is noted. Continue with: npm run replay -- --name denied --outputs ${replayer.operator.outputsFile}`,
    });
    const state = await replayer.state('denied');
    expect(state.sent).toEqual({});
    expect(state).not.toHaveProperty('running');
    expect((await replayer.replay({ name: 'denied', since: undefined })).done).toBe(true);
    expect(await shops()).toHaveLength(2);
  });

  test.each([
    ['too large', 'InvalidParameterValue', 'Reason: Message must be shorter than 1048576 bytes.'],
    ['unfit', 'InvalidMessageContents', 'Invalid characters found'],
  ])('as it is %s is named, and the replay ends', async (_, Code, Message) => {
    const { since, until, middle } = window();
    await replayer.archive('final', numbered(2), middle);
    const sqs = failing((entries) => entries.slice(0, 1), { SenderFault: true, Code, Message });
    const { said, done } = await on({ sqs }, () => replayer.replay({ since, until }));
    expect(done).toBe(false);
    expect(said).toContain(`${Code}: ${Message}`);
    expect(await shops()).toEqual(['shop-1']);
  });

  test('for a fault that can be fixed ends it at once, and the name sends the rest later', async () => {
    const { since, until, middle } = window();
    await replayer.archive('disabled', numbered(3), middle);
    const sqs = failing((entries) => entries.slice(1), {
      SenderFault: true,
      Code: 'KmsDisabled',
      Message: 'The key is disabled',
    });
    const ended = on({ sqs }, () => replayer.replay({ since, until, name: 'disabled' }));
    await expect(ended).rejects.toMatchObject({
      name: 'CommandError',
      message: expect.stringMatching(
        /^SQS does not accept event [0-9a-f]{64} and 1 more: KmsDisabled: The key is disabled\. What was sent is noted\. Continue with: /,
      ),
    });
    expect((await replayer.state('disabled')).refused.count).toBe(0);
    expect(await replayer.replay({ name: 'disabled', since: undefined })).toMatchObject({ done: true });
    expect(await shops()).toEqual(['shop-0', 'shop-1', 'shop-2']);
  });

  test('and what was sent is not lost if it cannot be saved: it says how much will be sent again', async () => {
    const { since, until, middle } = window();
    await replayer.archive('unsaved', numbered(2), middle);
    let isSent = false;
    const sqs = new SQSClient(aws.operator);
    sqs.middlewareStack.add((next, { commandName }) => (args) => {
      isSent ||= commandName === 'SendMessageBatchCommand';
      return next(args);
    });
    const s3 = new S3Client({ ...aws.operator, forcePathStyle: true });
    s3.middlewareStack.add((next, { commandName }) => async (args) => {
      if (!isSent || commandName !== 'PutObjectCommand') return next(args);
      throw Object.assign(new Error('The security token is expired'), {
        name: 'ExpiredToken',
        $fault: 'client',
        $metadata: {},
      });
    });
    await expect(
      on({ sqs, s3 }, () => replayer.replay({ since, until, name: 'unsaved' })),
    ).rejects.toMatchObject({
      name: 'CommandError',
      message: expect.stringMatching(
        /^ExpiredToken: The security token is expired\. The last 2 messages could not be noted and will be sent again\. Continue with: npm run replay -- --name unsaved /,
      ),
    });
  });

  /** A client for which entries of a batch fail as in a moment of trouble: they do not get to SQS. */
  function failing(
    choose: (
      entries: readonly { readonly Id?: string }[],
      call: number,
    ) => readonly { readonly Id?: string }[],
    why: { readonly SenderFault: boolean; readonly Code: string; readonly Message: string } = {
      SenderFault: false,
      Code: 'InternalError',
      Message: 'again',
    },
  ): SQSClient {
    const sqs = new SQSClient(aws.operator);
    let calls = 0;
    sqs.middlewareStack.add((next, { commandName }) => async (args) => {
      if (commandName !== 'SendMessageBatchCommand') return next(args);
      const { Entries = [] } = args.input as { Entries?: { Id?: string }[] };
      const failed = choose(Entries, calls);
      calls += 1;
      const input = { ...args.input, Entries: Entries.filter((entry) => !failed.includes(entry)) };
      const answer = await next({ ...args, input });
      const Failed = failed.map(({ Id }) => ({ Id, ...why }));
      Object.assign(answer.output, { Failed });
      return answer;
    });
    return sqs;
  }
});

/** Works with other clients meanwhile. */
async function on<Result>(clients: Partial<Stage>, work: () => Promise<Result>): Promise<Result> {
  const { operator } = replayer;
  const { stack } = operator;
  Object.assign(operator, { stack: stack.with({ ...clients }) });
  try {
    return await work();
  } finally {
    Object.assign(operator, { stack });
  }
}
