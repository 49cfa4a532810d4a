import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { PutBucketLifecycleConfigurationCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames, isNotification } from '../../../../lambda/events/catalogue.ts';
import { REPLAYABLE_DAYS, REPLAYABLE_RECEIPT_DAYS } from '../../../../lambda/limits.ts';
import { REPLAY_NAME } from '../../../../lambda/queue/replay.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { essence } from '../../../../test/support/oracle.ts';
import { Partner } from '../../../../test/support/partner.ts';
import { sharedStack } from '../../../../test/support/shared-stack.ts';
import { Tables } from '../../../../test/support/tables.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { ACCEPTANCE_PREFIX } from '../../../stage/archive/acceptance-records.ts';
import { readArchive } from '../../../stage/archive/read-archive.ts';
import type { ReplayOptions } from '../../../stage/replay/replay-plan.ts';
import { replayMessage } from '../../../stage/replay/send-batch.ts';
import { CommandError } from '../../../terminal/command-error.ts';
import { Project } from '../../commands/project.ts';
import { archived } from '../archive/support.ts';
import { Operator, refusalOf } from '../queues/support.ts';
import { minutesAgo, numbered, Replayer, startedReplayer } from './support.ts';

const started = startedReplayer();
let aws: TestAws;
let replayer: Replayer;

beforeAll(() => {
  ({ aws, replayer } = started);
});

const shops = () => replayer.shops();
const plan = async (asked: Partial<ReplayOptions> = {}) =>
  (await replayer.replay({ dryRun: true, ...asked })).said;

describe('a message of a replay', () => {
  test('equals the original, with the name of its replay', async () => {
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

  test('has one group, counts all bytes that SQS counts, and is sent in batches that SQS accepts', async () => {
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

  test('refers to a payload in the payload bucket; without that payload none is sent', async () => {
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

describe('the records that are sent', () => {
  const replay = (name: string) => ({ name, mode: 'fill' as const, notify: false });

  test('match all options', async () => {
    const [a = {}, b = {}, c = {}, d = {}, e = {}, f = {}] = numbered(6);
    const stale = { shopId: 'shop-1', outcome: 'Stale' as const };
    await replayer.archive('shops', [
      { ...a, ...stale, outcome: 'Processed' },
      { ...b, ...stale },
      { ...c, ...stale, shopId: 'shop-2' },
      { ...d, ...stale },
      { ...e, ...stale, settledAt: minutesAgo(90).toISOString() },
      { ...f, ...stale, settledAt: minutesAgo(45).toISOString() },
    ]);
    await replayer.archive('user', [{ event: 'user.updated', ...stale, requestId: 'request-1' }]);
    await replayer.replay({
      events: ['shop.updated'],
      since: minutesAgo(70),
      until: minutesAgo(50),
      shop: 'shop-1',
      ids: [0, 1, 2, 4, 5].map((number) => `request-${number}`),
      outcomes: ['Stale'],
    });
    expect(await shops()).toEqual(['shop-1']);
    expect(await replayer.taken('UserUpdatedQueueUrl')).toEqual([]);
  });

  test('go to the queue of their event', async () => {
    for (const event of eventNames) await replayer.archive(event, [{ event }]);
    const { said } = await replayer.replay();
    const { operator } = replayer;
    const counts = eventNames.map((event) => operator.queues.count(operator.stack.event(event).queueUrl));
    expect(await Promise.all(counts)).toEqual(eventNames.map(() => 1));
    expect(said).toContain(`sent ${eventNames.length} messages`);
  });

  test('exclude those of another replay, forgotten ones, and those received too long ago: they are counted', async () => {
    const [old = {}, recent = {}] = numbered(2);
    const received = (days: number) => ({ receivedAt: minutesAgo(days * 24 * 60).toISOString() });
    const ofReplay = { body: undefined, replay: replay('before') };
    await replayer.archive('some', [
      ofReplay,
      { body: undefined, forgottenAt: minutesAgo(1).toISOString() },
      { ...old, ...received(REPLAYABLE_RECEIPT_DAYS + 0.1) },
      { ...recent, ...received(REPLAYABLE_RECEIPT_DAYS - 0.1) },
    ]);
    await replayer.archive('none', [ofReplay]);
    const { said, done } = await replayer.replay();
    expect(await shops()).toEqual(['shop-1']);
    expect(said).toContain('skipped   2 from replays, 1 forgotten, 1 received more than 83 days ago');
    expect(said).toContain('Skipped: 2 from replays, 1 forgotten, 1 received more than 83 days ago.');
    expect(done).toBe(true);
  });

  test('exclude those of acceptance runs, unless their shop or id is given: they are counted', async () => {
    const ofRun = `${ACCEPTANCE_PREFIX}1f3a`;
    const data = { girl_id: `${ofRun}-girl`, note: 'x' };
    const body = (fields: object) => JSON.stringify({ event: 'girl.deleted', data: fields });
    const mentioned = body({ girl_id: 'girl-1', note: `${ofRun}-girl` });
    await replayer.archive('run', [{ shopId: `${ofRun}-shop`, body: undefined, payloadKey: 'large' }]);
    await replayer.archive('girl', [
      { event: 'girl.deleted', shopId: undefined, eventId: 'a'.repeat(64), body: body(data) },
      { event: 'girl.deleted', shopId: undefined, eventId: 'b'.repeat(64), body: mentioned },
    ]);
    const { said, reported } = await replayer.replay({ dryRun: true });
    expect(reported).toMatchObject([{ messages: 1, skipped: { ofAcceptance: 2 } }]);
    expect(said).toMatch(/skipped +2 from acceptance runs \(to include them, name them by --shop or --id\)/);
    expect((await replayer.replay({ dryRun: true, ids: ['aaaaaaaa'] })).reported).toMatchObject([
      { messages: 1, skipped: { ofAcceptance: 0 } },
    ]);
  });

  test('are not chosen by an id that is the beginning of several', async () => {
    const ids = ['a', 'b'].map((last) => last.padStart(64, 'c'));
    await replayer.archive(
      'same',
      ids.map((eventId) => ({ eventId })),
    );
    const refused = await refusalOf(replayer.replay({ ids: ['cccccccc'] }));
    expect(refused).toBe(`Several ids begin with 'cccccccc'. Give one of: ${ids.join(', ')}`);
    expect(await shops()).toEqual([]);
  });

  test('exclude those of the replay itself, such as before an interruption, without counting', async () => {
    await replayer.archive('own', [{ body: undefined, replay: replay('own') }, ...numbered(1)]);
    const { said } = await replayer.replay({ name: 'own' });
    expect(await shops()).toEqual(['shop-0']);
    expect(said).not.toMatch(/skipped/i);
  });
});

describe('a plan', () => {
  test('is all that --dry-run makes: nothing is sent', async () => {
    await replayer.archive('dry', [...numbered(3), { ...numbered(1, 3)[0], outcome: 'DeadLettered' }]);
    const { done, said } = await replayer.replay({ name: 'dry', mode: 'repair', dryRun: true, rate: 1 });
    expect(done).toBe(true);
    expect(await shops()).toEqual([]);
    expect(said).toContain('Replay dry in the stack of');
    expect(said).toMatch(/ mode +repair: rewrites items from their newest events\n/);
    expect(said).toContain('at least 4 s, at 1 message a second');
    expect(said).toContain('dead letters  1. They also stay on the dead-letter queue unless redriven.');
    expect(said).toMatch(/EVENT +MESSAGES +PROCESSED +DEAD-LETTERED\nshop\.updated +4 +3 +1\n/);
  });

  test('that is interrupted by Ctrl-C leaves nothing behind', async () => {
    await replayer.archive('some', numbered(1));
    const { done, said } = await replayer.replay({ name: 'planned' }, { signal: AbortSignal.abort() });
    expect({ done, said }).toEqual({ done: false, said: 'Interrupted. Nothing was sent.' });
  });

  test('of a repair with a fixed end warns that wrong writes may be settled later', async () => {
    await replayer.archive('some', numbered(1));
    await replayer.archive('girl', [{ event: 'girl.created' }]);
    const end =
      'wrong writes may be settled up to 73 hours after the fix: a window that ends earlier misses them';
    expect(await plan({ mode: 'repair' })).toContain(end);
    expect(await plan({ mode: 'repair', events: ['girl.created'] })).toContain(end.replace('73', '4'));
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

describe('an impossible replay is refused in one line, and sends nothing', () => {
  const DAY = 24 * 60;
  const [one, two, later] = [minutesAgo(1), minutesAgo(2), minutesAgo(-10)];
  const tooOld = minutesAgo(REPLAYABLE_DAYS * DAY + 1);
  const notifying = eventNames.filter(isNotification).join(' and ');

  test.each([
    { asked: { since: undefined, name: undefined }, line: 'Give a start, such as --since 3d' },
    {
      asked: { since: one, until: two },
      line: `--until must be after --since: ${two.toISOString()} is not after ${one.toISOString()}`,
    },
    { asked: { since: later }, line: `--since is in the future: ${later.toISOString()}` },
    { asked: { until: later }, line: `--until is in the future: ${later.toISOString()}` },
    {
      asked: { since: tooOld },
      line: expect.stringMatching(
        new RegExp(`^A replay reaches back 60 days, to \\S+Z\\. --since is ${tooOld.toISOString()}$`),
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
      line: 'There is no terminal for the confirmation. Check with --dry-run, then use --yes',
    },
  ])('$line', async ({ asked, line }) => {
    await replayer.archive('some', numbered(3));
    const message = typeof line === 'string' ? line.replace('STACK', replayer.operator.stack.title) : line;
    const refused = replayer.replay(asked);
    await expect(refused).rejects.toBeInstanceOf(CommandError);
    await expect(refused).rejects.toMatchObject({ message });
    expect(await shops()).toEqual([]);
  });

  test('for a window older than the archive; if a part of it is left, the plan says so', async () => {
    const rule = { Status: 'Enabled', Filter: { Prefix: 'event=' }, Expiration: { Days: 30 } } as const;
    await replayer.operator.stack.s3.send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket: aws.outputs.ArchiveBucket,
        LifecycleConfiguration: { Rules: [rule] },
      }),
    );
    await replayer.archive('some', numbered(3));
    const [since, until] = [minutesAgo(41 * DAY), minutesAgo(40 * DAY)];
    const kept = `${replayer.operator.stack.title} keeps records for 30 days`;
    expect(await refusalOf(replayer.replay({ since, until }))).toBe(
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
  const typed = (line: string) => [...line.split(' '), '--outputs', replayer.operator.outputsFile];

  test('--json prints the plan, and then the result, as data', async () => {
    await replayer.archive('some', numbered(2));
    const replay = `replay shop.updated --since 3h --name data --json`;
    const planned = await project.type(typed(`${replay} --dry-run`));
    const { filter, command, ...plan } = JSON.parse(planned.stdout);
    expect(plan).toMatchObject({ name: 'data', messages: 2, events: { 'shop.updated': { Processed: 2 } } });
    expect(command).toContain(`--until ${filter.until}`);
    expect(planned.stderr).toContain('Replay data in the stack of');
    const { stdout } = await project.type([...command.split(' ').slice(2), '--json']);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ name: 'data', finished: true, sent: { 'shop.updated': 2 } });
  });

  test('a plan ends with the command that runs it: later records are not sent', async () => {
    await replayer.archive('before', [...numbered(1), { event: 'user.updated', shopId: 'shop-0' }]);
    const line = 'replay shop.updated --since 3h --shop shop-0 --rate 50 --dry-run';
    const { stdout } = await project.type(typed(line));
    const [, since, until] = /settled from (\S+Z) to (\S+Z)\n/.exec(stdout) ?? [];
    const [, planned = '', name] = /npx hookctl (.* --name (fill-[0-9-]+) .*)/.exec(stdout) ?? [];
    const times = `--since ${since} --until ${until}`;
    expect(planned).toBe(
      typed(`replay shop.updated ${times} --shop shop-0 --mode fill --name ${name} --rate 50 --yes`).join(
        ' ',
      ),
    );

    const settledAt = new Date().toISOString();
    await replayer.archive('later', [{ ...numbered(1, 1)[0], shopId: 'shop-0', settledAt }]);
    expect(await project.type(planned.split(' '))).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Replay fill-\S+ is finished: sent 1 message in/m),
    });
    expect(await shops()).toEqual(['shop-0']);
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

  test('Ctrl-C exits with 130, and says how to run it again', async () => {
    await replayer.archive('some', numbered(30));
    const running = project.start(typed('replay shop.updated --since 3h --name broken-off --rate 4 --yes'));
    const count = () => replayer.operator.queues.count(aws.outputs.ShopUpdatedQueueUrl);
    await eventually(async () => (await count()) > 3 || undefined);
    running.interrupt();
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    const [interrupted, again = ''] = stdout.trimEnd().split('\n').slice(-2);
    expect(interrupted).toBe(`Interrupted: ${(await shops()).length} of 30 messages are sent.`);
    const command = /^Run it again with: npx hookctl (replay .* --name broken-off --rate) 4 (--yes .*)$/.exec(
      again,
    );
    expect(await project.type([...`${command?.[1]} 1000 ${command?.[2]}`.split(' ')])).toMatchObject({
      code: 0,
    });
    expect(await shops()).toHaveLength(30);
  });
});

// What each kind of replay writes is tested with the consumers.
test('a replay repairs what a bug wrote, and notifies again only on request', async () => {
  const stack = await sharedStack();
  const ofStack = new Replayer(await Operator.create(stack));
  const { operator } = ofStack;
  const tables = new Tables(stack.operator);
  const run = randomUUID();
  const [shop_id, girl_id] = [`shop-${run}`, `girl-${run}`];
  const subscriber = await operator.queues.subscribe(stack.outputs.ReviewTopicArn, `reviews-${run}`);
  const TableName = stack.outputs.CastTable;
  const girl = async () => essence(await tables.get(TableName, { girl_id }));
  const notified = async () => {
    const messages = await operator.queues.takeAll(subscriber);
    return messages.filter(({ MessageAttributes }) => MessageAttributes?.shop_id?.StringValue === shop_id)
      .length;
  };
  /** Waits until both events are archived, as deliveries or as results of a replay. */
  const archived = (name?: string) =>
    eventually(async () => {
      let found = 0;
      for await (const object of readArchive(operator.stack, {})) {
        for await (const { record } of object.records()) {
          if (record.shopId === shop_id && record.replay?.name === name) found += 1;
        }
      }
      return found === 2 || undefined;
    });
  const replay = async (name: string, options: Partial<ReplayOptions>) => {
    const asked = { name: `${name}-${run}`, shop: shop_id, since: minutesAgo(60), ...options };
    expect(await ofStack.replay(asked)).toMatchObject({ done: true });
    await archived(asked.name);
  };

  const partner = new Partner(stack.outputs.WebhookUrl);
  const timestamp = '2026-01-31T09:00:00Z';
  await partner.post({ event: 'girl.created', data: { shop_id, girl_id, name: 'Hana' }, timestamp });
  await partner.post({ event: 'review.posted', data: { shop_id, rating: 5 }, timestamp });
  await archived();
  const right = await girl();
  expect(right).toMatchObject({ name: 'Hana' });
  expect(await notified()).toBe(1);

  // Like a bug of a consumer.
  const Item = marshall({ ...(await tables.get(TableName, { girl_id })), name: 'wrong' });
  await tables.client.send(new PutItemCommand({ TableName, Item }));
  // The same end for all replays, so that only the first waits for late records.
  const until = new Date();
  await replay('fill', { until, mode: 'fill' });
  expect(await girl()).toMatchObject({ name: 'wrong' });
  await replay('repair', { until, mode: 'repair' });
  expect(await girl()).toEqual(right);
  expect(await notified()).toBe(0);
  await replay('notify', { until, mode: 'repair', notify: true });
  expect(await notified()).toBe(1);
  await operator.close();
});
