import { PutBucketLifecycleConfigurationCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames, isNotification } from '../../../../lambda/events/catalogue.ts';
import { REPLAYABLE_DAYS } from '../../../../lambda/queue/replay.ts';
import { eventually } from '../../../support/eventually.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Project } from '../../cli/commands/project.ts';
import { type Asked, ago, at, numbered, OPERATOR, Replayer } from './support.ts';

const telling = eventNames.filter(isNotification);

let aws: TestAws;
let replayer: Replayer;
let project: Project;

beforeAll(async () => {
  aws = await startTestAws();
  replayer = await Replayer.create(aws);
  project = await Project.create();
  await replayer.archive('some', numbered(3));
});
afterAll(async () => {
  await project.remove();
  await replayer.close();
  await aws.close();
});

const DAY = 24 * 60;
const title = (): string => `the stack of ${replayer.operator.outputsFile}`;
const nothing = () => expect(replayer.taken('ShopUpdatedQueueUrl')).resolves.toEqual([]);

describe('what it cannot do it says in one line, and nothing is sent', () => {
  const [one, two, later] = [at(ago(1)), at(ago(2)), at(ago(-10))];
  const tooOld = at(ago(REPLAYABLE_DAYS * DAY + 1));
  test.each<[string, Asked, () => unknown]>([
    ['no beginning', { since: undefined, name: undefined }, () => 'Give a start, such as --since 3d'],
    [
      'no beginning, under a name that there is not',
      { since: undefined, name: 'unknown' },
      () => `There is no replay unknown in ${title()}. To begin one, give --since`,
    ],
    [
      'an end before the beginning',
      { since: one, until: two },
      () => `--until must be after --since: ${two.text} is not after ${one.text}`,
    ],
    ['a beginning that is still to come', { since: later }, () => `--since is in the future: ${later.text}`],
    ['an end that is still to come', { until: later }, () => `--until is in the future: ${later.text}`],
    [
      'what was settled too long ago',
      { since: tooOld },
      () =>
        expect.stringMatching(
          new RegExp(`^A replay reaches back 60 days, to \\S+Z\\. --since is ${tooOld.text}$`),
        ),
    ],
    [
      'telling people again of what tells nobody',
      { notify: true, events: ['shop.updated' as const, 'girl.created' as const] },
      () =>
        `--notify is for events that send notifications: ${telling.join(' and ')}. These do not: shop.updated, girl.created`,
    ],
    [
      'a window that has nothing',
      { since: two, shop: 'nobody' },
      () =>
        `Nothing to replay: the archive of ${title()} has no such record. The newest records arrive up to 2 s late`,
    ],
  ])('%s', async (_, asked, line) => {
    await expect(replayer.replay(asked)).rejects.toMatchObject({ name: 'CommandError', message: line() });
    await nothing();
  });

  test('a window that the archive no longer has', async () => {
    const s3 = new S3Client({ ...aws.operator, forcePathStyle: true });
    await s3.send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket: aws.outputs.ArchiveBucket,
        LifecycleConfiguration: {
          Rules: [{ Status: 'Enabled', Filter: { Prefix: 'event=' }, Expiration: { Days: 30 } }],
        },
      }),
    );
    const until = at(ago(40 * DAY));
    await expect(replayer.replay({ since: at(ago(41 * DAY)), until })).rejects.toMatchObject({
      name: 'CommandError',
      message: `Nothing settled before ${until.text} is left: ${title()} keeps records for 30 days`,
    });
    // Where a part of it is left, the plan says so.
    const { said } = await replayer.replay({ since: at(ago(40 * DAY)), dryRun: true });
    expect(said).toContain(
      `expired   What was settled earlier has expired: ${title()} keeps records for 30 days.`,
    );
  });

  test('a stage without an archive', async () => {
    const { operator } = replayer;
    const { ArchiveBucket: _, ...outputs } = operator.stack.outputs;
    const without = new Replayer(
      Object.create(operator, { stack: { value: operator.stack.with({ outputs }) } }),
      new S3Client(),
    );
    await expect(without.replay()).rejects.toMatchObject({
      name: 'CommandError',
      message: expect.stringMatching(/^There is no archive in .* archive\.days is 0/),
    });
    await nothing();
  });
});

describe('as it is typed', () => {
  const invalid = (option: string, value: string, why: string) =>
    `Option '--${option}' argument '${value}' is invalid. ${why}`;
  test.each([
    [
      ['shop_updated'],
      `Command-argument value 'shop_updated' is invalid for argument 'events'. Did you mean shop.updated? One of: ${eventNames.join(', ')}`,
    ],
    [
      ['--outcome', 'Done'],
      invalid('outcome <outcome>', 'Done', 'One of: Processed, Stale, Duplicate, DeadLettered'),
    ],
    [['--mode', 'undo'], invalid('mode <mode>', 'undo', 'Allowed choices are fill, repair.')],
    [['--rate', '0'], invalid('rate <n>', '0', 'It must be a whole number from 1 to 10000.')],
    ...['Upper', '-a', 'a/b', 'x'.repeat(64)].map(
      (name) =>
        [
          [`--name=${name}`],
          invalid(
            'name <name>',
            name,
            'It must be 1 to 63 lower-case letters, digits and hyphens, and not begin with a hyphen.',
          ),
        ] as const,
    ),
    [['--since', '1h', '--until', '2h'], expect.stringMatching(/^--until must be after --since: /)],
    [['--since', '1h'], 'There is no terminal to confirm this in. Check it with --dry-run, then use --yes'],
  ] as const)('%s', async (args, line) => {
    const where = ['--outputs', replayer.operator.outputsFile];
    const { stderr, ...others } = await project.run(['replay', ...args, ...where]);
    expect(others).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd()).toEqual(line);
    expect(stderr.split('\n')).toHaveLength(2);
    await nothing();
  });

  test('with --yes it replays, and exits with 0', async () => {
    const typed = `replay shop.updated --since 3h --until ${ago(30).toISOString()} --name typed --yes`;
    const where = ['--outputs', replayer.operator.outputsFile];
    const { code, stdout } = await project.run([...typed.split(' '), ...where]);
    expect(code).toBe(0);
    expect(stdout).toContain('Replay typed is finished: sent 3 messages in');
    expect(await replayer.taken('ShopUpdatedQueueUrl')).toHaveLength(3);
    expect(await replayer.state('typed')).toMatchObject({ typed: { since: '3h' } });
  });

  test('Ctrl-C exits with 130, and says how to go on', async () => {
    const users = numbered(30, 50).map((record) => ({ ...record, event: 'user.updated' as const }));
    await replayer.archive('users', users);
    const where = ['--outputs', replayer.operator.outputsFile];
    const args = ['replay', 'user.updated', '--since', '3h', '--name', 'broken-off', '--rate', '4', '--yes'];
    const running = project.start([...args, ...where]);
    const count = () => replayer.operator.queues.count(aws.outputs.UserUpdatedQueueUrl);
    await eventually(async () => ((await count()) > 3 ? true : undefined));
    running.interrupt();
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    const sent = (await replayer.taken('UserUpdatedQueueUrl')).length;
    expect(stdout.trimEnd().split('\n').slice(-2)).toEqual([
      `Interrupted: ${sent} of 30 messages are sent.`,
      `Continue with: npm run replay -- --name broken-off --outputs ${replayer.operator.outputsFile}`,
    ]);
    const state = await replayer.state('broken-off');
    expect(state).toMatchObject({ by: OPERATOR, planned: 30, sent: { 'user.updated': sent } });
    expect(state).not.toHaveProperty('running');
    expect(state).not.toHaveProperty('finishedAt');
    expect(await project.run(['replay', '--name', 'broken-off', '--yes', ...where])).toMatchObject({
      code: 0,
    });
    expect(await replayer.taken('UserUpdatedQueueUrl')).toHaveLength(30 - sent);
  });
});
