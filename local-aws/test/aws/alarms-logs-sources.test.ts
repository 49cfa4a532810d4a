import { randomUUID } from 'node:crypto';
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
import {
  CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  FilterLogEventsCommand,
  type FilterLogEventsCommandInput,
  GetQueryResultsCommand,
  StartQueryCommand,
  type StartQueryCommandInput,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import {
  GetEventSourceMappingCommand,
  GetFunctionCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  type ListEventSourceMappingsCommandInput,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { CreateTopicCommand } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../aws/endpoint.ts';
import { arnOf } from '../../aws/services.ts';
import { eventually } from '../eventually.ts';
import { clientsOf, send, settingsOf, signedFor, startEndpoint, subscribe } from './support.ts';

let endpoint: AwsEndpoint;
beforeAll(async () => {
  endpoint = await startEndpoint();
});
afterAll(() => endpoint.close());

describe('an alarm', () => {
  const ALARM = 'Stack-ShopUpdatedPaused';
  const ARN = arnOf('cloudwatch', `alarm:${ALARM}`);
  let cloudwatch: CloudWatchClient;
  let topicArn = '';

  beforeAll(async () => {
    cloudwatch = new CloudWatchClient(settingsOf(endpoint));
    const topic = await clientsOf(endpoint).sns.send(new CreateTopicCommand({ Name: 'alarms' }));
    topicArn = topic.TopicArn ?? '';
  });
  beforeEach(async () => {
    for (const AlarmName of [ALARM, 'Stack-Other']) {
      endpoint.putAlarm({
        AlarmName,
        AlarmActions: [topicArn],
        OKActions: [topicArn],
        MetricName: 'Paused',
        EvaluationPeriods: 1,
      });
    }
  });
  afterAll(() => cloudwatch.destroy());

  const set = (input: Partial<SetAlarmStateCommandInput> = {}) =>
    cloudwatch.send(
      new SetAlarmStateCommand({ AlarmName: ALARM, StateValue: 'ALARM', StateReason: 'why', ...input }),
    );
  const describeAlarms = async (input: DescribeAlarmsCommandInput = { AlarmNames: [ALARM] }) =>
    (await cloudwatch.send(new DescribeAlarmsCommand(input))).MetricAlarms ?? [];

  test('has the state that it was set to, with reason and time', async () => {
    const before = Date.now();
    await set({ StateReason: 'Paused by somebody: why' });
    await set({ StateReason: 'Paused by somebody: another reason' });
    const [alarm, ...others] = await describeAlarms();
    expect(others).toEqual([]);
    expect(alarm).toMatchObject({
      AlarmName: ALARM,
      AlarmArn: ARN,
      MetricName: 'Paused',
      ActionsEnabled: true,
      StateValue: 'ALARM',
      StateReason: 'Paused by somebody: another reason',
    });
    const since = alarm?.StateTransitionedTimestamp?.getTime() ?? 0;
    expect(since).toBeGreaterThanOrEqual(before);
    expect(alarm?.StateUpdatedTimestamp?.getTime()).toBeGreaterThanOrEqual(since);
  });

  test('is found by name, prefix and state, in pages', async () => {
    await set();
    expect(await describeAlarms({ AlarmNames: [ALARM, 'none'] })).toMatchObject([{ AlarmName: ALARM }]);
    expect(await describeAlarms({ AlarmNamePrefix: 'Stack-O' })).toMatchObject([
      { AlarmName: 'Stack-Other' },
    ]);
    expect(await describeAlarms({ StateValue: 'ALARM' })).toMatchObject([{ AlarmName: ALARM }]);
    const first = await cloudwatch.send(new DescribeAlarmsCommand({ MaxRecords: 1 }));
    const next = { MaxRecords: 1, NextToken: first.NextToken };
    const second = await cloudwatch.send(new DescribeAlarmsCommand(next));
    expect(first.MetricAlarms).toMatchObject([{ AlarmName: ALARM }]);
    expect(second.MetricAlarms).toMatchObject([{ AlarmName: 'Stack-Other' }]);
    expect(second.NextToken).toBeUndefined();
  });

  test('keeps its state if its threshold is changed, and is created only by the stack', async () => {
    const put = (AlarmName: string) =>
      cloudwatch.send(
        new PutMetricAlarmCommand({
          AlarmName,
          Threshold: 7,
          EvaluationPeriods: 1,
          ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        }),
      );
    await set({ StateReason: 'Paused by somebody: why' });
    await put(ALARM);
    expect(await describeAlarms()).toMatchObject([
      {
        Threshold: 7,
        ActionsEnabled: true,
        StateValue: 'ALARM',
        StateReason: 'Paused by somebody: why',
      },
    ]);
    await expect(put('none')).rejects.toThrow('creates none');
  });

  test('notifies its topic of a new state, with the reason', async () => {
    const received = await subscribe(endpoint, topicArn, 'notified');
    await set({ StateReason: 'Paused by somebody: why' });
    await set({ StateValue: 'OK' });
    const messages = (await received()).map(({ Body = '' }) => JSON.parse(Body));
    expect(messages).toMatchObject([
      {
        AlarmName: ALARM,
        AlarmArn: ARN,
        OldStateValue: 'INSUFFICIENT_DATA',
        NewStateValue: 'ALARM',
        NewStateReason: 'Paused by somebody: why',
      },
      { OldStateValue: 'ALARM', NewStateValue: 'OK' },
    ]);
  });

  test('does not notify of the same state again, or while it is muted', async () => {
    const received = await subscribe(endpoint, topicArn, 'notified-once');
    await set({ StateReason: 'first' });
    await set();
    await cloudwatch.send(new DisableAlarmActionsCommand({ AlarmNames: [ALARM] }));
    await set({ StateValue: 'OK', StateReason: 'muted' });
    await cloudwatch.send(new EnableAlarmActionsCommand({ AlarmNames: [ALARM] }));
    await set({ StateReason: 'last' });
    const messages = await received();
    expect(messages.map(({ Body = '' }) => JSON.parse(Body).NewStateReason).sort()).toEqual([
      'first',
      'last',
    ]);
  });

  test.each([
    { what: 'an alarm that does not exist', input: { AlarmName: 'none' }, name: 'ResourceNotFound' },
    { what: 'a long reason', input: { StateReason: 'x'.repeat(1_024) }, name: 'ValidationException' },
  ])('cannot be set: $what', async ({ input, name }) => {
    await expect(set(input)).rejects.toMatchObject({ name });
  });

  test('cannot be set by an unsupported operation', async () => {
    const call = async (operation: string, body: object) => {
      const target = `GraniteServiceVersion20100801.${operation}`;
      const headers = { authorization: signedFor('monitoring'), 'x-amz-target': target };
      return (await send(endpoint, { headers, body: JSON.stringify(body) })).body.toString();
    };
    expect(await call('ListMetrics', {})).toContain("does not offer CloudWatch's ListMetrics");
  });

  test('supports older versions of the AWS CLI in their query protocol', async () => {
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
});

describe('a log group', () => {
  const GROUP = 'Stack-ConsumerLog';
  let logs: CloudWatchLogsClient;

  beforeAll(() => {
    logs = new CloudWatchLogsClient(settingsOf(endpoint));
    const lines = [
      { message: 'Processed', attempt: 1 },
      { message: 'Failed', level: 'WARN', attempt: 1 },
      { message: 'Failed', level: 'WARN', attempt: 2 },
      { message: 'DeadLettered', level: 'ERROR', attempt: 10 },
    ];
    for (const line of lines) endpoint.writeLog(GROUP, JSON.stringify(line));
    endpoint.writeLog(GROUP, 'Task timed out after 30.00 seconds');
  });
  afterAll(() => logs.destroy());

  const page = (input: Partial<FilterLogEventsCommandInput>) =>
    logs.send(new FilterLogEventsCommand({ logGroupName: GROUP, ...input }));
  const messagesOf = async (input: Partial<FilterLogEventsCommandInput>) =>
    ((await page(input)).events ?? []).map(({ message = '' }) => message);

  test.each([
    { filterPattern: undefined, lines: ['Processed 1', 'Failed 1', 'Failed 2', 'DeadLettered 10', 'Task'] },
    { filterPattern: '{ $.message = "Failed" }', lines: ['Failed 1', 'Failed 2'] },
    { filterPattern: '{ $.message = "Failed" && $.attempt = 2 }', lines: ['Failed 2'] },
    { filterPattern: '{ $.message = "Dead*" }', lines: ['DeadLettered 10'] },
    { filterPattern: '{ $.level != "WARN" }', lines: ['DeadLettered 10'] },
    { filterPattern: '{ $.attempt > 1 }', lines: ['Failed 2', 'DeadLettered 10'] },
    { filterPattern: '{ $.attempt >= 2 && $.attempt < 10 }', lines: ['Failed 2'] },
    {
      filterPattern: '{ $.attempt >= 1 && $.attempt < 10 && $.level = "WARN" }',
      lines: ['Failed 1', 'Failed 2'],
    },
    { filterPattern: '{ $.attempt <= 1 }', lines: ['Processed 1', 'Failed 1'] },
    { filterPattern: '{ $.message > 1 }', lines: [] },
    {
      filterPattern: '{ ($.message = "Failed" || $.message = "Processed") && $.attempt = 1 }',
      lines: ['Processed 1', 'Failed 1'],
    },
    {
      filterPattern: '{ $.message = "Processed" || $.message = "Failed" && $.attempt = 2 }',
      lines: ['Processed 1', 'Failed 2'],
    },
    { filterPattern: '{ (($.level = "WARN")) && ($.attempt != "2") }', lines: ['Failed 1'] },
    { filterPattern: '?"Task timed out" ?"Runtime exited"', lines: ['Task'] },
    { filterPattern: 'Task seconds', lines: ['Task'] },
    { filterPattern: 'Task minutes', lines: [] },
  ])('has lines that match $filterPattern', async ({ filterPattern, lines }) => {
    const messages = await messagesOf({ filterPattern });
    const short = messages.map((message) => {
      if (!message.startsWith('{')) return message.split(' ')[0];
      const line = JSON.parse(message);
      return `${line.message} ${line.attempt}`;
    });
    expect(short).toEqual(lines);
  });

  test.each([
    ...['{ ($.a = 1 }', '{ $.a = 1) }', '{ ($.a = 1) && }', '{ $.a = 1 & $.b = 2 }', '{ $.a > "1" }'],
    ...['{ $.a > x }', '%regular%', '[a, b]', '{ $.a', 'Task -timed', '{ $.a = "*x" }'],
  ])('refuses the pattern %s', async (filterPattern) => {
    await expect(page({ filterPattern })).rejects.toMatchObject({ name: 'InvalidParameterException' });
  });

  test.each([{ nextToken: 'none' }, { limit: 0 }, { limit: 10_001 }])('refuses %j', async (input) => {
    await expect(page(input)).rejects.toMatchObject({ name: 'InvalidParameterException' });
  });

  test('returns its lines in pages, and from a time on', async () => {
    const first = await page({ limit: 3 });
    const second = await page({ limit: 3, nextToken: first.nextToken });
    expect([first.events?.length, second.events?.length]).toEqual([3, 2]);
    expect(second.nextToken).toBeUndefined();
    expect(await messagesOf({ startTime: Date.now() + 60_000 })).toEqual([]);
    expect(await messagesOf({ endTime: Date.now() - 60_000 })).toEqual([]);
  });

  test('has pages of at most 1 MB, which may be empty with more to come', async () => {
    const text = 'x'.repeat(100_000);
    for (let number = 0; number < 25; number += 1) endpoint.writeLog('long', `${number} ${text}`);
    const last = { logGroupName: 'long', filterPattern: '"24 x"' };
    const first = await page(last);
    const second = await page({ ...last, nextToken: first.nextToken });
    const third = await page({ ...last, nextToken: second.nextToken });
    expect([first, second, third].map(({ events }) => events?.length)).toEqual([0, 0, 1]);
    expect(third.nextToken).toBeUndefined();
  });

  test('sorts a late line by its time, and continues after its page token', async () => {
    const now = Date.now();
    endpoint.writeLog('late', 'first', now - 3_000);
    endpoint.writeLog('late', 'third', now - 1_000);
    const { events: first = [], nextToken } = await page({ logGroupName: 'late', limit: 1 });
    endpoint.writeLog('late', 'second', now - 2_000);
    const { events: rest = [] } = await page({ logGroupName: 'late', nextToken });
    const events = [...first, ...rest];
    expect(events).toMatchObject([{ message: 'first' }, { message: 'second' }, { message: 'third' }]);
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(3);
    expect(events[1]?.ingestionTime).toBeGreaterThan(events[1]?.timestamp ?? 0);
  });

  test('keeps only its newest lines', async () => {
    for (let number = 0; number < 5_010; number += 1) endpoint.writeLog('busy', String(number));
    const lines = await messagesOf({ logGroupName: 'busy' });
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([5_000, '10', '5009']);
  });

  test('is found by the prefix of its name', async () => {
    const { logGroups } = await logs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: 'Stack-C' }));
    expect(logGroups).toMatchObject([{ logGroupName: GROUP }]);
    const none = page({ logGroupName: 'none' });
    await expect(none).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});

describe('a Logs Insights query', () => {
  const [RECEIVER, CONSUMER] = ['Query-Receiver', 'Query-Consumer'] as const;
  const ACCEPTED = '{"eventId":"one","message":"Accepted"}';
  const PROCESSED = '{"eventId":"one","message":"Processed"}';
  let logs: CloudWatchLogsClient;

  beforeAll(() => {
    logs = new CloudWatchLogsClient(settingsOf(endpoint));
    const now = Date.now();
    endpoint.writeLog(RECEIVER, ACCEPTED, now - 2_000);
    endpoint.writeLog(CONSUMER, '{"eventId":"two","message":"Processed"}', now - 1_500);
    endpoint.writeLog(CONSUMER, PROCESSED, now - 1_000);
  });
  afterAll(() => logs.destroy());

  const queryOf = (pattern: string, limit = 10) =>
    `fields @message | filter @message like /${pattern}/ | sort @timestamp desc | limit ${limit}`;
  /** Epoch seconds of a moment that many seconds from now. */
  const inSeconds = (seconds: number) => Math.ceil(Date.now() / 1000) + seconds;
  const start = (input: Partial<StartQueryCommandInput> = {}) =>
    logs.send(
      new StartQueryCommand({
        logGroupNames: [RECEIVER, CONSUMER],
        queryString: queryOf('"eventId":"one"'),
        startTime: inSeconds(-60),
        endTime: inSeconds(0),
        ...input,
      }),
    );
  const get = (queryId: string | undefined) => logs.send(new GetQueryResultsCommand({ queryId }));
  async function resultsOf(input: Partial<StartQueryCommandInput>) {
    const { queryId } = await start(input);
    await get(queryId);
    return get(queryId);
  }

  test('is running at first, then has the lines of all its groups', async () => {
    const { queryId } = await start();
    expect(await get(queryId)).toMatchObject({ status: 'Running', results: [] });
    expect(await get(queryId)).toMatchObject({
      status: 'Complete',
      results: [[{ field: '@message', value: PROCESSED }], [{ field: '@message', value: ACCEPTED }]],
      statistics: { recordsMatched: 2, recordsScanned: 3, bytesScanned: 116 },
    });
  });

  test('respects its groups, window and limit, and says how many lines match', async () => {
    const ofOne = await resultsOf({ logGroupNames: [CONSUMER] });
    expect(ofOne.results).toEqual([[{ field: '@message', value: PROCESSED }]]);
    const limited = await resultsOf({ queryString: queryOf('one', 1) });
    expect(limited.results).toHaveLength(1);
    expect(limited.statistics).toMatchObject({ recordsMatched: 2 });
    const before = await resultsOf({ startTime: inSeconds(-120), endTime: inSeconds(-60) });
    const after = await resultsOf({ startTime: inSeconds(60), endTime: inSeconds(120) });
    expect([before.results, after.results]).toEqual([[], []]);
  });

  test('finds the newest line with a message of each event', async () => {
    const line = (event: string) => JSON.stringify({ message: 'Accepted', event });
    const group = 'newest-of-each';
    const now = Date.now();
    for (const [event, at] of Object.entries({ a: 5_000, b: 3_000 }))
      endpoint.writeLog(group, line(event), now - at);
    endpoint.writeLog(group, line('a'), now - 1_000);
    endpoint.writeLog(group, JSON.stringify({ message: 'Rejected' }), now);
    const queryString =
      'fields @timestamp, event | filter message = "Accepted" | sort @timestamp desc | dedup event';
    const { results = [] } = await resultsOf({ logGroupNames: [group], queryString });
    const timeOf = (at: number) => new Date(at).toISOString().replace('T', ' ').replace('Z', '');
    expect(results.map((row) => row.map(({ value }) => value))).toEqual([
      [timeOf(now - 1_000), 'a'],
      [timeOf(now - 3_000), 'b'],
    ]);
  });

  test('that is stopped has no lines, and can be stopped once', async () => {
    const { queryId } = await start();
    expect(await logs.send(new StopQueryCommand({ queryId }))).toMatchObject({ success: true });
    expect(await get(queryId)).toMatchObject({ status: 'Cancelled', results: [] });
    const again = logs.send(new StopQueryCommand({ queryId }));
    await expect(again).rejects.toMatchObject({ name: 'InvalidParameterException' });
    await expect(get('none')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  test.each([
    { input: { queryString: 'stats count(*) by eventId' }, name: 'MalformedQueryException' },
    { input: { queryString: queryOf('one').replace('desc', 'asc') }, name: 'MalformedQueryException' },
    { input: { queryString: queryOf('(one') }, name: 'MalformedQueryException' },
    { input: { logGroupNames: [RECEIVER, 'none'] }, name: 'ResourceNotFoundException' },
    { input: { logGroupNames: [] }, name: 'InvalidParameterException' },
    { input: { startTime: 2, endTime: 1 }, name: 'InvalidParameterException' },
  ])('is refused: $input', async ({ input, name }) => {
    await expect(start(input)).rejects.toMatchObject({ name });
  });
});

describe('an event source mapping', () => {
  let count = 0;
  let EventSourceArn: string;
  let FunctionArn: string;
  let lambda: LambdaClient;
  let uuid = '';
  /** Calls that the event source has received, and a function that ends its current batch. */
  let done: string[];
  let batch: PromiseWithResolvers<void>;

  beforeEach(async () => {
    done = [];
    batch = Promise.withResolvers();
    lambda = new LambdaClient(settingsOf(endpoint));
    count += 1;
    EventSourceArn = arnOf('sqs', `orders-${count}`);
    FunctionArn = arnOf('lambda', `function:consumer-${count}:live`);
    endpoint.addEventSourceMapping({
      eventSourceArn: EventSourceArn,
      functionArn: FunctionArn,
      settings: { BatchSize: 10 },
      disable() {
        done.push('disable');
        return batch.promise;
      },
      enable: () => done.push('enable'),
    });
    uuid = (await list({ EventSourceArn }))[0]?.UUID ?? '';
  });

  const list = async (input: ListEventSourceMappingsCommandInput = {}) =>
    (await lambda.send(new ListEventSourceMappingsCommand(input))).EventSourceMappings ?? [];
  const state = async () => (await lambda.send(new GetEventSourceMappingCommand({ UUID: uuid }))).State;
  const turn = (Enabled: boolean) =>
    lambda.send(new UpdateEventSourceMappingCommand({ UUID: uuid, Enabled }));

  test('is found by queue and by function', async () => {
    const found = [
      {
        UUID: expect.stringMatching(/^[0-9a-f-]{36}$/),
        EventSourceArn,
        FunctionArn,
        BatchSize: 10,
        State: 'Enabled',
        LastModified: expect.any(Date),
      },
    ];
    expect(await list({ EventSourceArn })).toMatchObject(found);
    expect(await list({ FunctionName: FunctionArn })).toMatchObject(found);
    expect(await list({ FunctionName: `consumer-${count}:live` })).toMatchObject(found);
    expect(await list({ EventSourceArn: `${EventSourceArn}-dead` })).toEqual([]);
    expect(await list({ FunctionName: 'other' })).toEqual([]);
  });

  test('is Disabling until its current batch has ended, and accepts no other change meanwhile', async () => {
    expect(await turn(false)).toMatchObject({ State: 'Disabling' });
    await expect(turn(true)).rejects.toMatchObject({ name: 'ResourceInUseException' });
    expect(await state()).toBe('Disabling');
    batch.resolve();
    await eventually(async () => ((await state()) === 'Disabled' ? true : undefined));
    await turn(false);
    expect(done).toEqual(['disable']);
    expect(await turn(true)).toMatchObject({ State: 'Enabled' });
    expect(done).toEqual(['disable', 'enable']);
  });

  test('that does not exist is a 404, and only its state can be changed', async () => {
    await expect(lambda.send(new GetEventSourceMappingCommand({ UUID: randomUUID() }))).rejects.toMatchObject(
      {
        name: 'ResourceNotFoundException',
        $metadata: { httpStatusCode: 404 },
      },
    );
    const size = new UpdateEventSourceMappingCommand({ UUID: uuid, BatchSize: 1 });
    await expect(lambda.send(size)).rejects.toMatchObject({
      name: 'InvalidParameterValueException',
      message: expect.stringContaining('BatchSize'),
    });
  });

  test('is the only part of Lambda here', async () => {
    const other = lambda.send(new GetFunctionCommand({ FunctionName: 'consumer' }));
    await expect(other).rejects.toMatchObject({
      name: 'UnknownOperationException',
      message: expect.stringMatching(
        /^The local AWS endpoint offers of Lambda ListEventSourceMappings, GetEventSourceMapping and UpdateEventSourceMapping, not GET .*functions\/consumer/,
      ),
    });
  });

  test('is not changed by a body that is not JSON', async () => {
    const answer = await send(endpoint, {
      method: 'PUT',
      path: `/2015-03-31/event-source-mappings/${uuid}`,
      headers: { authorization: signedFor('lambda') },
      body: '{"Enabled":',
    });
    expect(answer.status).toBe(400);
    expect(answer.headers['x-amzn-errortype']).toBe('InvalidRequestContentException');
  });
});
