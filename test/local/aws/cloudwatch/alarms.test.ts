import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  type DescribeAlarmsCommandInput,
  DisableAlarmActionsCommand,
  EnableAlarmActionsCommand,
  PutMetricAlarmCommand,
  SetAlarmStateCommand,
  type SetAlarmStateCommandInput,
} from '@aws-sdk/client-cloudwatch';
import { CreateTopicCommand } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { Queues } from '../../../support/queues.ts';
import { clientsOf, STACK_REGION, send, signedFor, startEndpoint } from '../support.ts';

const ALARM = 'Stack-ShopUpdatedPaused';
const ARN = `arn:aws:cloudwatch:${STACK_REGION}:000000000000:alarm:${ALARM}`;

let endpoint: AwsEndpoint;
let cloudwatch: CloudWatchClient;
let queues: Queues;
let topicArn: string;

const settingsOf = (accessKeyId: string) => ({
  endpoint: endpoint.url,
  region: STACK_REGION,
  credentials: { accessKeyId, secretAccessKey: 'any' },
});

beforeAll(async () => {
  endpoint = await startEndpoint();
  cloudwatch = new CloudWatchClient(settingsOf('operator'));
  queues = new Queues(settingsOf('operator'));
  const { TopicArn = '' } = await clientsOf(endpoint).sns.send(new CreateTopicCommand({ Name: 'alarms' }));
  topicArn = TopicArn;
});
afterAll(async () => {
  cloudwatch.destroy();
  queues.client.destroy();
  await endpoint.close();
});
beforeEach(async () => {
  for (const AlarmName of [ALARM, 'Stack-Other']) {
    endpoint.putAlarm({
      AlarmName,
      AlarmDescription: 'Impact: none.',
      AlarmActions: [topicArn],
      OKActions: [topicArn],
      MetricName: 'Paused',
      EvaluationPeriods: 1,
    });
  }
  await set({ StateValue: 'INSUFFICIENT_DATA' });
});

const set = (input: Partial<SetAlarmStateCommandInput>, client = cloudwatch) =>
  client.send(
    new SetAlarmStateCommand({ AlarmName: ALARM, StateValue: 'ALARM', StateReason: 'why', ...input }),
  );

const named = async (input: DescribeAlarmsCommandInput) => {
  const { MetricAlarms = [], NextToken } = await cloudwatch.send(new DescribeAlarmsCommand(input));
  return { names: MetricAlarms.map(({ AlarmName }) => AlarmName), NextToken };
};

test('an alarm has the state that it was set to, and why, since when', async () => {
  const before = Date.now();
  await set({ StateReason: 'Paused by somebody: why' });
  await set({ StateReason: 'Paused by somebody: another reason' });
  const { MetricAlarms } = await cloudwatch.send(new DescribeAlarmsCommand({ AlarmNames: [ALARM] }));
  expect(MetricAlarms).toEqual([
    expect.objectContaining({
      AlarmName: ALARM,
      AlarmArn: ARN,
      MetricName: 'Paused',
      ActionsEnabled: true,
      StateValue: 'ALARM',
      StateReason: 'Paused by somebody: another reason',
    }),
  ]);
  const since = MetricAlarms?.[0]?.StateTransitionedTimestamp?.getTime() ?? 0;
  expect(since).toBeGreaterThanOrEqual(before);
  expect(MetricAlarms?.[0]?.StateUpdatedTimestamp?.getTime()).toBeGreaterThanOrEqual(since);
});

test('alarms are found by name, by the beginning of one, by state, and come in pages', async () => {
  await set({});
  expect((await named({ AlarmNames: [ALARM, 'none'] })).names).toEqual([ALARM]);
  expect((await named({ AlarmNamePrefix: 'Stack-O' })).names).toEqual(['Stack-Other']);
  expect((await named({ StateValue: 'ALARM' })).names).toEqual([ALARM]);
  const first = await named({ MaxRecords: 1 });
  const second = await named({ MaxRecords: 1, NextToken: first.NextToken });
  expect([...first.names, ...second.names, second.NextToken]).toEqual([ALARM, 'Stack-Other', undefined]);
});

test('an alarm that is put again keeps its state', async () => {
  await set({ StateReason: 'Paused by somebody: why' });
  endpoint.putAlarm({ AlarmName: ALARM, AlarmDescription: 'Another.', EvaluationPeriods: 1 });
  const { MetricAlarms } = await cloudwatch.send(new DescribeAlarmsCommand({ AlarmNames: [ALARM] }));
  expect(MetricAlarms).toMatchObject([
    { AlarmDescription: 'Another.', StateValue: 'ALARM', StateReason: 'Paused by somebody: why' },
  ]);
});

test('another threshold stays where the alarm is put again, and an alarm that there is not is not made', async () => {
  const put = (AlarmName: string) =>
    cloudwatch.send(
      new PutMetricAlarmCommand({
        AlarmName,
        Threshold: 7,
        EvaluationPeriods: 1,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      }),
    );
  await put(ALARM);
  endpoint.putAlarm({ AlarmName: ALARM, Threshold: 1, EvaluationPeriods: 1 });
  const { MetricAlarms } = await cloudwatch.send(new DescribeAlarmsCommand({ AlarmNames: [ALARM] }));
  expect(MetricAlarms).toMatchObject([{ Threshold: 7, ActionsEnabled: true }]);
  await expect(put('none')).rejects.toThrow('makes none');
});

describe('the topic', () => {
  let subscribers = 0;
  /** @returns what takes the next message that the topic is told from now on */
  async function subscribe() {
    subscribers += 1;
    const url = await queues.subscribe(topicArn, `told-${subscribers}`);
    return { url, next: async () => JSON.parse((await queues.take(url)).Body ?? '') };
  }

  test('is told of a new state, with its reason', async () => {
    const { next } = await subscribe();
    await set({ StateReason: 'Paused by somebody: why' });
    expect(await next()).toMatchObject({
      AlarmName: ALARM,
      AlarmArn: ARN,
      OldStateValue: 'INSUFFICIENT_DATA',
      NewStateValue: 'ALARM',
      NewStateReason: 'Paused by somebody: why',
    });
    await set({ StateValue: 'OK' });
    expect(await next()).toMatchObject({ OldStateValue: 'ALARM', NewStateValue: 'OK' });
  });

  test('is not told of the same state again, nor while the alarm is muted', async () => {
    const { url, next } = await subscribe();
    await set({ StateReason: 'first' });
    await set({});
    await cloudwatch.send(new DisableAlarmActionsCommand({ AlarmNames: [ALARM] }));
    await set({ StateValue: 'OK', StateReason: 'muted' });
    await cloudwatch.send(new EnableAlarmActionsCommand({ AlarmNames: [ALARM] }));
    await set({ StateReason: 'last' });
    const reasons = [(await next()).NewStateReason, (await next()).NewStateReason];
    expect(reasons.sort()).toEqual(['first', 'last']);
    expect(await queues.count(url)).toBe(0);
  });
});

test.each([
  ['an alarm that is not there', { AlarmName: 'none' }, 'ResourceNotFound'],
  ['a reason of more than 1,023 characters', { StateReason: 'x'.repeat(1_024) }, 'ValidationException'],
])('%s is refused', async (_case, input, name) => {
  await expect(set(input)).rejects.toMatchObject({ name });
});

test('a state that there is not is refused, and an operation that there is not', async () => {
  const headers = { authorization: signedFor('monitoring') };
  const call = (operation: string, body: object) =>
    send(endpoint, {
      headers: { ...headers, 'x-amz-target': `GraniteServiceVersion20100801.${operation}` },
      body: JSON.stringify(body),
    });
  const state = await call('SetAlarmState', { AlarmName: ALARM, StateValue: 'RED', StateReason: '' });
  expect(state.body.toString()).toContain('StateValue must be one of OK, ALARM, INSUFFICIENT_DATA');
  const operation = await call('ListMetrics', {});
  expect(operation.body.toString()).toContain("does not offer CloudWatch's ListMetrics");
});

test('older versions of the AWS CLI are answered in their query protocol', async () => {
  const call = async (form: Record<string, string>) => {
    const body = new URLSearchParams({ Version: '2010-08-01', ...form }).toString();
    const answer = await send(endpoint, { headers: { authorization: signedFor('monitoring') }, body });
    return answer.body.toString();
  };
  const names = { 'AlarmNames.member.1': ALARM, 'AlarmNames.member.2': 'Stack-Other' };
  expect(await call({ Action: 'DisableAlarmActions', ...names })).toContain('<DisableAlarmActionsResponse');
  await call({ Action: 'SetAlarmState', AlarmName: ALARM, StateValue: 'ALARM', StateReason: 'a < b' });
  const described = await call({ Action: 'DescribeAlarms', ...names });
  expect(described).toContain(`<MetricAlarms><member><AlarmName>${ALARM}</AlarmName>`);
  expect(described).toContain('<StateReason>a &lt; b</StateReason>');
  expect(described).toMatch(/<StateUpdatedTimestamp>\d{4}-\d\d-\d\dT[\d:.]+Z</);
  expect(described.match(/<ActionsEnabled>false</g)).toHaveLength(2);
  expect(await call({ Action: 'ListMetrics' })).toContain('<Code>UnknownOperationException</Code>');
});

test('a role may set the alarms that its policies name', async () => {
  endpoint.addPrincipals([
    {
      name: 'Pauser',
      accessKeyId: 'PAUSER',
      statements: [{ Effect: 'Allow', Action: 'cloudwatch:SetAlarmState', Resource: ARN }],
    },
  ]);
  const pauser = new CloudWatchClient(settingsOf('PAUSER'));
  await set({}, pauser);
  await expect(set({ AlarmName: 'Stack-Other' }, pauser)).rejects.toMatchObject({
    name: 'AccessDenied',
    message: expect.stringContaining('cloudwatch:SetAlarmState on resource: arn:aws:cloudwatch:'),
  });
});
