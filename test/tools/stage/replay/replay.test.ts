import { PutBucketLifecycleConfigurationCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames, isNotification } from '../../../../lambda/events/catalogue.ts';
import { REPLAY_NAME, REPLAYABLE_DAYS, REPLAYABLE_RECEIPT_DAYS } from '../../../../lambda/queue/replay.ts';
import { replayMessage } from '../../../../tools/stage/replay/batch.ts';
import type { ReplayOptions } from '../../../../tools/stage/replay/plan.ts';
import { eventually } from '../../../support/eventually.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Project } from '../../cli/commands/project.ts';
import { archived } from '../archive/support.ts';
import { at, minutesAgo, numbered, OPERATOR, Replayer } from './support.ts';

let aws: TestAws;
let replayer: Replayer;

beforeAll(async () => {
  aws = await startTestAws();
  replayer = await Replayer.create(aws);
});
afterEach(() => replayer.empty());
afterAll(async () => {
  await replayer.operator.close();
  await aws.close();
});

const shops = () => replayer.shops();
const plan = async (asked: Partial<ReplayOptions> = {}) =>
  (await replayer.replay({ dryRun: true, ...asked })).said;

describe('a message of a replay', () => {
  test('is what it was, and says which replay it is of', async () => {
    const [record = {}] = numbered(1);
    const receivedAt = minutesAgo(70).toISOString();
    await replayer.archive('whole', [{ ...record, receivedAt }]);
    await replayer.replay({ name: 'whole', mode: 'repair', notify: true });
    const text = (StringValue: string | undefined) => ({ DataType: 'String', StringValue });
    expect(await replayer.taken('ShopUpdatedQueueUrl')).toMatchObject([
      {
        Body: record.body,
        MessageAttributes: {
          event: text('shop.updated'),
          eventId: text(record.eventId),
          receivedAt: text(receivedAt),
          requestId: text('request-0'),
          replay: text(JSON.stringify({ name: 'whole', mode: 'repair', notify: true })),
        },
      },
    ]);
  });

  test('is of one group, counts all bytes that SQS counts, and is sent in batches that SQS takes', async () => {
    const replay = { name: 'n', mode: 'fill' as const, notify: false };
    const sentByHand = archived({ requestId: undefined, body: '{"é":1}' });
    const { entry, bytes } = replayMessage(sentByHand, replay);
    expect(entry.MessageGroupId).toBe('replay');
    expect(entry.MessageAttributes).not.toHaveProperty('requestId');
    const attributes = Object.entries(entry.MessageAttributes ?? {}).map(
      ([name, { DataType = '', StringValue = '' }]) => name + DataType + StringValue,
    );
    expect(bytes).toBe('{"é":1}'.length + 1 + attributes.join('').length);

    const large = (shop_id: string) => JSON.stringify({ data: { shop_id, name: 'x'.repeat(400_000) } });
    const ids = ['shop-a', 'shop-b', 'shop-c'];
    await replayer.archive(
      'large',
      ids.map((id) => ({ body: large(id) })),
    );
    await replayer.replay();
    expect(await shops()).toEqual(ids);
  });

  test('refers to a payload in the payload bucket; if that is gone, none is sent', async () => {
    const payloadKey = 'shop.updated/large';
    await replayer.operator.stack.s3.send(
      new PutObjectCommand({ Bucket: aws.outputs.PayloadBucket, Key: payloadKey, Body: '{}' }),
    );
    const stored = { body: undefined, payloadKey };
    await replayer.archive('stored', [stored, { ...stored, payloadKey: 'shop.updated/gone' }]);
    const { done, said } = await replayer.replay();
    expect(await replayer.taken('ShopUpdatedQueueUrl')).toMatchObject([
      {
        Body: JSON.stringify({ payloadKey }),
        MessageAttributes: { payloadKey: { StringValue: payloadKey } },
      },
    ]);
    expect(said).toContain('Skipped: 1 without a payload.');
    expect(done).toBe(true);
  });
});

describe('which records are sent', () => {
  const replay = (name: string) => ({ name, mode: 'fill' as const, notify: false });

  test('those settled in the window: its start is in it, its end is not', async () => {
    const [a = {}, b = {}, c = {}, d = {}] = numbered(4);
    const [since, until] = [minutesAgo(65), minutesAgo(60)];
    const settled = (moment: Date, offset: number) => new Date(moment.getTime() + offset).toISOString();
    await replayer.archive('edges', [
      { ...a, settledAt: settled(since, -1) },
      { ...b, settledAt: settled(since, 0) },
      { ...c, settledAt: settled(until, -1) },
      { ...d, settledAt: settled(until, 0) },
    ]);
    await replayer.replay({ since: at(since), until: at(until) });
    expect(await shops()).toEqual(['shop-1', 'shop-2']);
  });

  test.each([
    { of: 'a shop', asked: { shop: 'shop-2' }, expected: ['shop-2'] },
    {
      of: 'ids',
      asked: { ids: ['request-0', numbered(2)[1]?.eventId?.slice(0, 12) ?? ''] },
      expected: ['shop-0', 'shop-1'],
    },
    { of: 'an outcome', asked: { outcomes: ['Stale' as const] }, expected: ['shop-3'] },
    { of: 'an event', asked: { events: ['user.updated' as const] }, expected: [] },
  ])('those of $of', async ({ asked, expected }) => {
    const [a = {}, b = {}, c = {}, d = {}] = numbered(4);
    await replayer.archive('shops', [a, b, c, { ...d, outcome: 'Stale' }]);
    await replayer.archive('user', [{ event: 'user.updated' }]);
    await replayer.replay(asked);
    expect(await shops()).toEqual(expected);
    expect(await replayer.taken('UserUpdatedQueueUrl')).toHaveLength(expected.length === 0 ? 1 : 0);
  });

  test('those of every event, each to its own queue', async () => {
    for (const event of eventNames) await replayer.archive(event, [{ event }]);
    const { said } = await replayer.replay();
    const { operator } = replayer;
    const counts = eventNames.map((event) => operator.queues.count(operator.stack.event(event).queueUrl));
    expect(await Promise.all(counts)).toEqual(eventNames.map(() => 1));
    expect(said).toContain(`sent ${eventNames.length} messages`);
  });

  test('not what another replay settled, what is forgotten, and what was received too long ago: it is counted', async () => {
    const [old = {}, recent = {}] = numbered(2);
    const received = (days: number) => ({ receivedAt: minutesAgo(days * 24 * 60).toISOString() });
    const ofReplay = { body: undefined, replay: replay('before') };
    await replayer.archive('some', [
      ofReplay,
      { body: undefined, forgottenAt: minutesAgo(1).toISOString() },
      { ...old, ...received(REPLAYABLE_RECEIPT_DAYS + 0.1) },
      { ...recent, ...received(REPLAYABLE_RECEIPT_DAYS - 0.1) },
    ]);
    // An object of nothing else is not read again, and counts all the same.
    await replayer.archive('none', [ofReplay]);
    const { said, done } = await replayer.replay();
    expect(await shops()).toEqual(['shop-1']);
    expect(said).toContain('skipped   2 from replays, 1 forgotten, 1 received more than 83 days ago');
    expect(said).toContain('Skipped: 2 from replays, 1 forgotten, 1 received more than 83 days ago.');
    expect(done).toBe(true);
  });

  test('not what the replay itself has led to, such as before an interruption, and it does not count', async () => {
    await replayer.archive('own', [{ body: undefined, replay: replay('own') }, ...numbered(1)]);
    const { said } = await replayer.replay({ name: 'own' });
    expect(await shops()).toEqual(['shop-0']);
    expect(said).not.toMatch(/skipped/i);
  });
});

describe('a plan', () => {
  test('is all that --dry-run does: nothing is sent, and no name is used', async () => {
    await replayer.archive('dry', [...numbered(3), { ...numbered(1, 3)[0], outcome: 'DeadLettered' }]);
    const { done, said } = await replayer.replay({ name: 'dry', mode: 'repair', dryRun: true, rate: 1 });
    expect(done).toBe(true);
    expect(await shops()).toEqual([]);
    await expect(replayer.state('dry')).rejects.toMatchObject({ name: 'NoSuchKey' });
    expect(said).toContain('Replay dry in the stack of');
    expect(said).toMatch(/ mode +repair: rewrites rows from their newest events\n/);
    expect(said).toContain('at least 4 s, at 1 message a second');
    expect(said).toContain('dead letters  1. They also stay on the dead-letter queue unless redriven.');
    expect(said).toMatch(/EVENT +MESSAGES +PROCESSED +DEAD-LETTERED\nshop\.updated +4 +3 +1$/);
  });

  test('that Ctrl-C ends leaves nothing behind', async () => {
    await replayer.archive('some', numbered(1));
    const { done, said } = await replayer.replay({ name: 'planned' }, { signal: AbortSignal.abort() });
    expect({ done, said }).toEqual({ done: false, said: 'Interrupted. Nothing was sent.' });
    await expect(replayer.state('planned')).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('of a repair with a fixed end says that wrong writes may be settled later', async () => {
    await replayer.archive('some', numbered(1));
    const end = 'omit it, or set it 4 hours after the fix: wrong writes may be settled that late';
    expect(await plan({ mode: 'repair' })).toContain(end);
    expect(await plan()).not.toContain(end);
    expect(await plan({ mode: 'repair', until: undefined })).not.toContain(end);
  });

  test('says who is notified, and how often at most', async () => {
    await replayer.archive('reviews', [{ event: 'review.posted' }, { event: 'review.posted' }]);
    await replayer.archive('girl', [{ event: 'girl.created' }]);
    const most = 'at most 2 notifications (review 2).';
    expect(await plan()).toContain(`${most} Nobody is notified twice about an event.`);
    expect(await plan({ notify: true })).toContain(
      `${most} People are notified again, once per replay name.`,
    );
    expect(await plan({ events: ['girl.created'] })).toContain('nobody: these events send no notifications');
  });
});

describe('what a replay cannot do is refused in one line, and nothing is sent', () => {
  const DAY = 24 * 60;
  const [one, two, later] = [at(minutesAgo(1)), at(minutesAgo(2)), at(minutesAgo(-10))];
  const tooOld = at(minutesAgo(REPLAYABLE_DAYS * DAY + 1));
  const notifying = eventNames.filter(isNotification).join(' and ');

  test.each([
    { asked: { since: undefined, name: undefined }, line: 'Give a start, such as --since 3d' },
    {
      asked: { since: undefined, name: 'unknown' },
      line: 'There is no replay unknown in STACK. To begin one, give --since',
    },
    {
      asked: { since: one, until: two },
      line: `--until must be after --since: ${two.text} is not after ${one.text}`,
    },
    { asked: { since: later }, line: `--since is in the future: ${later.text}` },
    { asked: { until: later }, line: `--until is in the future: ${later.text}` },
    {
      asked: { since: tooOld },
      line: expect.stringMatching(
        new RegExp(`^A replay reaches back 60 days, to \\S+Z\\. --since is ${tooOld.text}$`),
      ),
    },
    {
      asked: { notify: true, events: ['shop.updated', 'girl.created'] as const },
      line: `--notify is for events that send notifications: ${notifying}. These do not: shop.updated, girl.created`,
    },
    {
      asked: { shop: 'nobody', until: undefined },
      line: 'Nothing to replay: the archive of STACK has no such record. The newest records arrive up to 2 s late',
    },
    {
      asked: { yes: false },
      line: 'There is no terminal to confirm this in. Check it with --dry-run, then use --yes',
    },
  ])('$line', async ({ asked, line }) => {
    await replayer.archive('some', numbered(3));
    const message = typeof line === 'string' ? line.replace('STACK', replayer.operator.stack.title) : line;
    await expect(replayer.replay(asked)).rejects.toMatchObject({ name: 'CommandError', message });
    expect(await shops()).toEqual([]);
  });

  test('a window that the archive no longer has; if a part of it is left, the plan says so', async () => {
    const rule = { Status: 'Enabled', Filter: { Prefix: 'event=' }, Expiration: { Days: 30 } } as const;
    await replayer.operator.stack.s3.send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket: aws.outputs.ArchiveBucket,
        LifecycleConfiguration: { Rules: [rule] },
      }),
    );
    await replayer.archive('some', numbered(3));
    const [since, until] = [at(minutesAgo(41 * DAY)), at(minutesAgo(40 * DAY))];
    const kept = `${replayer.operator.stack.title} keeps records for 30 days`;
    await expect(replayer.replay({ since, until })).rejects.toMatchObject({
      name: 'CommandError',
      message: `Nothing settled before ${until.text} is left: ${kept}`,
    });
    expect(await plan({ since })).toContain(`expired   What was settled earlier has expired: ${kept}.`);
  });
});

describe('as it is typed', () => {
  let project: Project;
  beforeAll(async () => {
    project = await Project.create();
  });
  afterAll(() => project.remove());
  const typed = (line: string) => [...line.split(' '), '--outputs', replayer.operator.outputsFile];

  test('a name of other characters, or a longer one, is refused', async () => {
    expect(await project.run(typed('replay --since 1h --name Upper'))).toEqual({
      code: 1,
      stdout: '',
      stderr:
        "Option '--name <name>' argument 'Upper' is invalid. It must be 1 to 63 lower-case letters, digits and hyphens, and not begin with a hyphen.\n",
    });
    const names = ['a', '9-a', 'x'.repeat(63), 'Upper', '-a', 'a/b', 'x'.repeat(64), ''];
    expect(names.filter((name) => REPLAY_NAME.test(name))).toEqual(names.slice(0, 3));
  });

  test('with --yes it replays, and exits with 0', async () => {
    await replayer.archive('some', numbered(3));
    const { code, stdout } = await project.run(
      typed(`replay shop.updated --since 3h --until ${minutesAgo(30).toISOString()} --name typed --yes`),
    );
    expect(code).toBe(0);
    expect(stdout).toContain('Replay typed is finished: sent 3 messages in');
    expect(await shops()).toHaveLength(3);
    expect(await replayer.state('typed')).toMatchObject({ typed: { since: '3h' } });
  });

  test('Ctrl-C exits with 130, and says how to continue', async () => {
    await replayer.archive('some', numbered(30));
    const running = project.start(typed('replay shop.updated --since 3h --name broken-off --rate 4 --yes'));
    const count = () => replayer.operator.queues.count(aws.outputs.ShopUpdatedQueueUrl);
    await eventually(async () => (await count()) > 3 || undefined);
    running.interrupt();
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    const sent = (await shops()).length;
    expect(stdout.trimEnd().split('\n').slice(-2)).toEqual([
      `Interrupted: ${sent} of 30 messages are sent.`,
      `Continue with: npm run replay -- --name broken-off --outputs ${replayer.operator.outputsFile}`,
    ]);
    const state = await replayer.state('broken-off');
    expect(state).toMatchObject({ by: OPERATOR, planned: 30, sent: { 'shop.updated': sent } });
    expect(state).not.toHaveProperty('running');
    expect(state).not.toHaveProperty('finishedAt');
    expect(await replayer.continue('broken-off')).toMatchObject({ done: true });
    expect(await shops()).toHaveLength(30 - sent);
  });
});
