import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { SQSClient } from '@aws-sdk/client-sqs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { archiveLine } from '../../../../lambda/archive/record.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { archiveDelay, notYetArchived } from '../../../stage/replay/archive-lag.ts';
import { Backlog, MAX_IN_FLIGHT, MAX_WAITING } from '../../../stage/replay/backlog.ts';
import { TokenBucket } from '../../../stage/replay/token-bucket.ts';
import type { Stage } from '../../../stage/stage.ts';
import { archived } from '../archive/support.ts';
import { refusalOf, replied } from '../queues/support.ts';
import { minutesAgo, numbered, type Replayer, startedReplayer } from './support.ts';

const started = startedReplayer();
let aws: TestAws;
let replayer: Replayer;

beforeAll(() => {
  ({ aws, replayer } = started);
});

const shops = () => replayer.shops();
const never = new AbortController().signal;

/** An AWS error that blames the request. */
const refusal = (name: string, message: string) =>
  Object.assign(new Error(message), { name, $fault: 'client', $metadata: {} });

describe('a token bucket', () => {
  test('does not save up unused tokens', async () => {
    const bucket = new TokenBucket(50);
    await sleep(500);
    const began = performance.now();
    for (let index = 0; index < 15; index += 1) await bucket.take(1, never);
    expect((performance.now() - began) / 1000).toBeGreaterThanOrEqual(10 / 50 - 0.005);
  });

  test('ends its waits with the signal', async () => {
    const bucket = new TokenBucket(1);
    const controller = new AbortController();
    await bucket.take(1, never);
    const taken = bucket.take(1, controller.signal);
    controller.abort();
    await expect(taken).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('keeps the rate of a replay', async () => {
    await replayer.archive('paced', numbered(30));
    const began = performance.now();
    await replayer.replay({ rate: 20 });
    const seconds = (performance.now() - began) / 1000;
    expect(await shops()).toHaveLength(30);
    // The messages of a tenth of a second may go at once.
    expect(seconds).toBeGreaterThanOrEqual((30 - 2) / 20 - 0.01);
  });
});

describe('a backlog', () => {
  /** The stack with these numbers of messages on each queue, which a test may change. */
  function stackWith(queue: { visible: number; inFlight: number }): Stage {
    const sqs = replied(new SQSClient(aws.operator), (command) =>
      command === 'GetQueueAttributesCommand'
        ? {
            Attributes: {
              ApproximateNumberOfMessages: String(queue.visible),
              ApproximateNumberOfMessagesNotVisible: String(queue.inFlight),
            },
          }
        : undefined,
    );
    return replayer.operator.stack.with({ sqs });
  }

  /** Requests capacity, and records when there is some. */
  function ask(backlog: Backlog, count: number) {
    const asked = { hasCapacity: false, reasons: [] as string[], capacity: Promise.resolve() };
    asked.capacity = backlog
      .waitForCapacity(count, never, (reason) => asked.reasons.push(reason))
      .then(() => {
        asked.hasCapacity = true;
      });
    return asked;
  }

  test('has capacity up to the limit, including messages that were sent since SQS counted', async () => {
    const queue = { visible: 0, inFlight: 0 };
    const backlog = new Backlog(stackWith(queue), 'shop.updated', { waiting: 20 });
    await ask(backlog, 10).capacity;
    queue.visible = 20;
    await ask(backlog, 10).capacity;
    const { reasons, capacity } = ask(backlog, 1);
    await eventually(async () => reasons[0]);
    expect(reasons).toEqual(['20 wait on the queue of shop.updated']);
    queue.visible = 19;
    await capacity;
  });

  test('has no capacity while too many are in flight; half of them must be done', async () => {
    const queue = { visible: 0, inFlight: 21 };
    const backlog = new Backlog(stackWith(queue), 'shop.updated', { inFlight: 20 });
    const asked = ask(backlog, 1);
    await eventually(async () => asked.reasons[0]);
    expect(asked.reasons).toEqual(['21 of shop.updated are in flight because attempts fail']);
    queue.inFlight = 11;
    await eventually(async () => asked.reasons[1]);
    expect(asked.hasCapacity).toBe(false);
    queue.inFlight = 10;
    await asked.capacity;
  });

  test('gives up if they stay in flight', async () => {
    const stack = stackWith({ visible: 0, inFlight: 21 });
    const { capacity } = ask(new Backlog(stack, 'shop.updated', { inFlight: 20, wait: 100 }), 1);
    expect(await refusalOf(capacity)).toMatch(
      /^21 messages of shop\.updated have been in flight for .*s, so its consumer fails\. Find the reason in its log and fix it$/,
    );
  });

  test('pauses a replay, which says so; after Ctrl-C it can run again', async () => {
    await replayer.archive('some', numbered(20));
    const queue = { visible: MAX_WAITING, inFlight: 0 };
    const controller = new AbortController();
    const stack = stackWith(queue);
    const shown: string[] = [];
    const showing = (step: string) => eventually(async () => shown.includes(step) || undefined);
    const ended = replayer.replay({ name: 'paused' }, { stack, signal: controller.signal, shown });
    await showing('Replaying paused: 1,000 wait on the queue of shop.updated');
    Object.assign(queue, { visible: 0, inFlight: MAX_IN_FLIGHT + 1 });
    await showing('Replaying paused: 3,001 of shop.updated are in flight because attempts fail');
    controller.abort();
    const { done, said } = await ended;
    expect(done).toBe(false);
    expect(await shops()).toEqual([]);
    expect(said).toContain('Interrupted: 0 of 20 messages are sent.');
    expect(await replayer.replay({ name: 'paused' })).toMatchObject({ done: true });
    expect(await shops()).toHaveLength(20);
  });
});

describe('a record that Firehose has not written yet', () => {
  /** The stack, with an action that happens before the first message of a replay is sent. */
  function beforeFirstMessage(happens: () => Promise<unknown>): Stage {
    let first: Promise<unknown> | undefined;
    const sqs = replied(new SQSClient(aws.operator), async (command) => {
      if (command === 'SendMessageBatchCommand') first ??= happens();
      await first;
    });
    return replayer.operator.stack.with({ sqs });
  }

  test('is sent if it arrives during a replay, wherever its key sorts', async () => {
    await replayer.archive('b', numbered(20));
    const stack = beforeFirstMessage(async () => {
      // One key sorts before the object that is being read, the other one after it.
      await replayer.archive('a', numbered(1, 100));
      await replayer.archive('c', numbered(1, 101));
    });
    const { said, done } = await replayer.replay({ rate: 20, until: undefined }, { stack });
    expect(done).toBe(true);
    const expected = [...numbered(20), ...numbered(1, 100), ...numbered(1, 101)];
    expect(await shops()).toEqual(expected.map(({ shopId }) => shopId).sort());
    expect(said).toContain('sent 22 messages');
  });

  test('is waited for if the window reaches to now', async () => {
    await replayer.archive('early', numbered(1));
    const stack = beforeFirstMessage(() => replayer.archive('late', numbered(1, 1)));
    await replayer.replay({ until: undefined }, { stack });
    expect(await shops()).toEqual(['shop-0', 'shop-1']);
  });

  const SHOPS = ['shop.updated'] as const;
  interface Asked {
    readonly MetricName?: string;
    readonly Dimensions?: readonly { readonly Value?: string }[];
  }
  const freshness = (minutes: number, measured = 1) => ({
    Timestamp: minutesAgo(measured),
    Maximum: minutes * 60,
  });

  /** The stack as if it were in AWS, where CloudWatch has metrics that the local endpoint lacks. */
  function inAws(datapoints: (asked: Asked) => readonly object[] = () => []): Stage {
    const cloudwatch = replied(new CloudWatchClient(aws.operator), (_, asked: Asked) => ({
      Datapoints: datapoints(asked),
    }));
    return replayer.operator.stack.with({ local: false, cloudwatch });
  }

  test('is waited for visibly, until the replay is interrupted', async () => {
    await replayer.archive('early', numbered(1));
    const controller = new AbortController();
    const shown: string[] = [];
    // In AWS the wait takes minutes, so it is shown on a slow machine, too.
    const meanwhile = { stack: inAws(), signal: controller.signal, shown };
    const ended = replayer.replay({ until: undefined }, meanwhile);
    const waits = 'Waiting for records that Firehose has not written yet ';
    await eventually(async () => shown.includes(waits) || undefined);
    controller.abort();
    expect(await ended).toMatchObject({ done: false });
  });

  test('is late in AWS by the buffer, the timeout and some minutes in which Firehose writes', async () => {
    const seconds = (await archiveDelay(inAws(), SHOPS)) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(900 + 5 * 60);
    expect(seconds).toBeLessThanOrEqual(900 + 900 + 5 * 60);
    expect(await archiveDelay(replayer.operator.stack, SHOPS)).toBe(2_000);
  });

  test('is named with the time of the oldest one, if Firehose buffers it longer', async () => {
    const stack = inAws(({ MetricName, Dimensions }) =>
      MetricName === 'DeliveryToS3.DataFreshness' &&
      Dimensions?.[0]?.Value === aws.outputs.ShopUpdatedArchiveStream
        ? [freshness(10, 5), freshness(60), freshness(20, 3)]
        : [],
    );
    const said = (await notYetArchived(stack, SHOPS, minutesAgo(30))) ?? '';
    const unwritten = /^Firehose still has records since (\S+Z)\. Replay again later under another name\.$/;
    // The other two are 10 and 20 minutes old.
    expect(Date.parse(unwritten.exec(said)?.[1] ?? '')).toBeLessThan(minutesAgo(30).getTime());
    expect(await notYetArchived(stack, ['user.updated'], minutesAgo(30))).toBeUndefined();
  });

  test.each([
    { why: 'is newer than the window', datapoints: [freshness(20)] },
    { why: 'was written since', datapoints: [freshness(60, 3), freshness(5)] },
    { why: 'is not measured, because nothing was sent', datapoints: [] },
  ])('does not exist if what Firehose buffers $why', async ({ datapoints }) => {
    expect(
      await notYetArchived(
        inAws(() => datapoints),
        SHOPS,
        minutesAgo(30),
      ),
    ).toBeUndefined();
  });

  test('is unknown without the permission to ask', async () => {
    const stack = inAws(() => {
      throw refusal('AccessDenied', 'not authorized');
    });
    expect(await notYetArchived(stack, SHOPS, minutesAgo(30))).toBe(
      'It is unknown whether Firehose still has records: permission denied for cloudwatch:GetMetricStatistics.',
    );
  });

  test('is named by the replay that finished without it, and is incomplete', async () => {
    await replayer.archive('early', numbered(1));
    const { done, said } = await replayer.replay({}, { stack: inAws(() => [freshness(600)]) });
    expect(done).toBe(false);
    expect(said).toMatch(/\nFirehose still has records since .*$/);
  });
});

describe('damaged objects', () => {
  test('are named, and the others are sent; the replay and its dry run end with false', async () => {
    const time = minutesAgo(60).toISOString();
    const records = numbered(500, 10).map((record) =>
      archived({ ...record, settledAt: time, receivedAt: time }),
    );
    const whole = gzipSync(records.map(archiveLine).join(''));
    const keys = [
      await replayer.archiveBytes('no-gzip', Buffer.from('nothing of ours')),
      await replayer.archiveBytes('no-records', gzipSync('{"a":1}\n')),
      await replayer.archiveBytes('cut-off', whole.subarray(0, whole.length / 2)),
    ];
    await replayer.archive('sound', numbered(2));
    expect(await replayer.replay({ dryRun: true })).toMatchObject({ done: false });
    const { said, done } = await replayer.replay({ name: 'damaged' });
    expect(done).toBe(false);
    const sent = await shops();
    expect(sent).toEqual(expect.arrayContaining(['shop-0', 'shop-1', 'shop-10']));
    expect(sent.length).toBeLessThan(500);
    // The objects are named in the plan, and at the end.
    expect(said.split('3 objects are damaged')).toHaveLength(3);
    for (const key of keys) expect(said.split(key)).toHaveLength(3);
    expect(said).toMatch(/cut-off\.jsonl\.gz: cut off from line \d+ on/);
  });
});

describe('a message that SQS rejects', () => {
  type Entries = readonly { readonly Id?: string }[];

  /** The stack with a queue that rejects some entries of a batch. */
  function refusing(
    choose: (entries: Entries, call: number) => Entries,
    why = { SenderFault: false, Code: 'InternalError', Message: 'again' },
  ): Stage {
    const sqs = new SQSClient(aws.operator);
    let calls = 0;
    sqs.middlewareStack.add((next, { commandName }) => async (args) => {
      if (commandName !== 'SendMessageBatchCommand') return next(args);
      const { Entries = [] } = args.input as { Entries?: Entries };
      const refused = choose(Entries, calls);
      calls += 1;
      const input = { ...args.input, Entries: Entries.filter((entry) => !refused.includes(entry)) };
      const answer = await next({ ...args, input });
      Object.assign(answer.output, { Failed: refused.map(({ Id }) => ({ Id, ...why })) });
      return answer;
    });
    return replayer.operator.stack.with({ sqs });
  }

  test('temporarily is sent again', async () => {
    await replayer.archive('partly', numbered(20));
    const stack = refusing((entries, call) =>
      call < 2 ? entries.filter((_, index) => index % 2 === 0) : [],
    );
    expect(await replayer.replay({}, { stack })).toMatchObject({ done: true });
    expect(await shops()).toEqual(Array.from(numbered(20), ({ shopId }) => shopId).sort());
  });

  test('permanently is named without its text, and the others are sent', async () => {
    const [bad = {}] = numbered(1, 7);
    await replayer.archive('refused', [{ ...bad, body: 'not \u0000 for SQS' }, ...numbered(2)]);
    const { done, said } = await replayer.replay();
    expect(done).toBe(false);
    expect(await shops()).toEqual(['shop-0', 'shop-1']);
    expect(said).toContain('SQS rejects 1 message:');
    expect(said).toContain(`  shop.updated ${bad.eventId}: `);
    expect(said).not.toContain('for SQS');
  });

  test('because it is too large is named, and the others are sent', async () => {
    await replayer.archive('large', numbered(2));
    const why = {
      SenderFault: true,
      Code: 'InvalidParameterValue',
      Message: 'Reason: Message must be shorter than 1048576 bytes.',
    };
    const { said, done } = await replayer.replay(
      {},
      { stack: refusing((entries) => entries.slice(0, 1), why) },
    );
    expect(done).toBe(false);
    expect(said).toContain(`${why.Code}: ${why.Message}`);
    expect(await shops()).toEqual(['shop-1']);
  });

  test('for a fault that can be fixed ends the replay at once, and it can run again later', async () => {
    await replayer.archive('disabled', numbered(3));
    const why = { SenderFault: true, Code: 'KmsDisabled', Message: 'The key is disabled' };
    const stack = refusing((entries) => entries.slice(1), why);
    expect(await refusalOf(replayer.replay({ name: 'disabled' }, { stack }))).toMatch(
      /^SQS does not accept event [0-9a-f]{64} and 1 more: KmsDisabled: The key is disabled\. Sent until then: 1 message\. Run it again with: npx hookctl replay /,
    );
    expect(await shops()).toEqual(['shop-0']);
    expect(await replayer.replay({ name: 'disabled' })).toMatchObject({ done: true });
    expect(await shops()).toEqual(['shop-0', 'shop-1', 'shop-2']);
  });

  test('because sending is not allowed ends the replay in one line, with advice', async () => {
    await replayer.archive('denied', numbered(2));
    const sqs = replied(new SQSClient(aws.operator), (command) => {
      if (command === 'SendMessageBatchCommand') throw refusal('AccessDenied', 'not authorized');
    });
    const stack = replayer.operator.stack.with({ sqs });
    expect(await refusalOf(replayer.replay({ name: 'denied' }, { stack }))).toMatch(
      /^AccessDenied: not authorized\. Sent until then: 0 messages\. Run it again with: npx hookctl replay --since \S+Z --until \S+Z --mode fill --name denied --rate 10000 --yes --outputs /,
    );
  });
});
