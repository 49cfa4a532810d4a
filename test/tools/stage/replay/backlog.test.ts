import { setTimeout as sleep } from 'node:timers/promises';
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Backlog, MAX_IN_FLIGHT } from '../../../../tools/stage/replay/backlog.ts';
import { eventually } from '../../../support/eventually.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { numbered, Replayer } from './support.ts';

let aws: TestAws;
let replayer: Replayer;
let url: string;

beforeAll(async () => {
  aws = await startTestAws();
  replayer = await Replayer.create(aws);
  url = aws.outputs.ShopUpdatedQueueUrl ?? '';
});
afterEach(() => sqs().send(new PurgeQueueCommand({ QueueUrl: url })));
afterAll(async () => {
  await replayer.close();
  await aws.close();
});

const sqs = () => replayer.operator.stack.sqs;

/** As long as an attempt that failed waits for the next. */
const HIDDEN_SECONDS = 600;

async function send(count: number): Promise<void> {
  const Entries = Array.from({ length: count }, (_, index) => ({ Id: String(index), MessageBody: '{}' }));
  await sqs().send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
}

/** Takes what waits as a consumer does whose every attempt fails: it hides them until the next. */
async function fail(): Promise<Message[]> {
  const { Messages = [] } = await sqs().send(
    new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10 }),
  );
  if (Messages.length === 0) return [];
  const Entries = Messages.map(({ ReceiptHandle }, index) => ({
    Id: String(index),
    ReceiptHandle,
    VisibilityTimeout: HIDDEN_SECONDS,
  }));
  await sqs().send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  return Messages;
}

async function failed(count: number): Promise<Message[]> {
  const all: Message[] = [];
  while (all.length < count) {
    await send(Math.min(10, count - all.length));
    all.push(...(await fail()));
  }
  return all;
}

async function succeed(messages: readonly Message[]): Promise<void> {
  for (let first = 0; first < messages.length; first += 10) {
    const Entries = messages
      .slice(first, first + 10)
      .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs().send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
  }
}

const never = new AbortController().signal;

test('of a consumer that fails no more than so many are sent, and it stops', async () => {
  const backlog = new Backlog(replayer.operator.stack, 'shop.updated', { inFlight: 40, hold: 1_500 });
  const consumer = new AbortController();
  const consuming = (async () => {
    while (!consumer.signal.aborted) if ((await fail()).length === 0) await sleep(10);
  })();
  let sent = 0;
  const held = new Set<string>();
  const sending = (async () => {
    for (;;) {
      await backlog.room(10, never, (reason) => held.add(reason));
      await send(10);
      sent += 10;
      await sleep(200);
    }
  })();
  await expect(sending).rejects.toMatchObject({
    name: 'CommandError',
    message: expect.stringMatching(
      /^\d+ messages of shop\.updated have been in flight for \d s, so its consumer fails\. Find the reason in its log and fix it$/,
    ),
  });
  consumer.abort();
  await consuming;
  // What is sent between two looks, a second apart, comes on top.
  expect(sent).toBeGreaterThan(40);
  expect(sent).toBeLessThanOrEqual(40 + 60);
  expect([...held]).toContainEqual(
    expect.stringMatching(/^\d+ of shop\.updated are in flight because attempts fail$/),
  );
});

test('it goes on once half of them are done, and not before', async () => {
  const backlog = new Backlog(replayer.operator.stack, 'shop.updated', { inFlight: 20 });
  const messages = await failed(30);
  let hasRoom = false;
  const room = backlog
    .room(1, never, () => {})
    .then(() => {
      hasRoom = true;
    });
  await succeed(messages.slice(0, 15));
  await sleep(1_500);
  expect(hasRoom).toBe(false);
  await succeed(messages.slice(15, 20));
  await room;
});

test('a replay holds where its consumer fails, says so, and Ctrl-C leaves it as any other time', async () => {
  await replayer.archive('failing', numbered(20));
  await failed(MAX_IN_FLIGHT + 1);
  const interrupt = new AbortController();
  const ended = replayer.replay({ name: 'failing' }, interrupt.signal);
  await sleep(2_500);
  await expect(replayer.operator.queues.count(url)).resolves.toBe(MAX_IN_FLIGHT + 1);
  interrupt.abort();
  const { shown, said, done } = await ended;
  expect(done).toBe(false);
  expect(shown).toContain('holds: 3,001 of shop.updated are in flight because attempts fail');
  expect(said).toContain('Interrupted: 0 of 20 messages are sent.');
  await sqs().send(new PurgeQueueCommand({ QueueUrl: url }));
  await eventually(async () => ((await replayer.operator.queues.count(url)) === 0 ? true : undefined));
  expect((await replayer.replay({ name: 'failing', since: undefined })).done).toBe(true);
});
