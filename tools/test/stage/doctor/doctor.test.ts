import { stripVTControlCharacters } from 'node:util';
import { SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { PutBucketLifecycleConfigurationCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { PutSecretValueCommand, UpdateSecretVersionStageCommand } from '@aws-sdk/client-secrets-manager';
import { CreateQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, test } from '@jest/globals';
import { readCloudAssembly } from 'local-aws/template';
import { WebhookSecrets } from '../../../../lambda/receiver/webhook-secrets.ts';
import { testAssembly } from '../../../../test/support/test-assembly.ts';
import { CHECKS, DOCTOR_ACTIONS, doctor } from '../../../stage/doctor/doctor.ts';
import { Inspection } from '../../../stage/doctor/inspection.ts';
import { Stage } from '../../../stage/stage.ts';
import { answerResources, stubbedAws, xml } from './support.ts';

const stubbed = stubbedAws();

const HOUR = 60 * 60 * 1000;

/** Runs one check. @returns its lines, `state: seen`, and what fixes it */
async function runCheck(name: string): Promise<string[]> {
  const check = Object.values(CHECKS)
    .flat()
    .find((one) => one.name === name);
  if (check === undefined) throw new Error(`No check ${name}`);
  using inspection = new Inspection(stubbed.stage, AbortSignal.timeout(10_000));
  // The code of the synthesis that is deployed here.
  Object.assign(inspection, { code: async () => readCloudAssembly(testAssembly()).template });
  const results = [await check.run(inspection)].flat();
  const lines = results.map(({ state, seen, fix = '' }) =>
    [`${state}: ${seen}`, fix].filter(Boolean).join('\n'),
  );
  return lines;
}

const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR);

/** Answers a query of the receiver's log: when each event was last accepted. */
function answerDeliveries(last: Readonly<Record<string, Date>>): void {
  const results = Object.entries(last).map(([event, at]) => [
    { field: '@timestamp', value: at.toISOString().replace('T', ' ').replace('Z', '') },
    { field: 'event', value: event },
  ]);
  stubbed.answer('logs StartQuery', { queryId: '1' });
  stubbed.answer('logs GetQueryResults', { status: 'Complete', results });
}

const answerLog = (lines: readonly object[]) =>
  stubbed.answer('logs FilterLogEvents', {
    events: lines.map((line) => ({ message: JSON.stringify(line) })),
  });

describe('deployment', () => {
  test.each([
    ['UPDATE_COMPLETE', 'ok'],
    ['UPDATE_IN_PROGRESS', 'warning'],
    ['UPDATE_ROLLBACK_COMPLETE', 'warning'],
    ['UPDATE_ROLLBACK_FAILED', 'failure'],
  ])('a stack in %s is %s', async (status, state) => {
    const time = `<LastUpdatedTime>${hoursAgo(2).toISOString()}</LastUpdatedTime>`;
    const stack = `<Stacks><member><StackStatus>${status}</StackStatus>${time}</member></Stacks>`;
    stubbed.answer('cloudformation DescribeStacks', xml('DescribeStacks', stack));
    expect(await runCheck('stack')).toEqual([`${state}: ${status}, 2 h ago`]);
  });

  test('what is deployed is compared with the code', async () => {
    expect(await runCheck('this code')).toEqual(['ok: deployed as it is in this folder']);
    answerResources(stubbed, { Extra: ['AWS::SNS::Topic', 'extra'] });
    expect(await runCheck('this code')).toEqual([
      expect.stringMatching(/^warning: \d+ resources differ: .*SNS::Topic/),
    ]);
  });

  test('an output that commands need is missing', async () => {
    const { ReceiverLogGroup: _, ...outputs } = stubbed.stage.outputs;
    const whole = stubbed.stage;
    Object.assign(stubbed, { stage: whole.with({ outputs }) });
    expect(await runCheck('this code')).toEqual(['failure: outputs missing: ReceiverLogGroup']);
    Object.assign(stubbed, { stage: whole });
  });

  test('an alias that is not on the newest version, and one between two', async () => {
    answerResources(stubbed, {
      Old: ['AWS::Lambda::Version', 'arn:aws:lambda:r:1:function:f:7', { FunctionName: { Ref: 'F' } }],
      Alias: ['AWS::Lambda::Alias', 'arn:aws:lambda:r:1:function:f:live', { FunctionName: { Ref: 'F' } }],
    });
    const move =
      'aws lambda update-alias --function-name f --name live --function-version 7 --routing-config AdditionalVersionWeights={}';
    stubbed.answer('lambda GET /2015-03-31/functions/f/aliases/live', { FunctionVersion: '7' });
    expect(await runCheck('functions')).toEqual(['ok: all 1 on their newest version']);
    stubbed.answer('aliases/live', { FunctionVersion: '6' });
    expect(await runCheck('functions')).toEqual([`warning: f runs version 6; 7 was deployed\n${move}`]);
    stubbed.answer('aliases/live', {
      FunctionVersion: '6',
      RoutingConfig: { AdditionalVersionWeights: { 7: 0.1 } },
    });
    expect(await runCheck('functions')).toEqual([
      `warning: f runs version 6, and 10 % version 7; 7 was deployed\n${move}`,
    ]);
  });

  test('event sources that are paused, off, changed or gone', async () => {
    const { stage } = stubbed;
    const sources = stage.events.slice(1).map((event, index) => ({
      UUID: String(index),
      EventSourceArn: `arn:aws:sqs:us-east-1:000000000000:${stage.event(event).queueUrl.split('/').at(-1)}`,
      FunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:f:live',
      State: index === 1 ? 'Disabled' : 'Enabled',
      BatchSize: index === 2 ? 1 : 10,
      ScalingConfig: { MaximumConcurrency: 20 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    }));
    stubbed.answer('lambda GET /2015-03-31/event-source-mappings', { EventSourceMappings: sources });
    const AlarmName = stage.event('girl.schedule_changed').pausedAlarm;
    const StateReason = 'Paused by arn:aws:iam::1:user/mia: the table is restored';
    const set = (StateValue: 'ALARM' | 'OK') =>
      stage.cloudwatch.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason }));
    await set('ALARM');
    const lines = await runCheck('event sources');
    await set('OK');
    expect(lines).toEqual([
      expect.stringMatching(
        /^warning: girl.schedule_changed paused \d+ s ago by mia: the table is restored. But it is on\n/,
      ),
      expect.stringMatching(/^failure: girl.created is off.*\nnpx hookctl resume girl.created --stage test$/),
      expect.stringMatching(/^failure: \S+ShopUpdatedQueue\S* has no event source/),
      expect.stringMatching(/^warning: \S+GirlDeletedQueue\S*: batch size 1 instead of 10/),
    ]);
  });
});

describe('secret', () => {
  const put = (SecretString: string) =>
    stubbed.stage.secrets.send(
      new PutSecretValueCommand({ SecretId: stubbed.stage.output('WebhookSecretArn'), SecretString }),
    );

  /** The versions that the receiver of the stage accepts now. */
  const accepted = () =>
    new WebhookSecrets({
      client: stubbed.stage.secrets,
      secretId: stubbed.stage.output('WebhookSecretArn'),
      gracePeriod: 24 * HOUR,
      onUnreadable: async () => {},
      onStale: async () => {},
      onDoubt: () => {},
    }).accepted();

  /** Runs a command of `aws secretsmanager`. */
  async function runAws(command: string): Promise<void> {
    const [, action, words = ''] = /^aws secretsmanager (\S+) (.*)$/.exec(command) ?? [];
    expect(action).toBe('update-secret-version-stage');
    const options = [...words.matchAll(/--(\S+) (\S+)/g)].map(([, name = '', value]) => [
      name.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]);
    await stubbed.stage.secrets.send(new UpdateSecretVersionStageCommand(Object.fromEntries(options)));
  }

  test('good, never rotated, deleted', async () => {
    expect(await runCheck('current version')).toEqual([
      expect.stringMatching(/^ok: readable, stored \d+ s ago$/),
    ]);
    expect(await runCheck('previous version')).toEqual(['skipped: never rotated']);
    const error = { status: 400, code: 'InvalidRequestException', message: 'marked for deletion' };
    stubbed.answer('secretsmanager GetSecretValue', error);
    expect(await runCheck('current version')).toEqual([
      expect.stringMatching(/^failure: deleted, or without a value\naws secretsmanager restore-secret/),
    ]);
  });

  test.each([
    ['blank', ' ', /^failure: blank/, /^warning: not accepted, because the current version is unusable$/],
    ['JSON with another key', '{"SECRET":"x"}', /^failure: .*JSON without/, /^warning: not accepted/],
    ['with a line feed', 'right\n', /^warning: readable, .*white space/, /^ok: accepted until /],
    ['JSON that does not parse', '{WEBHOOK_SECRET:right}', /^warning: .*JSON/, /^ok: accepted until /],
  ])('the advice about a secret that is %s keeps the old secret', async (_, mistake, current, previous) => {
    await put('old');
    await put(mistake);
    const [line = ''] = await runCheck('current version');
    expect(line).toMatch(current);
    expect(await runCheck('previous version')).toEqual([expect.stringMatching(previous)]);
    await runAws(line.split('\n').at(-1) ?? '');
    expect((await accepted())[0]).toBe('old');
    expect((await runCheck('current version'))[0]).toMatch(/^ok/);
    await put('right');
    expect(await accepted()).toEqual(['right', 'old']);
    expect(await runCheck('previous version')).toEqual([
      expect.stringMatching(/^ok: accepted until \S+, for (1 d|23 h 59 min)$/),
    ]);
  });
});

describe('alarms and mails', () => {
  const subscription = (endpoint: string, arn: string) =>
    `<member><Endpoint>${endpoint}</Endpoint><Protocol>email</Protocol><SubscriptionArn>${arn}</SubscriptionArn></member>`;
  const answerSubscriptions = (...members: readonly string[]) =>
    stubbed.answer(
      'sns ListSubscriptionsByTopic',
      xml('ListSubscriptionsByTopic', `<Subscriptions>${members.join('')}</Subscriptions>`),
    );
  const configured = (Endpoint: string, topic: 'Alarms' | 'Reviews') =>
    ['AWS::SNS::Subscription', 'x', { Protocol: 'email', Endpoint, TopicArn: { Ref: topic } }] as const;

  const answerConfigured = (topic: 'Alarms' | 'Reviews', ...addresses: readonly string[]) =>
    answerResources(stubbed, {
      Alarms: ['AWS::SNS::Topic', stubbed.stage.output('AlarmTopicArn')],
      Reviews: ['AWS::SNS::Topic', stubbed.stage.output('ReviewTopicArn')],
      ...Object.fromEntries(addresses.map((one) => [one, configured(one, topic)])),
    });

  test('addresses that are confirmed, can be ended by a link, are pending or gone', async () => {
    answerConfigured('Alarms', 'a@example.com', 'b@example.com', 'c@example.com', 'd@example.com');
    answerSubscriptions(
      subscription('a@example.com', 'arn:aws:sns:r:1:t:a'),
      subscription('b@example.com', 'PendingConfirmation'),
      subscription('c@example.com', 'Deleted'),
    );
    const attribute = (value: boolean) =>
      `<Attributes><entry><key>ConfirmationWasAuthenticated</key><value>${value}</value></entry></Attributes>`;
    stubbed.answer('sns GetSubscriptionAttributes', xml('GetSubscriptionAttributes', attribute(true)));
    const subscribe = `aws sns subscribe --topic-arn ${stubbed.stage.output('AlarmTopicArn')} --protocol email --notification-endpoint`;
    expect(await runCheck('alarm mails')).toEqual([
      'ok: a@example.com is confirmed',
      `failure: b@example.com has not confirmed\n${subscribe} b@example.com`,
      `failure: c@example.com is not subscribed\n${subscribe} c@example.com`,
      `failure: d@example.com is not subscribed\n${subscribe} d@example.com`,
    ]);
    stubbed.answer('sns GetSubscriptionAttributes', xml('GetSubscriptionAttributes', attribute(false)));
    expect((await runCheck('alarm mails'))[0]).toMatch(
      /^warning: a@example.com is confirmed, but a link in each/,
    );
  });

  test('an address of reviews that has not confirmed does not count as one of alarms', async () => {
    answerConfigured('Reviews', 'shop@example.com');
    answerSubscriptions(subscription('shop@example.com', 'PendingConfirmation'));
    const topic = stubbed.stage.output('ReviewTopicArn');
    expect(await runCheck('review mails')).toEqual([
      `failure: shop@example.com has not confirmed\naws sns subscribe --topic-arn ${topic} --protocol email --notification-endpoint shop@example.com`,
    ]);
    expect(await runCheck('alarm mails')).toEqual(['ok: no address in alarmEmails; 1 other subscription']);
  });

  test('no address', async () => {
    expect(await runCheck('alarm mails')).toEqual([
      'warning: no address in alarmEmails; 0 other subscriptions',
    ]);
    expect(await runCheck('review mails')).toEqual([
      'warning: no address in reviewEmails; 0 other subscriptions',
    ]);
  });

  test('a chat channel with and without a subscription', async () => {
    answerResources(stubbed, { Slack: ['AWS::Chatbot::SlackChannelConfiguration', 'x'] });
    answerSubscriptions();
    expect(await runCheck('chat')).toEqual(['failure: not subscribed']);
    answerSubscriptions(subscription('https://global.sns-api.chatbot.amazonaws.com', 'arn:aws:sns:r:1:t:a'));
    expect(await runCheck('chat')).toEqual(['ok: 1 channel, subscribed']);
  });

  test('an alarm that is on, with its impact and first step', async () => {
    const alarms = readCloudAssembly(testAssembly()).template.Resources;
    const [id = ''] = Object.keys(alarms).filter((name) => name.startsWith('UnroutedNotEmpty'));
    const AlarmName = `${stubbed.stage.stackName}-${id}`;
    const set = (StateValue: 'ALARM' | 'OK') =>
      stubbed.stage.cloudwatch.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason: 'test' }));
    await set('ALARM');
    expect(await runCheck('in ALARM')).toEqual([
      expect.stringMatching(
        /^failure: UnroutedNotEmpty, \d+ s ago\nnpx hookctl dlq show unrouted --stage \w+$/,
      ),
    ]);
    await set('OK');
    expect(await runCheck('in ALARM')).toEqual([expect.stringMatching(/^ok: none of \d+$/)]);
  });

  test('alarms that are turned off, deleted, or left over', async () => {
    expect(await runCheck('all alarms')).toEqual([expect.stringMatching(/^ok: \d+, as deployed$/)]);
    const topic = stubbed.stage.output('AlarmTopicArn');
    const { stackName } = stubbed.stage;
    answerResources(stubbed, {
      A: ['AWS::CloudWatch::Alarm', `${stackName}-ApiSlow1A2B3C4D-XYZ`],
      B: ['AWS::CloudWatch::Alarm', `${stackName}-Lag1A2B3C4D-XYZ`],
    });
    const alarm = (name: string, enabled: boolean) => ({
      AlarmName: `${stackName}-${name}`,
      AlarmActions: [topic],
      ActionsEnabled: enabled,
    });
    stubbed.answer('monitoring DescribeAlarms', {
      MetricAlarms: [alarm('Lag1A2B3C4D-XYZ', false), alarm('Old-XYZ', true)],
    });
    expect(await runCheck('all alarms')).toEqual([
      expect.stringMatching(/^failure: deleted: ApiSlow/),
      `failure: turned off: Lag\naws cloudwatch enable-alarm-actions --alarm-names ${stackName}-Lag1A2B3C4D-XYZ`,
      `warning: not of this stack: Old-XYZ\naws cloudwatch delete-alarms --alarm-names ${stackName}-Old-XYZ`,
    ]);
  });

  test('an alarm whose metric has no value in spite of deliveries', async () => {
    answerDeliveries({});
    expect(await runCheck('data of alarms')).toEqual(['skipped: no traffic to compare with']);
    answerDeliveries({ 'shop.updated': hoursAgo(2) });
    stubbed.answer('monitoring GetMetricData', { MetricDataResults: [{ Id: 'm0', Values: [3] }] });
    expect(await runCheck('data of alarms')).toEqual([
      expect.stringMatching(/^failure: no value in a day with deliveries: \w+(, \w+)+$/),
    ]);
  });
});

describe('queues', () => {
  const send = (QueueUrl: string | undefined) =>
    stubbed.stage.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' }));
  const answerAge = (hours: number) =>
    stubbed.answer('monitoring GetMetricStatistics', {
      Datapoints: [{ Timestamp: Date.now() / 1000, Maximum: hours * 3_600 }],
    });

  test('messages that nothing consumes, how old they are, and how long they are left', async () => {
    expect(await runCheck('set aside')).toEqual(['ok: no dead letters, nothing quarantined or unrouted']);
    const { ShopUpdatedDeadLetterQueueUrl, UnroutedQueueUrl } = stubbed.aws.outputs;
    for (const url of [ShopUpdatedDeadLetterQueueUrl, UnroutedQueueUrl]) await send(url);
    answerAge(48);
    expect(await runCheck('set aside')).toEqual([
      expect.stringMatching(
        /^failure: dead letters of shop.updated: 1 message, the oldest for 2 d, deleted in (12 d|11 d 23 h)\nnpx hookctl dlq show shop.updated --stage test$/,
      ),
      expect.stringMatching(
        /^failure: unrouted: 1 message, the oldest for 2 d, deleted in (12 d|11 d 23 h)\nnpx hookctl dlq show unrouted --stage test$/,
      ),
    ]);
  });

  test('an event whose messages wait too long, unless it is paused', async () => {
    await send(stubbed.aws.outputs.GirlCreatedQueueUrl);
    answerAge(1);
    const queue = stubbed.aws.outputs.GirlCreatedQueueUrl?.split('/').at(-1);
    const EventSourceMappings = [
      ...stubbed.stage.events.map((event) => ({
        EventSourceArn: `arn:aws:sqs:us-east-1:000000000000:${stubbed.stage.event(event).queueUrl.split('/').at(-1)}`,
        State: 'Enabled',
      })),
    ];
    stubbed.answer('event-source-mappings', { EventSourceMappings });
    const text = /^\w+: girl.created: 1 message, the oldest for 1 h, deleted in 6 d 2[23] h$/;
    const [late = ''] = await runCheck('event queues');
    expect(late).toMatch(text);
    expect(late).toMatch(/^failure/);
    stubbed.answer('event-source-mappings', {
      EventSourceMappings: EventSourceMappings.map((source) =>
        source.EventSourceArn.endsWith(`:${queue}`) ? { ...source, State: 'Disabled' } : source,
      ),
    });
    const [waiting = ''] = await runCheck('event queues');
    expect(waiting).toMatch(text);
    expect(waiting).toMatch(/^ok/);
  });

  test('the queue of a removed event', async () => {
    expect(await runCheck('removed events')).toEqual(['ok: no queue left']);
    const QueueName = `${stubbed.stage.stackName}-ShopClosedQueue`;
    const { QueueUrl } = await stubbed.stage.sqs.send(new CreateQueueCommand({ QueueName }));
    expect(await runCheck('removed events')).toEqual(['ok: 1 queue left, without messages']);
    await send(QueueUrl);
    expect(await runCheck('removed events')).toEqual([
      'warning: ShopClosedQueue: 1 message, age unknown\nnpx hookctl dlq export ShopClosedQueue --stage test',
    ]);
  });
});

describe('receiving', () => {
  test('the last delivery of each event', async () => {
    answerDeliveries({});
    expect(await runCheck('last deliveries')).toEqual(['warning: none accepted in 7 days']);
    answerDeliveries({ 'shop.updated': hoursAgo(3), 'user.updated': hoursAgo(1) });
    expect(await runCheck('last deliveries')).toEqual([
      'ok: shop.updated 3 h ago; user.updated 1 h ago; none of girl.schedule_changed, girl.created, girl.deleted, review.posted (in 7 days)',
    ]);
  });

  test('refused deliveries by reason', async () => {
    const rejected = { message: 'Rejected', reason: 'wrong-signature', sourceIp: '192.0.2.1' };
    const other = (last: number) => ({ ...rejected, sourceIp: `198.51.100.${last}` });
    answerLog([{ message: 'Unusable' }, rejected, rejected]);
    expect(await runCheck('refused, last hour')).toEqual([
      'warning: 2 × wrong-signature from 192.0.2.1, 1 × Unusable',
    ]);
    answerLog([rejected, rejected, ...[1, 2, 3, 4, 5, 6].map(other)]);
    expect((await runCheck('refused, last hour'))[0]).toMatch(/192.0.2.1, .*198.51.100.4, 2 × other$/);
  });

  test('timestamps that are too far ahead, by event', async () => {
    const answer = (values: Readonly<Record<string, number[]>>) =>
      stubbed.answer('monitoring GetMetricData', {
        MetricDataResults: Object.entries(values).map(([Label, Values]) => ({ Label, Values })),
      });
    answer({ 'girl.created': [], 'shop.updated': [] });
    expect(await runCheck('clock ahead')).toEqual(['ok: no timestamp in 7 days']);
    answer({ 'girl.created': [2, 3], 'shop.updated': [], 'user.updated': [1] });
    expect(await runCheck('clock ahead')).toEqual(['warning: girl.created 5, user.updated 1 (in 7 days)']);
  });

  test('a throttle above the account’s quota', async () => {
    const answer = (Value: number) =>
      stubbed.answer('servicequotas ListServiceQuotas', { Quotas: [{ QuotaName: 'Throttle rate', Value }] });
    answer(10_000);
    expect(await runCheck('API throttle')).toEqual([
      'ok: 10000 requests a second; the account’s quota is 10000',
    ]);
    answer(2_500);
    expect(await runCheck('API throttle')).toEqual([
      'warning: 10000 requests a second; the account’s quota is 2500',
    ]);
  });

  test.each([
    [
      'a large account',
      1_000,
      undefined,
      'ok: 1000 in the account, 1000 unreserved, 0 reserved for the receiver; consumers use up to 20',
    ],
    [
      'a new account',
      10,
      5,
      'warning: 10 in the account, 10 unreserved, 5 reserved for the receiver; consumers use up to 20',
    ],
    [
      'as much as the consumers use',
      20,
      undefined,
      'warning: 20 in the account, 20 unreserved, 0 reserved for the receiver; consumers use up to 20',
    ],
    [
      'as much, but reserved for the receiver',
      20,
      5,
      'ok: 20 in the account, 20 unreserved, 5 reserved for the receiver; consumers use up to 20',
    ],
  ])('concurrency of %s', async (_, all, ReservedConcurrentExecutions, line) => {
    stubbed.answer('lambda GET /2016-08-19/account-settings', {
      AccountLimit: { ConcurrentExecutions: all, UnreservedConcurrentExecutions: all },
    });
    const Environment = { Variables: { SECRET_GRACE_SECONDS: '1' } };
    answerResources(stubbed, {
      Receiver: ['AWS::Lambda::Function', 'r', { Environment, ReservedConcurrentExecutions }],
      // A consumer's reservation does not help the receiver.
      Consumer: ['AWS::Lambda::Function', 'c', { ReservedConcurrentExecutions: 50 }],
      Source: ['AWS::Lambda::EventSourceMapping', 's', { ScalingConfig: { MaximumConcurrency: 20 } }],
    });
    expect(await runCheck('concurrency')).toEqual([line]);
  });
});

describe('the archive', () => {
  test('a lifecycle that somebody changed', async () => {
    expect(await runCheck('archive retention')).toEqual(['ok: 30 days']);
    const rule = {
      ID: 'x',
      Status: 'Enabled',
      Filter: { Prefix: 'event=' },
      Expiration: { Days: 400 },
    } as const;
    await stubbed.stage.s3.send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket: stubbed.stage.archiveBucket,
        LifecycleConfiguration: { Rules: [rule] },
      }),
    );
    expect(await runCheck('archive retention')).toEqual(['failure: 400 days instead of 30 days']);
  });

  test('a stage without an archive', async () => {
    const whole = stubbed.stage;
    const { ArchiveBucket: _, ...outputs } = whole.outputs;
    Object.assign(stubbed, { stage: whole.with({ outputs }) });
    expect(await runCheck('archive retention')).toEqual(['skipped: no archive (archive.days is 0)']);
    Object.assign(stubbed, { stage: whole });
  });
});

describe('keys and gateway', () => {
  test('a disabled key, and one that will be deleted', async () => {
    answerResources(stubbed, { Key: ['AWS::KMS::Key', 'key-1'] });
    const answer = (KeyState: string, DeletionDate?: number) =>
      stubbed.answer('kms DescribeKey', {
        KeyMetadata: { KeyId: 'key-1', KeyState, DeletionDate, Description: 'Topics' },
      });
    answer('Enabled');
    expect(await runCheck('keys')).toEqual(['ok: Enabled: key-1 (Topics)']);
    answer('Disabled');
    expect(await runCheck('keys')).toEqual([
      'failure: Disabled: key-1 (Topics)\naws kms enable-key --key-id key-1',
    ]);
    answer('PendingDeletion', Date.UTC(2026, 0, 31) / 1000);
    expect(await runCheck('keys')).toEqual([
      'failure: PendingDeletion: key-1 (Topics), deleted on 2026-01-31T00:00:00.000Z\naws kms cancel-key-deletion --key-id key-1 && aws kms enable-key --key-id key-1',
    ]);
  });

  test('a key of the alarm topic that CloudWatch may not use', async () => {
    answerResources(stubbed, {});
    const attributes =
      '<Attributes><entry><key>KmsMasterKeyId</key><value>key-2</value></entry></Attributes>';
    stubbed.answer('sns GetTopicAttributes', xml('GetTopicAttributes', attributes));
    stubbed.answer('kms DescribeKey', {
      KeyMetadata: { KeyId: 'key-2', KeyState: 'Enabled', Description: 'x' },
    });
    const seen = 'Enabled: key-2, of the alarm topic (x)';
    stubbed.answer('kms GetKeyPolicy', { Policy: '{"Service":"cloudwatch.amazonaws.com"}' });
    expect(await runCheck('keys')).toEqual([`ok: ${seen}`]);
    stubbed.answer('kms GetKeyPolicy', { Policy: '{}' });
    expect(await runCheck('keys')).toEqual([
      `failure: ${seen}: its policy does not allow cloudwatch.amazonaws.com\naws kms get-key-policy --key-id key-2 --output text`,
    ]);
  });

  const arn = 'arn:aws:acm:eu-central-1:111122223333:certificate/1';
  const domain = (more: object = {}) =>
    answerResources(stubbed, {
      Domain: [
        'AWS::ApiGatewayV2::DomainName',
        'w.example.com',
        { DomainName: 'w.example.com', DomainNameConfigurations: [{ CertificateArn: arn }], ...more },
      ],
    });

  test('a trust store that is not the newest version, or has warnings', async () => {
    domain({ MutualTlsAuthentication: {} });
    const { stage, aws } = stubbed;
    const TruststoreUri = `s3://${aws.outputs.PayloadBucket}/partner.pem`;
    await stage.s3.send(
      new PutObjectCommand({ Bucket: stage.payloadBucket, Key: 'partner.pem', Body: 'pem' }),
    );
    const answer = (mutualTlsAuthentication: object) =>
      stubbed.answer('apigateway GET /v2/domainnames/w.example.com', { mutualTlsAuthentication });
    answer({ truststoreUri: TruststoreUri, truststoreVersion: 'older' });
    expect(await runCheck('trust store')).toEqual([
      expect.stringMatching(/^warning: version older is used, but /),
    ]);
    answer({ truststoreUri: TruststoreUri, truststoreWarnings: ['A certificate has expired'] });
    expect(await runCheck('trust store')).toEqual(['warning: A certificate has expired']);
  });

  test('an account without the role that writes a REST API’s log', async () => {
    answerResources(stubbed, { Api: ['AWS::ApiGateway::RestApi', 'a'] });
    stubbed.answer('apigateway GET /account', {});
    expect(await runCheck('REST access log')).toEqual(['failure: the account has no role for it']);
    stubbed.answer('apigateway GET /account', { cloudwatchRoleArn: 'arn:aws:iam::1:role/ApiGatewayLogs' });
    expect(await runCheck('REST access log')).toEqual(['ok: the account has a role for it']);
  });
});

describe('the command', () => {
  async function run(stage = stubbed.stage, options = { json: false }) {
    const said: string[] = [];
    const ended = await doctor(
      {
        stack: stage,
        signal: new AbortController().signal,
        printLine: (line) => said.push(stripVTControlCharacters(line)),
        width: Number.POSITIVE_INFINITY,
        progress: { show: () => {}, end: () => {} },
      },
      options,
    );
    return { ended, text: said.join('\n') };
  }

  /** The local stack: what it does not offer is skipped. */
  const localStage = () => stubbed.stage.with({ local: true, commandSuffix: '' });

  test('prints a line for each check under its heading, and below a failure why it matters and what fixes it', async () => {
    const { ended, text } = await run(localStage());
    expect(ended).toBe(false);
    expect(text).toMatch(/^stage test \(PartnerWebhooks-\w+\), 20/);
    expect(text).toContain('\n\nQueues\n  failure  set aside ');
    expect(text).toMatch(
      /\n {31}These events were not processed\. They wait for a redrive\.\n {31}npx hookctl dlq show shop\.updated\n/,
    );
    expect(text).toMatch(/\n {2}skipped {2}API throttle {8}not on the local stack\n/);
    expect(text).toMatch(/\n\n\d+ failed, \d+ with a warning, \d+ ok, \d+ skipped, in \d+ s\.$/);
  });

  test('the local stack is restored by a restart, and its AWS commands need settings', async () => {
    const source = (queue: string) =>
      [
        'AWS::Lambda::EventSourceMapping',
        queue,
        { EventSourceArn: { 'Fn::GetAtt': [queue, 'Arn'] } },
      ] as const;
    answerResources(stubbed, {
      Key: ['AWS::KMS::Key', 'key-1'],
      Shops: ['AWS::SQS::Queue', 'http://localhost/1/shops'],
      Users: ['AWS::SQS::Queue', 'http://localhost/1/users'],
      ShopSource: source('Shops'),
      UserSource: source('Users'),
    });
    stubbed.answer('lambda GET /2015-03-31/event-source-mappings', { EventSourceMappings: [] });
    stubbed.answer('kms DescribeKey', { KeyMetadata: { KeyId: 'key-1', KeyState: 'Disabled' } });
    const { text } = await run(localStage());
    // The advice stands once, below the last line that it is for.
    expect(text).toMatch(
      / shops has no event source\n.* users has no event source\n +Events wait .*\n +npm start\n/,
    );
    expect(text).toMatch(/ aws kms enable-key --key-id key-1\n/);
    expect(text).toContain('\n\nThe aws commands need the settings of docs/shell.md, "The local stack".\n');
  });

  test('prints the same as JSON', async () => {
    const { text } = await run(localStage(), { json: true });
    const { checks } = JSON.parse(text);
    expect(checks).toContainEqual({
      group: 'Queues',
      name: 'set aside',
      state: 'failure',
      seen: 'dead letters of shop.updated: 1 message, age unknown',
      why: 'These events were not processed. They wait for a redrive.',
      fix: 'npx hookctl dlq show shop.updated',
    });
  });

  test('names a missing permission, and does not fail because of it', async () => {
    const error = {
      status: 400,
      code: 'AccessDeniedException',
      message: 'User: arn:aws:iam::1:user/mia is not authorized to perform: kms:DescribeKey on resource: x',
    };
    answerResources(stubbed, { Key: ['AWS::KMS::Key', 'key-1'] });
    stubbed.answer('kms DescribeKey', error);
    const { text } = await run(localStage());
    expect(text).toMatch(/\n {2}warning {2}keys +not checked: the permission kms:DescribeKey is missing\n/);
  });

  test('calls nothing but what its policy allows', async () => {
    const statements = [{ Effect: 'Allow' as const, Action: DOCTOR_ACTIONS, Resource: '*' }];
    stubbed.aws.addPrincipals([{ name: 'Doctor', accessKeyId: 'doctor', statements }]);
    const { env } = process;
    const access = {
      AWS_ENDPOINT_URL: 'http://localhost',
      AWS_ACCESS_KEY_ID: 'doctor',
      AWS_SECRET_ACCESS_KEY: 'x',
    };
    process.env = { ...env, ...access };
    const restricted = new Stage('stage test', stubbed.stage.outputs);
    const { text } = await run(restricted);
    restricted.close();
    process.env = env;
    expect(text).toMatch(/ {2}ok {7}all alarms/);
    expect(text).not.toContain('the permission');
  });
});
