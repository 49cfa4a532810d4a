import { setTimeout as sleep } from 'node:timers/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { ArchiveRecord } from '../../../../lambda/archive/record-schema.ts';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { REPLAYABLE_DAYS, REPLAYABLE_RECEIPT_DAYS } from '../../../../lambda/limits.ts';
import { REPLAY_NAME } from '../../../../lambda/queue/replay.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { ACCEPTANCE_PREFIX } from '../../../stage/payload-filter.ts';
import { backlogOf, MAX_IN_FLIGHT, MAX_WAITING } from '../../../stage/replay/backlog.ts';
import { archiveDelay, replay } from '../../../stage/replay/replay.ts';
import type { ReplayOptions } from '../../../stage/replay/replay-plan.ts';
import { replayMessage } from '../../../stage/replay/replay-sender.ts';
import type { Stage } from '../../../stage/stage.ts';
import { TokenBucket } from '../../../stage/token-bucket.ts';
import type { ProgressStep } from '../../../terminal/progress.ts';
import { Project } from '../../commands/project.ts';
import { archived, emptyArchive, objectKey, putObject, putRecords } from '../archive/support.ts';
import { type Operator, refusalOf, replied, startedOperator } from '../queues/support.ts';

const started = startedOperator();
let aws: TestAws;
let operator: Operator;

beforeAll(() => {
  ({ aws, operator } = started);
});
afterEach(() => Promise.all([emptyArchive(operator.stack), operator.empty()]));

const never = new AbortController().signal;

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

/** The default window ends half an hour ago, so that Firehose has written all of it. */
const WINDOW = { since: minutesAgo(180), until: minutesAgo(30) };

/** Puts an object of records from an hour ago. */
async function archive(name: string, records: readonly Partial<ArchiveRecord>[]): Promise<void> {
  const time = minutesAgo(60).toISOString();
  const whole = records.map((record) => archived({ receivedAt: time, settledAt: time, ...record }));
  await putRecords(operator.stack, objectKey(name, whole[0]?.event, time.slice(0, 13)), whole);
}

/** Records of shop.updated with different bodies. @param first number of the first */
function numbered(count: number, first = 0): Partial<ArchiveRecord>[] {
  return Array.from({ length: count }, (_, index) => {
    const shopId = `shop-${first + index}`;
    const data = { shop_id: shopId };
    const body = JSON.stringify({ event: 'shop.updated', data, timestamp: '2026-01-31T09:00:00Z' });
    return { eventId: sha256Hex(body), shopId, body, requestId: `request-${first + index}` };
  });
}

interface Meanwhile {
  readonly signal?: AbortSignal;
  /** The stack, with AWS clients that the test replaced. */
  readonly stack?: Stage;
  /** Collects the texts that the progress display shows. */
  readonly shown?: string[];
}

/** Replays at once and without a question. */
async function replaying(
  asked: Partial<ReplayOptions> = {},
  { signal = never, stack = operator.stack, shown = [] }: Meanwhile = {},
) {
  const operation = operator.operation(signal);
  const show = ({ doing, note = '' }: ProgressStep) => shown.push(`${doing} ${note}`);
  const progress = { show, end: () => {} };
  const usual = { name: 'test', events: [], rate: 10_000, dryRun: false, yes: true };
  const done = await replay({ ...operation, stack, progress }, { ...usual, ...WINDOW, ...asked });
  return { done, said: operation.said.join('\n'), reported: operation.reported };
}

/** Receives and deletes everything on a queue. */
const taken = (output: string) => operator.queues.takeAll(operator.outputs[output]);

/** The shops on shop.updated's queue, in order. Deletes the messages. */
async function shops(): Promise<string[]> {
  const messages = await taken('ShopUpdatedQueueUrl');
  return messages.map(({ Body = '' }) => JSON.parse(Body).data.shop_id).sort();
}

const plan = async (asked: Partial<ReplayOptions> = {}) => (await replaying({ dryRun: true, ...asked })).said;

describe('a message of a replay', () => {
  test('equals the original, with the name of its replay', async () => {
    const [record = {}] = numbered(1);
    const receivedAt = minutesAgo(70).toISOString();
    await archive('whole', [{ ...record, receivedAt }]);
    await replaying({ name: 'whole', mode: 'repair', notify: true });
    const text = (StringValue: string | undefined) => ({ DataType: 'String', StringValue });
    const MessageAttributes = {
      event: text('shop.updated'),
      eventId: text(record.eventId),
      receivedAt: text(receivedAt),
      requestId: text('request-0'),
      replay: text(JSON.stringify({ name: 'whole', mode: 'repair', notify: true })),
    };
    const sent = await taken('ShopUpdatedQueueUrl');
    expect(sent).toMatchObject([{ Body: record.body, MessageAttributes }]);
  });

  test('has one group, and is sent in batches that SQS accepts', async () => {
    const sentByHand = archived({ requestId: undefined });
    const message = replayMessage(sentByHand, { name: 'n', mode: 'fill', notify: false });
    expect(message.MessageGroupId).toBe('replay');
    expect(message.MessageAttributes).not.toHaveProperty('requestId');

    // The bodies of two have 300 bytes less than a batch may have: their attributes count, too.
    const large = (shop_id: string) => JSON.stringify({ data: { shop_id, name: 'あ'.repeat(174_700) } });
    const ids = ['shop-a', 'shop-b', 'shop-c'];
    const records = ids.map((id) => ({ body: large(id) }));
    await archive('large', records);
    await replaying();
    expect(await shops()).toEqual(ids);
  });

  test('refers to a payload in the payload bucket; without that payload none is sent', async () => {
    const payloadKey = 'shop.updated/large';
    const object = { Bucket: aws.outputs.PayloadBucket, Key: payloadKey, Body: '{"name":"Hana"}' };
    await operator.stack.s3.send(new PutObjectCommand(object));
    const stored = { body: undefined, payloadKey };
    await archive('stored', [stored, { ...stored, payloadKey: 'shop.updated/gone' }]);
    const { done, said } = await replaying();
    const Body = JSON.stringify({ payloadKey });
    const sent = [{ Body, MessageAttributes: { payloadKey: { StringValue: payloadKey } } }];
    expect(await taken('ShopUpdatedQueueUrl')).toMatchObject(sent);
    expect(said).toContain('Skipped: 1 without a payload.');
    expect(done).toBe(true);
    await replaying({ search: 'hana' });
    expect(await taken('ShopUpdatedQueueUrl')).toMatchObject(sent);
  });
});

describe('the records that are sent', () => {
  const ofReplay = (name: string) => ({
    body: undefined,
    replay: { name, mode: 'fill' as const, notify: false },
  });

  test('match all options', async () => {
    const [a = {}, b = {}, c = {}, d = {}, e = {}, f = {}] = numbered(6);
    const stale = { shopId: 'shop-1', outcome: 'Stale' as const };
    await archive('shops', [
      { ...a, ...stale, outcome: 'Processed' },
      { ...b, ...stale },
      { ...c, ...stale, shopId: 'shop-10' },
      { ...d, ...stale, settledAt: minutesAgo(90).toISOString() },
      { ...e, ...stale, settledAt: minutesAgo(45).toISOString() },
      { ...f, ...stale, body: '{}' },
    ]);
    await archive('user', [{ event: 'user.updated', ...stale, requestId: 'request-1' }]);
    await replaying({
      events: ['shop.updated'],
      since: minutesAgo(70),
      until: minutesAgo(50),
      shop: 'shop-1',
      search: 'SHOP-',
      outcomes: ['Stale'],
    });
    expect(await shops()).toEqual(['shop-1']);
    expect(await taken('UserUpdatedQueueUrl')).toEqual([]);
  });

  test('go to the queue of their event', async () => {
    for (const event of eventNames) await archive(event, [{ event }]);
    const { said } = await replaying();
    const counts = eventNames.map((event) =>
      operator.queues.count(operator.stack.ofEvent(event, 'QueueUrl')),
    );
    expect(await Promise.all(counts)).toEqual(eventNames.map(() => 1));
    expect(said).toContain(`sent ${eventNames.length} messages`);
  });

  test('exclude those of another replay, forgotten ones and those received too long ago, which are counted, and its own', async () => {
    const [old = {}, recent = {}] = numbered(2);
    const received = (days: number) => ({ receivedAt: minutesAgo(days * 24 * 60).toISOString() });
    await archive('some', [
      ofReplay('before'),
      ofReplay('own'),
      { body: undefined, forgottenAt: minutesAgo(1).toISOString() },
      { ...old, ...received(REPLAYABLE_RECEIPT_DAYS + 0.1) },
      { ...recent, ...received(REPLAYABLE_RECEIPT_DAYS - 0.1) },
    ]);
    await archive('none', [ofReplay('before')]);
    const { said, done } = await replaying({ name: 'own' });
    expect(await shops()).toEqual(['shop-1']);
    expect(said).toContain('skipped   2 from replays, 1 forgotten, 1 received more than 83 days ago');
    expect(said).toContain('Skipped: 2 from replays, 1 forgotten, 1 received more than 83 days ago.');
    expect(done).toBe(true);
  });

  test('exclude those of acceptance runs, unless their shop is given: they are counted', async () => {
    const ofRun = `${ACCEPTANCE_PREFIX}1f3a`;
    const body = (fields: object) => JSON.stringify({ event: 'girl.deleted', data: fields });
    const girl = { event: 'girl.deleted', shopId: undefined } as const;
    const mentioned = body({ girl_id: 'girl-1', note: `${ofRun}-girl` });
    await archive('run', [{ shopId: `${ofRun}-shop`, body: undefined, payloadKey: 'large' }]);
    await archive('girl', [
      { ...girl, body: body({ girl_id: `${ofRun}-girl`, note: 'x' }) },
      { ...girl, body: mentioned },
    ]);
    const { said, reported } = await replaying({ dryRun: true });
    expect(reported).toMatchObject([{ messages: 1, skipped: { ofAcceptance: 2 } }]);
    expect(said).toMatch(/skipped +2 from acceptance runs \(to include them, name their shop with --shop\)/);
    expect((await replaying({ dryRun: true, shop: `${ofRun}-shop` })).reported).toMatchObject([
      { messages: 1, skipped: {} },
    ]);
  });
});

describe('a plan', () => {
  test('is all that --dry-run makes: nothing is sent', async () => {
    await archive('dry', [...numbered(3), { ...numbered(1, 3)[0], outcome: 'DeadLettered' }]);
    const { done, said } = await replaying({ name: 'dry', mode: 'repair', dryRun: true, rate: 1 });
    expect(done).toBe(true);
    expect(await shops()).toEqual([]);
    expect(said).toContain('Replay dry in the stack of');
    expect(said).toMatch(/ mode +repair: rewrites items from their newest events\n/);
    expect(said).toContain('at least 4 s, at 1 message a second');
    expect(said).toContain('dead letters  1. They also stay on the dead-letter queue unless redriven.');
    expect(said).toMatch(
      /EVENT +OUTCOME +MESSAGES\nshop\.updated +DeadLettered +1\nshop\.updated +Processed +3\n/,
    );
  });

  test('that is interrupted by Ctrl-C leaves nothing behind', async () => {
    await archive('some', numbered(1));
    const { done, said } = await replaying({}, { signal: AbortSignal.abort() });
    expect({ done, said }).toEqual({ done: false, said: 'Interrupted. Nothing was sent.' });
  });

  test('of a repair says how long wrong writes may settle after the fix', async () => {
    await archive('some', numbered(1));
    await archive('girl', [{ event: 'girl.created' }]);
    const end = 'wrong writes settle for up to 73 hours: an earlier end of the window misses them';
    expect(await plan({ mode: 'repair' })).toContain(end);
    expect(await plan({ mode: 'repair', events: ['girl.created'] })).toContain(end.replace('73', '4'));
    expect(await plan()).not.toContain('after a fix');
  });

  test('says who is notified, and how often at most', async () => {
    await archive('reviews', [{ event: 'review.posted' }, { event: 'review.posted' }]);
    await archive('girl', [{ event: 'girl.created' }]);
    const most = 'at most 2 notifications (review 2).';
    expect(await plan()).toContain(`${most} Nobody is notified twice about an event.`);
    expect(await plan({ notify: true })).toContain(
      `${most} People are notified again, once per replay name.`,
    );
    expect(await plan({ events: ['girl.created'] })).toContain('nobody: these events send no notifications');
  });
});

describe('an impossible replay is refused in one line, and sends nothing', () => {
  const DAY = 24 * 60;
  const [one, two, later] = [minutesAgo(1), minutesAgo(2), minutesAgo(-10)];
  const tooOld = minutesAgo(REPLAYABLE_DAYS * DAY + 1);

  test.each<{ asked: Partial<ReplayOptions>; line: string }>([
    { asked: { since: undefined }, line: 'Give a start, such as --since 3d' },
    {
      asked: { since: one, until: two },
      line: `--until must be after --since: ${two.toISOString()} is not after ${one.toISOString()}`,
    },
    { asked: { since: later }, line: `--since is in the future: ${later.toISOString()}` },
    { asked: { since: tooOld }, line: `A replay reaches back 60 days, to ` },
    {
      asked: { shop: 'nobody' },
      line: 'Nothing to replay: the archive of STACK has no such record',
    },
    {
      asked: { yes: false },
      line: 'There is no terminal for the confirmation. Check with --dry-run, then use --yes',
    },
  ])('$line', async ({ asked, line }) => {
    await archive('some', numbered(3));
    const refused = await refusalOf(replaying(asked));
    expect(refused).toContain(line.replace('STACK', operator.stack.title));
    expect(await shops()).toEqual([]);
  });

  test('for a window older than the archive; if a part of it is left, the plan says so', async () => {
    await archive('some', numbered(3));
    const [since, until] = [minutesAgo(41 * DAY), minutesAgo(40 * DAY)];
    const kept = `${operator.stack.title} keeps records for 30 days`;
    expect(await refusalOf(replaying({ since, until }))).toBe(
      `No records settled before ${until.toISOString()} are left: ${kept}`,
    );
    expect(await plan({ since })).toContain(`expired   Records settled earlier have expired: ${kept}.`);
  });
});

describe('on the command line', () => {
  let project: Project;
  beforeAll(async () => {
    project = await Project.create();
  });
  afterAll(() => project.remove());
  const typed = (line: string) => [...line.split(' '), '--outputs', operator.outputsFile];

  test('a plan has the command that runs exactly it: later records are not sent', async () => {
    const shopId = 'shop-0';
    await archive('before', [...numbered(1), { event: 'user.updated', shopId }]);
    const options = `--shop ${shopId} --search shop-0 --outcome Processed --outcome Stale --mode repair --notify`;
    const line = `replay shop.updated --since 3h ${options} --rate 50 --dry-run --json`;
    const { stdout, stderr } = await project.type(typed(line));
    const { filter, name, command, ...plan } = JSON.parse(stdout);
    expect(plan).toMatchObject({ messages: 1, events: { 'shop.updated': { Processed: 1 } } });
    const fixed = `--since ${filter.since} --until ${filter.until} ${options} --name ${name}`;
    const planned = command.split(' ').slice(2);
    expect(planned).toEqual(typed(`replay shop.updated ${fixed} --rate 50 --yes`));
    expect(stderr).toContain(`\nTo run this plan, also after an interruption: ${command}\n`);
    const settledAt = new Date().toISOString();
    await archive('later', [{ ...numbered(1)[0], settledAt }]);
    const ended = await project.type([...planned, '--json']);
    expect(JSON.parse(ended.stdout)).toMatchObject({ name, finished: true, sent: { 'shop.updated': 1 } });
    expect(await shops()).toEqual([shopId]);
  });

  test('an invalid or long name is refused', async () => {
    expect(await project.type(typed('replay --since 1h --name Upper'))).toEqual({
      code: 2,
      stdout: '',
      stderr:
        "Option '--name <name>' argument 'Upper' is invalid. It must be 1 to 63 lower-case letters, digits and hyphens, and not begin with a hyphen.\n",
    });
    const names = ['a', '9-a', 'x'.repeat(63), 'Upper', '-a', 'a/b', 'x'.repeat(64), ''];
    expect(names.filter((name) => REPLAY_NAME.test(name))).toEqual(names.slice(0, 3));
  });
});

describe('a token bucket', () => {
  test('does not save up unused tokens', async () => {
    const bucket = new TokenBucket(50);
    await sleep(500);
    const began = performance.now();
    for (let index = 0; index < 15; index += 1) await bucket.take(1, never);
    expect((performance.now() - began) / 1000).toBeGreaterThanOrEqual(10 / 50 - 0.005);
  });
});

describe('a backlog', () => {
  /** The stack with these numbers of messages on each queue, which a test may change. */
  function stackWith(queue: { visible: number; inFlight: number }): Stage {
    const sqs = replied(new SQSClient(aws.operator), (command) => {
      if (command !== 'GetQueueAttributesCommand') return undefined;
      const ApproximateNumberOfMessages = String(queue.visible);
      const ApproximateNumberOfMessagesNotVisible = String(queue.inFlight);
      return { Attributes: { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible } };
    });
    return operator.stack.with({ sqs });
  }

  /** Requests capacity, and records when there is some. */
  function ask(waitForCapacity: ReturnType<typeof backlogOf>, count: number) {
    const asked = { hasCapacity: false, reasons: [] as string[], capacity: Promise.resolve() };
    asked.capacity = waitForCapacity(count, never, (reason) => asked.reasons.push(reason)).then(() => {
      asked.hasCapacity = true;
    });
    return asked;
  }

  test('has capacity up to the limit, including messages that were sent since SQS counted', async () => {
    const queue = { visible: 0, inFlight: 0 };
    const backlog = backlogOf(stackWith(queue), 'shop.updated');
    await ask(backlog, MAX_WAITING / 2).capacity;
    queue.visible = MAX_WAITING;
    await ask(backlog, MAX_WAITING / 2).capacity;
    const { reasons, capacity } = ask(backlog, 1);
    await eventually(async () => reasons[0]);
    expect(reasons).toEqual(['1,000 wait on the queue of shop.updated']);
    queue.visible = MAX_WAITING - 1;
    await capacity;
  });

  test('has no capacity while too many are in flight; half of them must be done', async () => {
    const queue = { visible: 0, inFlight: MAX_IN_FLIGHT + 1 };
    const asked = ask(backlogOf(stackWith(queue), 'shop.updated'), 1);
    await eventually(async () => asked.reasons[0]);
    expect(asked.reasons).toEqual(['3,001 of shop.updated are in flight because attempts fail']);
    queue.inFlight = MAX_IN_FLIGHT / 2 + 1;
    await eventually(async () => asked.reasons[1]);
    expect(asked.hasCapacity).toBe(false);
    queue.inFlight = MAX_IN_FLIGHT / 2;
    await asked.capacity;
  });

  test('gives up if they stay in flight', async () => {
    const stack = stackWith({ visible: 0, inFlight: MAX_IN_FLIGHT + 1 });
    const { capacity } = ask(backlogOf(stack, 'shop.updated', 100), 1);
    expect(await refusalOf(capacity)).toMatch(
      /^3,001 messages of shop\.updated have been in flight for .*s, so its consumer fails\. Find the reason in its log and fix it$/,
    );
  });

  test('pauses a replay, which says so, until Ctrl-C', async () => {
    await archive('some', numbered(20));
    const controller = new AbortController();
    const meanwhile = { stack: stackWith({ visible: MAX_WAITING, inFlight: 0 }), shown: [] as string[] };
    const ended = replaying({}, { ...meanwhile, signal: controller.signal });
    const step = 'Replaying paused: 1,000 wait on the queue of shop.updated';
    await eventually(async () => meanwhile.shown.includes(step) || undefined);
    controller.abort();
    const { done, said } = await ended;
    expect(done).toBe(false);
    expect(await shops()).toEqual([]);
    expect(said).toContain('Interrupted: 0 of 20 messages are sent.');
  });
});

describe('the newest records, which the archive may lack,', () => {
  test('are left out: the plan, its command and the end say so', async () => {
    await archive('some', numbered(1));
    await archive('new', [{ ...numbered(1, 1)[0], settledAt: new Date().toISOString() }]);
    // As in AWS: the local stack writes a record at once.
    const deployed = { stack: operator.stack.with({ local: false }) };
    const { done, said, reported } = await replaying({ until: undefined }, deployed);
    expect({ done, shops: await shops() }).toEqual({ done: true, shops: ['shop-0'] });
    const [, end = ''] = /--until (\S+)/.exec(said) ?? [];
    expect(Date.now() - Date.parse(end)).toBeGreaterThanOrEqual(15 * 60_000);
    const later = `The archive may lack records settled since ${end}. Replay them `;
    expect(said).toContain(`  later     ${later}`);
    expect(said.split('\n').at(-1)).toMatch(
      new RegExp(`^${later}.+ after they settled, with this --since\\.$`),
    );
    expect(reported).toMatchObject([{ later: expect.stringContaining(later) }]);
    const newest = { since: minutesAgo(1), until: undefined };
    expect(await refusalOf(replaying(newest, deployed))).toMatch(
      /^Nothing to replay yet\. The archive may lack records settled since /,
    );
    expect((await replaying(newest)).said).not.toContain('may lack records');
  });

  test('are those of the time that Firehose buffers, the function runs and Firehose writes', async () => {
    const seconds = (await archiveDelay(operator.stack, ['shop.updated'])) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(900 + 5 * 60);
    expect(seconds).toBeLessThanOrEqual(900 + 900 + 5 * 60);
  });
});

// The kinds of damage are tested with the reader of the archive.
test('a damaged object is named, and the others are sent; the replay and its dry run end with false', async () => {
  const key = objectKey('damaged', 'shop.updated', minutesAgo(60).toISOString().slice(0, 13));
  await putObject(operator.stack, key, Buffer.from('nothing of ours'));
  await archive('sound', numbered(2));
  expect(await replaying({ dryRun: true })).toMatchObject({ done: false });
  const { said, done } = await replaying({ name: 'damaged' });
  expect(done).toBe(false);
  expect(await shops()).toEqual(['shop-0', 'shop-1']);
  // It is named in the plan, and at the end.
  expect(said.split(key)).toHaveLength(3);
});

describe('a message that SQS rejects', () => {
  type Entries = readonly { readonly Id?: string }[];

  /** The stack with a queue that rejects some entries of a batch. */
  function refusing(
    choose: (entries: Entries, call: number) => Entries,
    why: object = { SenderFault: false, Code: 'InternalError', Message: 'again' },
  ) {
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
    return { stack: operator.stack.with({ sqs }) };
  }

  test('temporarily is sent again', async () => {
    await archive('partly', numbered(20));
    const half = refusing((entries, call) => (call < 2 ? entries.filter((_, index) => index % 2 === 0) : []));
    expect(await replaying({}, half)).toMatchObject({ done: true });
    expect(await shops()).toEqual(Array.from(numbered(20), ({ shopId }) => shopId).sort());
  });

  test('for a fault that can be fixed ends the replay at once, and it can run again later', async () => {
    await archive('disabled', numbered(3));
    const why = { SenderFault: true, Code: 'KmsDisabled', Message: 'The key is disabled' };
    const disabled = refusing((entries) => entries.slice(1), why);
    expect(await refusalOf(replaying({ name: 'disabled' }, disabled))).toMatch(
      /^SQS does not accept event [0-9a-f]{64} and 1 more: KmsDisabled: The key is disabled\. Sent until then: 1 message\. Run it again with: npx hookctl replay --since \S+Z --until \S+Z --mode fill --name disabled --rate 10000 --yes --outputs /,
    );
    expect(await shops()).toEqual(['shop-0']);
    expect(await replaying({ name: 'disabled' })).toMatchObject({ done: true });
    expect(await shops()).toEqual(['shop-0', 'shop-1', 'shop-2']);
  });
});
