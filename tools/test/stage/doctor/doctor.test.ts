import { stripVTControlCharacters } from 'node:util';
import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { KMSClient } from '@aws-sdk/client-kms';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { WebhookSecrets } from '../../../../lambda/receiver/webhook-secrets.ts';
import { testAssembly } from '../../../../test/support/test-assembly.ts';
import { startTestAws, type TestAws } from '../../../../test/support/test-aws.ts';
import { CHECKS, DOCTOR_ACTIONS, doctor } from '../../../stage/doctor/doctor.ts';
import { Inspection } from '../../../stage/doctor/inspection.ts';
import { setSecret } from '../../../stage/secret-versions.ts';
import { Stage } from '../../../stage/stage.ts';
import { Project } from '../../commands/project.ts';
import { Operator, refusalOf, replied } from '../queues/support.ts';

let aws: TestAws;
/** Not local: its commands call everything that a deployed stage has. */
let stage: Stage;

/** Answers by the name of the command. Without one, the command reaches the local endpoint. */
const answers = new Map<string, object>();

/**
 * Answers a command, until the next test.
 * @param given the answer, or a function of the command's input
 */
// biome-ignore lint/suspicious/noExplicitAny: any command's input.
const answer = (command: string, given: object | ((input: any) => object)) => answers.set(command, given);

const errorOf = (name: string, message: string) => () => {
  throw Object.assign(new Error(message), { name, $metadata: {} });
};

beforeAll(async () => {
  aws = await startTestAws();
  stage = new Stage('stage test', aws.outputs, ' --stage test').with({ local: false });
  const { lambda, cloudwatch, logs, secrets } = stage;
  const [cloudformation, sns] = [stage.client(CloudFormationClient), stage.client(SNSClient)];
  const [kms, apigateway] = [stage.client(KMSClient), stage.client(APIGatewayClient)];
  for (const client of [lambda, cloudwatch, logs, secrets, cloudformation, sns, kms, apigateway]) {
    replied(client, (command, input) => {
      const given = answers.get(command);
      return typeof given === 'function' ? given(input) : given;
    });
  }
});
beforeEach(() => {
  answers.clear();
});
afterAll(async () => {
  stage.close();
  await aws.close();
});

const HOUR = 60 * 60 * 1000;

/** Runs one check. @returns its lines, `state: seen`, and what fixes it */
async function runCheck(name: string, of = stage): Promise<string[]> {
  const check = Object.values(CHECKS)
    .flat()
    .find((one) => one.name === name);
  if (check === undefined) throw new Error(`No check ${name}`);
  const inspection = new Inspection(of, AbortSignal.timeout(10_000));
  // The code of the synthesis that is deployed here.
  Object.assign(inspection, { code: async () => readCloudAssembly(testAssembly()).template });
  const results = [await check.run(inspection)].flat();
  return results.map(({ state, seen, fix }) => [`${state}: ${seen}`, fix].filter(Boolean).join('\n'));
}

const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR);

/** Describes a deployed stack with these resources only. */
function resources(
  given: Readonly<Record<string, readonly [type: string, physicalId: string, properties?: object]>>,
): void {
  const all = Object.entries(given);
  const Resources = Object.fromEntries(all.map(([id, [Type, , Properties]]) => [id, { Type, Properties }]));
  answer('GetTemplateCommand', { TemplateBody: JSON.stringify({ Resources }) });
  answer('ListStackResourcesCommand', {
    StackResourceSummaries: all.map(([LogicalResourceId, [ResourceType, PhysicalResourceId]]) => {
      return { LogicalResourceId, ResourceType, PhysicalResourceId };
    }),
  });
}

/** Answers a query of the receiver's log: when each event was last accepted. */
function answerDeliveries(last: Readonly<Record<string, Date>>): void {
  const results = Object.entries(last).map(([event, at]) => [
    { field: '@timestamp', value: at.toISOString().replace('T', ' ').replace('Z', '') },
    { field: 'event', value: event },
  ]);
  answer('StartQueryCommand', { queryId: '1' });
  answer('GetQueryResultsCommand', { status: 'Complete', results });
}

const answerStack = (StackStatus: string) =>
  answer('DescribeStacksCommand', { Stacks: [{ StackStatus, LastUpdatedTime: hoursAgo(2) }] });

function answerAlias(FunctionVersion: string, shareOfNewest?: number): void {
  resources({
    Old: ['AWS::Lambda::Version', 'arn:aws:lambda:r:1:function:f:7', { FunctionName: { Ref: 'F' } }],
    Alias: ['AWS::Lambda::Alias', 'arn:aws:lambda:r:1:function:f:live', { FunctionName: { Ref: 'F' } }],
  });
  const RoutingConfig = shareOfNewest && { AdditionalVersionWeights: { 7: shareOfNewest } };
  answer('GetAliasCommand', { FunctionVersion, RoutingConfig });
}

const MOVE =
  'aws lambda update-alias --function-name f --name live --function-version 7 --routing-config AdditionalVersionWeights={}';

/** The states of the events' sources, in the order of the events. */
function answerSources(...states: readonly string[]): void {
  const queues = stage.events.map((event) => stage.ofEvent(event, 'QueueUrl').split('/').at(-1));
  answer('ListEventSourceMappingsCommand', ({ EventSourceArn }) => {
    const index = queues.indexOf(EventSourceArn.split(':').at(-1));
    return { EventSourceMappings: [{ UUID: String(index), State: states[index] ?? 'Enabled' }] };
  });
}

const setAlarm = (AlarmName: string, StateValue: 'ALARM' | 'OK', StateReason = 'test') =>
  stage.cloudwatch.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason }));

const subscription = (Endpoint: string, SubscriptionArn: string) => ({ Endpoint, SubscriptionArn });

const answerSubscriptions = (...Subscriptions: readonly object[]) =>
  answer('ListSubscriptionsByTopicCommand', { Subscriptions });

const A_CONFIRMED = subscription('a@x.de', 'arn:aws:sns:r:1:t:a');
const B_PENDING = subscription('b@x.de', 'PendingConfirmation');
const C_DELETED = subscription('c@x.de', 'Deleted');

function answerMails(topic: 'Alarms' | 'Reviews', Endpoint: string, known: object, isByToken = false): void {
  const properties = { Protocol: 'email', Endpoint, TopicArn: { Ref: topic } };
  resources({
    Alarms: ['AWS::SNS::Topic', stage.output('AlarmTopicArn')],
    Reviews: ['AWS::SNS::Topic', stage.output('ReviewTopicArn')],
    Mails: ['AWS::SNS::Subscription', 'x', properties],
  });
  answerSubscriptions(known);
  const Attributes = { ConfirmationWasAuthenticated: String(isByToken) };
  answer('GetSubscriptionAttributesCommand', { Attributes });
}

function answerChat(...known: readonly object[]): void {
  resources({ Slack: ['AWS::Chatbot::SlackChannelConfiguration', 'x'] });
  answerSubscriptions(...known);
}

const answerClocks = (values: Readonly<Record<string, number[]>>) =>
  answer('GetMetricDataCommand', {
    MetricDataResults: Object.entries(values).map(([Label, Values]) => ({ Label, Values })),
  });

function answerConcurrency(all: number, ReservedConcurrentExecutions?: number, free = all): void {
  answer('GetAccountSettingsCommand', {
    AccountLimit: { ConcurrentExecutions: all, UnreservedConcurrentExecutions: free },
  });
  const Environment = { Variables: { QUARANTINE_QUEUE_URL: 'https://…' } };
  resources({
    Receiver: ['AWS::Lambda::Function', 'r', { Environment, ReservedConcurrentExecutions }],
    // A consumer's reservation does not help the receiver.
    Consumer: ['AWS::Lambda::Function', 'c', { ReservedConcurrentExecutions: 50 }],
    Source: ['AWS::Lambda::EventSourceMapping', 's', { ScalingConfig: { MaximumConcurrency: 20 } }],
  });
}

function answerKey(KeyState: string, DeletionDate?: Date): void {
  resources({ Key: ['AWS::KMS::Key', 'key-1'] });
  answer('DescribeKeyCommand', { KeyMetadata: { KeyState, DeletionDate, Description: 'Topics' } });
}

function answerTopicKey(Policy: string): void {
  resources({});
  answer('GetTopicAttributesCommand', { Attributes: { KmsMasterKeyId: 'key-2' } });
  answer('DescribeKeyCommand', { KeyMetadata: { KeyState: 'Enabled', Description: 'x' } });
  answer('GetKeyPolicyCommand', { Policy });
}

function answerAccount(account: object): void {
  resources({ Api: ['AWS::ApiGateway::RestApi', 'a'] });
  answer('GetAccountCommand', account);
}

const AMAZON_Q = 'https://global.sns-api.chatbot.amazonaws.com';

const nothing = () => {};

/** @returns what restores the state */
async function pausedAndOff() {
  answerSources('Enabled', 'Enabled', 'Disabled');
  const alarm = stage.ofEvent('girl.schedule_changed', 'PausedAlarm');
  await setAlarm(alarm, 'ALARM', 'Paused by arn:aws:iam::1:user/mia: the table is restored');
  return () => setAlarm(alarm, 'OK');
}

async function unroutedAlarm() {
  const names = Object.keys(readCloudAssembly(testAssembly()).template.Resources);
  const alarm = `${stage.stackName}-${names.find((name) => name.startsWith('UnroutedNotEmpty'))}`;
  await setAlarm(alarm, 'ALARM');
  return () => setAlarm(alarm, 'OK');
}

const deletedSecret = () =>
  answer('GetSecretValueCommand', errorOf('InvalidRequestException', 'marked for deletion'));

type Expected = string | RegExp;

/** What each check finds, after something was arranged: exact lines, or patterns of them. */
const CASES: Readonly<Record<string, readonly (readonly [() => unknown, ...Expected[]])[]>> = {
  stack: [
    [() => answerStack('UPDATE_COMPLETE'), 'ok: UPDATE_COMPLETE, 2 h ago'],
    [() => answerStack('UPDATE_IN_PROGRESS'), 'warning: UPDATE_IN_PROGRESS, 2 h ago'],
    [() => answerStack('UPDATE_ROLLBACK_FAILED'), 'failure: UPDATE_ROLLBACK_FAILED, 2 h ago'],
  ],
  'this code': [
    [nothing, 'ok: deployed as it is in this folder'],
    [() => resources({ X: ['AWS::SNS::Topic', 'x'] }), /^warning: \d+ resources differ: .*SNS::Topic/],
  ],
  functions: [
    [() => answerAlias('7'), 'ok: all 1 on their newest version'],
    [() => answerAlias('6'), `warning: f runs version 6; 7 was deployed\n${MOVE}`],
    [() => answerAlias('6', 0.1), `warning: f runs version 6, and 10 % version 7; 7 was deployed\n${MOVE}`],
  ],
  pauses: [
    [() => answerSources(), 'ok: all events are processed'],
    [
      pausedAndOff,
      /^warning: girl.schedule_changed paused .+ ago by mia: the table is restored. But it is on\n/,
      /^failure: girl.created is off.*\nnpx hookctl resume girl.created --stage test$/,
    ],
  ],
  'current version': [
    [nothing, /^ok: readable, stored .+ ago$/],
    [
      deletedSecret,
      /^failure: deleted, or without a value\naws secretsmanager restore-secret --secret-id \S+$/,
    ],
  ],
  'previous version': [[nothing, 'skipped: never rotated']],
  'alarm mails': [
    [nothing, 'warning: no address in alarmEmails; 0 other subscriptions'],
    [() => answerMails('Alarms', 'a@x.de', A_CONFIRMED, true), 'ok: a@x.de is confirmed'],
    [
      () => answerMails('Alarms', 'a@x.de', A_CONFIRMED, false),
      /^warning: a@x.de is confirmed, but a link in each/,
    ],
    [
      () => answerMails('Alarms', 'b@x.de', B_PENDING),
      /^failure: b@x.de has not confirmed\naws sns subscribe .* b@x.de$/,
    ],
    [
      () => answerMails('Alarms', 'c@x.de', C_DELETED),
      /^failure: c@x.de is not subscribed\naws sns subscribe .* c@x.de$/,
    ],
    // An address of reviews is none of alarms.
    [
      () => answerMails('Reviews', 'b@x.de', B_PENDING),
      'ok: no address in alarmEmails; 1 other subscription',
    ],
  ],
  'review mails': [
    [nothing, 'warning: no address in reviewEmails; 0 other subscriptions'],
    [() => answerMails('Reviews', 'b@x.de', B_PENDING), /^failure: b@x.de has not confirmed\n.*Review/],
  ],
  chat: [
    [() => answerChat(), 'failure: not subscribed'],
    [() => answerChat(subscription(AMAZON_Q, 'arn:aws:sns:r:1:t:a')), 'ok: 1 channel, subscribed'],
  ],
  'in ALARM': [
    [nothing, /^ok: none of \d+$/],
    [unroutedAlarm, /^failure: UnroutedNotEmpty, .+ ago\nnpx hookctl dlq show unrouted --stage \w+$/],
  ],
  'last deliveries': [
    [() => answerDeliveries({}), 'warning: none accepted in 7 days'],
    [
      () => answerDeliveries({ 'shop.updated': hoursAgo(3), 'user.updated': hoursAgo(1) }),
      'ok: shop.updated 3 h ago; user.updated 1 h ago; none of girl.schedule_changed, girl.created, girl.deleted, review.posted (in 7 days)',
    ],
  ],
  'clock ahead': [
    [() => answerClocks({ 'girl.created': [] }), 'ok: no timestamp in 7 days'],
    [
      () => answerClocks({ 'girl.created': [2, 3], 'user.updated': [1] }),
      'warning: girl.created 5, user.updated 1 (in 7 days)',
    ],
  ],
  concurrency: [
    [
      () => answerConcurrency(1_000),
      /^ok: 1000 in the account, 1000 unreserved, 0 reserved .*; consumers use up to 20$/,
    ],
    [
      () => answerConcurrency(10, 5),
      /^warning: 10 in the account, 10 unreserved, 5 reserved for the receiver.*\n.* --desired-value 1000$/,
    ],
    [() => answerConcurrency(1_000, undefined, 15), /^warning: .* up to 20\n.* --desired-value 1006$/],
    [() => answerConcurrency(20, 5), /^ok: 20 in the account/],
  ],
  keys: [
    [() => answerKey('Enabled'), 'ok: Enabled: key-1 (Topics)'],
    [() => answerKey('Disabled'), 'failure: Disabled: key-1 (Topics)\naws kms enable-key --key-id key-1'],
    [
      () => answerKey('PendingDeletion', new Date('2026-01-31')),
      'failure: PendingDeletion: key-1 (Topics), deleted on 2026-01-31T00:00:00.000Z\naws kms cancel-key-deletion --key-id key-1 && aws kms enable-key --key-id key-1',
    ],
    [
      () => answerTopicKey('{"Service":"cloudwatch.amazonaws.com"}'),
      'ok: Enabled: key-2, of the alarm topic (x)',
    ],
    [
      () => answerTopicKey('{}'),
      /^failure: Enabled: key-2, .*not allow cloudwatch.amazonaws.com\naws kms get-key-policy /,
    ],
  ],
  'REST access log': [
    [() => answerAccount({}), 'failure: the account has no role for it'],
    [
      () => answerAccount({ cloudwatchRoleArn: 'arn:aws:iam::1:role/Logs' }),
      'ok: the account has a role for it',
    ],
  ],
};

describe.each(Object.entries(CASES))('%s', (check, cases) => {
  test.each(
    cases.map(([arrange, ...expected]) => ({ arrange, expected, line: String(expected[0]).split('\n')[0] })),
  )('$line', async ({ arrange, expected }) => {
    const restore = await arrange();
    const lines = await runCheck(check);
    if (typeof restore === 'function') await restore();
    expect(lines).toEqual(expected.map((one) => (one instanceof RegExp ? expect.stringMatching(one) : one)));
  });
});

test('an output is missing', async () => {
  const { ReceiverLogGroup: _, ...outputs } = stage.outputs;
  expect(await runCheck('this code', stage.with({ outputs }))).toEqual([
    'failure: outputs missing: ReceiverLogGroup',
  ]);
});

describe('advice is true when it is followed:', () => {
  let project: Project;
  let operator: Operator;
  beforeAll(async () => {
    project = await Project.create();
    operator = await Operator.create(aws);
  });
  afterAll(async () => {
    await operator.close();
    await project.remove();
  });

  /** Runs the command that the check prints below a line. @returns what it prints */
  async function follow(lines: readonly string[], wanted: RegExp): Promise<string> {
    const line = lines.find((one) => wanted.test(one));
    expect(line).toMatch(/\nnpx hookctl /);
    const words = line?.trim().split('\nnpx hookctl ').at(-1)?.split(' ') ?? [];
    // An export writes to the standard output of its process.
    const { code, stdout, stderr } = await project[words.includes('export') ? 'run' : 'type'](words);
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    return stdout;
  }

  const put = (SecretString: string) =>
    operator.stack.secrets.send(
      new PutSecretValueCommand({ SecretId: operator.stack.output('WebhookSecretArn'), SecretString }),
    );

  /** The versions that a receiver accepts now. */
  const accepted = () =>
    new WebhookSecrets({
      client: operator.stack.secrets,
      secretId: operator.stack.output('WebhookSecretArn'),
    }).accepted({ unreadable() {}, stale() {}, doubt() {} });

  const set = async (text: string, isForced = false) => {
    const operation = operator.operation();
    await setSecret(operation, text, isForced);
    return operation.said.join('\n');
  };

  test.each([
    ['blank', ' ', /^failure: blank/, /^warning: not accepted, because the current version is unusable, /],
    ['with a line feed', 'right\n', /^warning: readable, .*white space/, /^ok: accepted until /],
  ])('a secret that is %s does not lock the partner out', async (_, mistake, current, previous) => {
    await put('old');
    await put(mistake);
    expect(await runCheck('previous version', operator.stack)).toEqual([expect.stringMatching(previous)]);
    expect(await refusalOf(set('right'))).toMatch(
      /previous one would be lost. First .*secret back --outputs/,
    );
    const said = await follow(await runCheck('current version', operator.stack), current);
    expect(said).toContain('The previous secret is the current one in ');
    expect((await accepted())[0]).toBe('old');
    expect((await runCheck('current version', operator.stack))[0]).toMatch(/^ok/);
    expect(await set('right\n')).toMatch(/is accepted until \S+, for (1 d|23 h 59 min), /);
    expect(await accepted()).toEqual(['right', 'old']);
    const { stdout } = await project.type(['secret', '--outputs', operator.outputsFile]);
    expect(stdout).toMatch(/^ {2}current +readable, stored .+ ago\n {2}previous +accepted until \S+, for /m);
    expect(stdout).not.toMatch(/right|old\b/);
  });

  test.each([
    ['right', /^Nothing was stored: this is the current secret already$/],
    [' new', /white space.* To store it in spite of this, add --anyway$/],
    ["'new'", /looks like quoted text/],
    ['{"SECRET":"new"}', /^Nothing was stored: it is empty, white space, or JSON without WEBHOOK_SECRET$/],
    ['new', /^Nothing was stored. The previous secret is accepted until \S+, and would be lost/],
  ])('secret set refuses %j', async (text, reason) => {
    await put('old');
    await put('right');
    expect(await refusalOf(set(text))).toMatch(reason);
    expect(await accepted()).toEqual(['right', 'old']);
  });

  test('two people who store a secret at once do not lock the partner out', async () => {
    await put('older');
    await put('of the partner');
    const others = ['of somebody else'];
    const secrets = replied(new SecretsManagerClient(aws.operator), async (name) => {
      const other = name === 'PutSecretValueCommand' ? others.pop() : undefined;
      if (other !== undefined) await put(other);
    });
    const operation = { ...operator.operation(), stack: operator.stack.with({ secrets }) };
    expect(await refusalOf(setSecret(operation, 'mine', true))).toMatch(
      /^Somebody else stored a secret at the same time\. The one from before is current again/,
    );
    expect(await accepted()).toEqual(['of the partner', 'mine']);
    secrets.destroy();
  });

  test('a secret without a usable version is replaced by what is piped', async () => {
    for (const unusable of [' ', '\t']) await put(unusable);
    const [line = ''] = await runCheck('current version', operator.stack);
    const [, command = ''] =
      /\nopenssl rand -hex 32 \| (npx hookctl secret set --outputs \S+)$/.exec(line) ?? [];
    const { code, stderr } = await project.spawn(['bash', '-c', `echo piped | ${command}`]).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await accepted()).toEqual(['piped']);
  });

  test('a leaked secret is gone after it was replaced twice', async () => {
    await put('leaked');
    for (const next of ['first', '{"WEBHOOK_SECRET":"last"}']) await set(next, true);
    expect(await accepted()).toEqual(['last', 'first']);
  });
});

describe('the command', () => {
  async function run(of = stage, options = { json: false }) {
    const said: string[] = [];
    const ended = await doctor(
      {
        stack: of,
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
  const localStage = () => stage.with({ local: true, commandSuffix: '' });

  test('prints a line for each check under its heading, and below a failure why it matters and what fixes it', async () => {
    resources({ Key: ['AWS::KMS::Key', 'key-1'] });
    answerSources('Disabled', 'Disabled');
    answer('DescribeKeyCommand', { KeyMetadata: { KeyState: 'Disabled', Description: 'Topics' } });
    const { ended, text } = await run(localStage());
    expect(ended).toBe(false);
    expect(text).toMatch(/^stage test \(PartnerWebhooks-\w+\), 20/);
    expect(text).toMatch(
      /\n\nAlarms and mails\n(.*\n)* {2}failure {2}keys {14}Disabled: key-1 \(Topics\)\n {29}What it .*\n {29}aws kms enable-key --key-id key-1\n/,
    );
    expect(text).toMatch(/\n {2}skipped {2}concurrency {7}not on the local stack\n/);
    expect(text).toMatch(/\n\n\d+ failed, \d+ with a warning, \d+ ok, \d+ skipped, in .+\.$/);
    expect(text).toContain(
      '\n\nThe aws commands need the settings of docs/operations.md, "The local stack".\n',
    );
    const asJson = await run(localStage(), { json: true });
    expect(JSON.parse(asJson.text).checks).toContainEqual({
      group: 'Alarms and mails',
      name: 'keys',
      state: 'failure',
      seen: 'Disabled: key-1 (Topics)',
      why: expect.stringMatching(/^What it encrypts cannot be used/),
      fix: 'aws kms enable-key --key-id key-1',
    });
  });

  test('names a missing permission, and does not fail because of it', async () => {
    const user = 'User: arn:aws:iam::1:user/mia';
    const message = `${user} is not authorized to perform: kms:DescribeKey on resource: x`;
    resources({ Key: ['AWS::KMS::Key', 'key-1'] });
    answer('DescribeKeyCommand', errorOf('AccessDeniedException', message));
    const { text } = await run(localStage());
    expect(text).toMatch(/\n {2}warning {2}keys +not checked: the permission kms:DescribeKey is missing\n/);
  });

  test('calls nothing but what its policy allows', async () => {
    const statements = [{ Effect: 'Allow' as const, Action: DOCTOR_ACTIONS, Resource: '*' }];
    aws.addPrincipals([{ name: 'Doctor', accessKeyId: 'doctor', statements }]);
    const { env } = process;
    const access = {
      AWS_ENDPOINT_URL: 'http://localhost',
      AWS_ACCESS_KEY_ID: 'doctor',
      AWS_SECRET_ACCESS_KEY: 'x',
    };
    process.env = { ...env, ...access };
    const restricted = new Stage('stage test', stage.outputs);
    const { text } = await run(restricted);
    restricted.close();
    process.env = env;
    expect(text).toMatch(/ {2}ok {7}in ALARM/);
    expect(text).not.toContain('the permission');
  });
});
