import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { isJsonObject, type JsonObject, objectsOf } from '../../aws/json.ts';
import { logFilter } from '../../aws/logs/log-filter.ts';
import { arnOf } from '../../aws/service-forms.ts';
import { type AwsCaller, awsCaller } from '../../aws-caller.ts';
import { eventually, send, signedFor, startEndpoint, subscribe } from '../support.ts';

let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let aws: AwsCaller;
beforeAll(async () => {
  endpoint = await startEndpoint();
  aws = awsCaller(endpoint.url, 'operator');
});
afterAll(() => endpoint.close());

describe('an alarm', () => {
  const ALARM = 'Stack-ShopUpdatedPaused';
  const AlarmArn = arnOf('cloudwatch', `alarm:${ALARM}`);
  const TopicArn = arnOf('sns', 'alarms');
  const actions = { AlarmActions: [TopicArn], OKActions: [TopicArn] };

  beforeAll(() => aws.form('sns', { Action: 'CreateTopic', Name: 'alarms' }));
  beforeEach(() => {
    for (const AlarmName of [ALARM, 'Stack-Other']) {
      endpoint.putAlarm({ AlarmName, ...actions, MetricName: 'Paused', EvaluationPeriods: 1 });
    }
  });

  const call = (operation: string, input: object) => aws.json('monitoring', operation, input);
  const set = (input: object = {}) =>
    call('SetAlarmState', { AlarmName: ALARM, StateValue: 'ALARM', StateReason: 'why', ...input });
  const settings = { Threshold: 7, EvaluationPeriods: 1, ComparisonOperator: 'LessThanThreshold' };
  const put = (input: object = {}) => call('PutMetricAlarm', { AlarmName: ALARM, ...settings, ...input });
  const described = async (input: object = { AlarmNames: [ALARM] }) =>
    objectsOf(await call('DescribeAlarms', input), 'MetricAlarms');

  test('has the state that it was set to, with reason and time', async () => {
    const before = Date.now() / 1000;
    await set({ StateReason: 'Paused by somebody: why' });
    await set({ StateReason: 'Paused by somebody: another reason' });
    const [alarm = {}, ...others] = await described();
    expect(others).toEqual([]);
    expect(alarm).toMatchObject({
      AlarmName: ALARM,
      AlarmArn,
      MetricName: 'Paused',
      ActionsEnabled: true,
      StateValue: 'ALARM',
      StateReason: 'Paused by somebody: another reason',
    });
    expect(alarm.StateTransitionedTimestamp).toBeGreaterThanOrEqual(before);
    expect(alarm.StateUpdatedTimestamp).toBeGreaterThanOrEqual(Number(alarm.StateTransitionedTimestamp));
  });

  test('is found by name, prefix and state, in pages', async () => {
    await set();
    const namesOf = async (input: object) => (await described(input)).map(({ AlarmName }) => AlarmName);
    expect(await namesOf({ AlarmNames: [ALARM, 'none'] })).toEqual([ALARM]);
    expect(await namesOf({ AlarmNamePrefix: 'Stack-O' })).toEqual(['Stack-Other']);
    expect(await namesOf({ StateValue: 'ALARM' })).toEqual([ALARM]);
    const { NextToken, MetricAlarms } = await call('DescribeAlarms', { MaxRecords: 1 });
    expect(MetricAlarms).toMatchObject([{ AlarmName: ALARM }]);
    const second = await call('DescribeAlarms', { MaxRecords: 1, NextToken });
    expect(second.MetricAlarms).toMatchObject([{ AlarmName: 'Stack-Other' }]);
    expect(second).not.toHaveProperty('NextToken');
  });

  // Source: CloudWatch API reference, `PutMetricAlarm`: an update "completely overwrites" the settings.
  test('keeps its state and no other setting if it is put again, and is created only by the stack', async () => {
    await set();
    await put();
    const [alarm] = await described();
    expect(alarm).toMatchObject({
      ...settings,
      ActionsEnabled: true,
      StateValue: 'ALARM',
      StateReason: 'why',
    });
    expect(alarm).not.toHaveProperty('AlarmActions');
    await expect(put({ AlarmName: 'none' })).rejects.toThrow('creates none');
  });

  test('notifies its topic of a new state, but not of the same state again or without enabled actions', async () => {
    const received = await subscribe(endpoint, TopicArn, 'notified');
    await set({ StateReason: 'first' });
    await set();
    await put({ ...actions, ActionsEnabled: false });
    await set({ StateValue: 'OK', StateReason: 'muted' });
    await put(actions);
    await set({ StateReason: 'last' });
    const messages = (await received()).map((body) => JSON.parse(body));
    const alarm = { AlarmName: ALARM, AlarmArn, NewStateValue: 'ALARM' };
    expect(messages).toMatchObject([
      { ...alarm, OldStateValue: 'INSUFFICIENT_DATA', NewStateReason: 'first' },
      { ...alarm, OldStateValue: 'OK', NewStateReason: 'last' },
    ]);
  });

  test('that does not exist cannot be set, and other operations are refused', async () => {
    await expect(set({ AlarmName: 'none' })).rejects.toThrow('ResourceNotFound');
    await expect(call('ListMetrics', {})).rejects.toThrow("does not offer CloudWatch's ListMetrics");
  });
});

describe('a filter of log lines', () => {
  const lines = [
    '{"message":"Processed","attempt":1}',
    '{"message":"Failed","level":"WARN","attempt":1}',
    '{"message":"Failed","level":"WARN","attempt":2}',
    '{"message":"DeadLettered","level":"ERROR","attempt":10}',
    'Task timed out after 30.00 seconds',
  ];

  test.each([
    ['', [0, 1, 2, 3, 4]],
    ['{ $.message = "Failed" }', [1, 2]],
    ['{ $.message = "Failed" && $.attempt = 2 }', [2]],
    ['{ $.message = "Dead*" }', [3]],
    ['{ $.level != "WARN" }', [3]],
    ['{ $.attempt > 1 }', [2, 3]],
    ['{ $.attempt >= 2 && $.attempt < 10 }', [2]],
    ['{ $.attempt <= 1 }', [0, 1]],
    ['{ ($.message = "Failed" || $.message = "Processed") && $.attempt = 1 }', [0, 1]],
    ['{ $.message = "Processed" || $.message = "Failed" && $.attempt = 2 }', [0, 2]],
    ['{ (($.level = "WARN")) && ($.attempt != "2") }', [1]],
    ['?"Task timed out" ?"Runtime exited"', [4]],
    ['Task seconds', [4]],
  ])('%s selects the lines %j', (pattern, selected) => {
    expect(lines.filter(logFilter(pattern))).toEqual(selected.map((index) => lines[index]));
  });

  test.each([
    ...['{ ($.a = 1 }', '{ $.a = 1) }', '{ ($.a = 1) && }', '{ $.a = 1 & $.b = 2 }', '{ $.a > "1" }'],
    ...['{ $.a > x }', '%regular%', '[a, b]', '{ $.a', 'Task -timed', '{ $.a = "*x" }'],
  ])('%s is refused', (pattern) => {
    expect(() => logFilter(pattern)).toThrow('Invalid filter pattern');
  });
});

const logs = (operation: string, input: object) => aws.json('logs', operation, input);

describe('a log group', () => {
  const page = async (input: object) => {
    const answer = await logs('FilterLogEvents', input);
    return { events: objectsOf(answer, 'events'), nextToken: answer.nextToken };
  };
  const now = Date.now();

  test('returns its lines in pages, sorted by time, also lines that arrive late', async () => {
    const logGroupName = 'late';
    endpoint.writeLog(logGroupName, 'first', now - 3_000);
    endpoint.writeLog(logGroupName, 'third', now - 1_000);
    const { events: first, nextToken } = await page({ logGroupName, limit: 1 });
    endpoint.writeLog(logGroupName, 'second', now - 2_000);
    const { events: rest, nextToken: none } = await page({ logGroupName, nextToken });
    expect(none).toBeUndefined();
    const events = [...first, ...rest];
    expect(events.map(({ message }) => message)).toEqual(['first', 'second', 'third']);
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(3);
    expect(events[1]?.ingestionTime).toBeGreaterThan(Number(events[1]?.timestamp));
    const window = { logGroupName, startTime: now - 2_500, endTime: now - 1_500 };
    expect((await page(window)).events).toMatchObject([{ message: 'second' }]);
  });

  test('has pages of at most 1 MB, which may be empty with more to come', async () => {
    for (let number = 0; number < 25; number += 1)
      endpoint.writeLog('long', `${number} ${'x'.repeat(100_000)}`);
    const last = { logGroupName: 'long', filterPattern: '"24 x"' };
    const first = await page(last);
    const second = await page({ ...last, nextToken: first.nextToken });
    const third = await page({ ...last, nextToken: second.nextToken });
    expect([first, second, third].map(({ events }) => events.length)).toEqual([0, 0, 1]);
    expect(third.nextToken).toBeUndefined();
    await expect(page({ ...last, nextToken: 'x' })).rejects.toThrow('nextToken is invalid');
  });

  test('keeps only its newest lines', async () => {
    for (let number = 0; number < 5_010; number += 1) endpoint.writeLog('busy', String(number));
    const { events } = await page({ logGroupName: 'busy' });
    expect([events.length, events[0]?.message, events.at(-1)?.message]).toEqual([5_000, '10', '5009']);
  });

  test('takes lines of PutLogEvents in a stream that exists', async () => {
    endpoint.createLogGroup('written');
    const stream = { logGroupName: 'written', logStreamName: 'stream' };
    const put = (...times: number[]) =>
      logs('PutLogEvents', { ...stream, logEvents: times.map((timestamp) => ({ timestamp, message: 'x' })) });
    await expect(put(now)).rejects.toThrow('The specified log stream does not exist');
    await logs('CreateLogStream', stream);
    await expect(logs('CreateLogStream', stream)).rejects.toThrow('ResourceAlreadyExistsException');
    await expect(put(now, now - 1)).rejects.toThrow('must be in chronological order');
    await put(now - 1, now);
    expect(await logs('DescribeLogGroups', { logGroupNamePrefix: 'writ' })).toMatchObject({
      logGroups: [{ logGroupName: 'written' }],
    });
    expect((await page({ logGroupName: 'written' })).events).toHaveLength(2);
    const ofStream = page({ logGroupName: 'written', logStreamNames: ['stream'] });
    await expect(ofStream).rejects.toThrow('does not filter by log stream');
  });
});

describe('a Logs Insights query', () => {
  const [RECEIVER, CONSUMER] = ['Query-Receiver', 'Query-Consumer'] as const;
  const ACCEPTED = '{"eventId":"one","message":"Accepted"}';
  const PROCESSED = '{"eventId":"one","message":"Processed"}';

  beforeAll(() => {
    const now = Date.now();
    endpoint.writeLog(RECEIVER, ACCEPTED, now - 2_000);
    endpoint.writeLog(CONSUMER, '{"eventId":"two","message":"Processed"}', now - 1_500);
    endpoint.writeLog(CONSUMER, PROCESSED, now - 1_000);
  });

  const queryOf = (pattern: string, limit = 10) =>
    `fields @message | filter @message like /${pattern}/ | sort @timestamp desc | limit ${limit}`;
  /** Epoch seconds of a moment that many seconds from now. */
  const inSeconds = (seconds: number) => Math.ceil(Date.now() / 1000) + seconds;
  const start = async (input: object = {}) =>
    (
      await logs('StartQuery', {
        logGroupNames: [RECEIVER, CONSUMER],
        queryString: queryOf('"eventId":"one"'),
        startTime: inSeconds(-60),
        endTime: inSeconds(0),
        ...input,
      })
    ).queryId;
  const get = (queryId: JsonObject[string]) => logs('GetQueryResults', { queryId });
  async function resultsOf(input: object) {
    const queryId = await start(input);
    expect(await get(queryId)).toEqual({ status: 'Running', results: [], statistics: {} });
    const { results, statistics } = await get(queryId);
    const rows = (results as JsonObject[][]).map((row) => row.map(({ value }) => value));
    return { rows, matched: isJsonObject(statistics) && statistics.recordsMatched, statistics };
  }

  test('is running at first, then has the lines of all its groups', async () => {
    expect(await resultsOf({})).toEqual({
      rows: [[PROCESSED], [ACCEPTED]],
      matched: 2,
      statistics: { recordsMatched: 2, recordsScanned: 3, bytesScanned: 116 },
    });
  });

  test.each<{ input: () => object; rows: string[][]; matched: number }>([
    { input: () => ({ logGroupNames: [CONSUMER] }), rows: [[PROCESSED]], matched: 1 },
    { input: () => ({ queryString: queryOf('one', 1) }), rows: [[PROCESSED]], matched: 2 },
    { input: () => ({ startTime: inSeconds(-120), endTime: inSeconds(-60) }), rows: [], matched: 0 },
  ])('respects its groups, window and limit: $input', async ({ input, rows, matched }) => {
    expect(await resultsOf(input())).toMatchObject({ rows, matched });
  });

  test('finds the newest line with a message of each event', async () => {
    const now = Date.now();
    const write = (message: string, event: string, ago: number) =>
      endpoint.writeLog('newest-of-each', JSON.stringify({ message, event }), now - ago);
    write('Accepted', 'a', 5_000);
    write('Accepted', 'b', 3_000);
    write('Accepted', 'a', 1_000);
    write('Rejected', 'a', 0);
    const queryString =
      'fields @timestamp, event | filter message = "Accepted" | sort @timestamp desc | dedup event';
    const { rows } = await resultsOf({ logGroupNames: ['newest-of-each'], queryString });
    const timeOf = (at: number) => new Date(at).toISOString().replace('T', ' ').replace('Z', '');
    expect(rows).toEqual([
      [timeOf(now - 1_000), 'a'],
      [timeOf(now - 3_000), 'b'],
    ]);
  });

  test('that is stopped has no lines, and can be stopped once', async () => {
    const queryId = await start();
    expect(await logs('StopQuery', { queryId })).toEqual({ success: true });
    expect(await get(queryId)).toMatchObject({ status: 'Cancelled', results: [] });
    await expect(logs('StopQuery', { queryId })).rejects.toThrow('InvalidParameterException');
    await expect(get('none')).rejects.toThrow('ResourceNotFoundException');
  });

  test.each([
    { input: { queryString: 'stats count(*) by eventId' }, name: 'MalformedQueryException' },
    { input: { queryString: queryOf('(one') }, name: 'MalformedQueryException' },
    { input: { logGroupNames: [RECEIVER, 'none'] }, name: 'ResourceNotFoundException' },
    { input: { logGroupNames: [] }, name: 'InvalidParameterException' },
    { input: { startTime: 2, endTime: 1 }, name: 'InvalidParameterException' },
  ])('is refused: $input', async ({ input, name }) => {
    await expect(start(input)).rejects.toThrow(name);
  });
});

describe('an event source mapping', () => {
  const EventSourceArn = arnOf('sqs', 'orders');
  const FunctionArn = arnOf('lambda', 'function:consumer:live');
  const description = { EventSourceArn, FunctionArn, BatchSize: 10 };
  const done: string[] = [];
  const batch = Promise.withResolvers<void>();

  const source = {
    disable() {
      done.push('disable');
      return batch.promise;
    },
    enable: () => done.push('enable'),
  };
  beforeAll(() => endpoint.addEventSourceMapping(source, description));

  async function call(method: string, path: string, input?: object | string) {
    const { status, body, headers } = await send(endpoint, {
      method,
      path: `/2015-03-31/${path}`,
      headers: { authorization: signedFor('lambda') },
      ...(input && { body: typeof input === 'string' ? input : JSON.stringify(input) }),
    });
    return { status, error: headers['x-amzn-errortype'], answer: JSON.parse(body.toString()) };
  }
  const list = async (query = {}) =>
    (await call('GET', `event-source-mappings/?${new URLSearchParams(query)}`)).answer.EventSourceMappings;
  const update = async (input: object | string) => {
    const [{ UUID }] = await list();
    return call('PUT', `event-source-mappings/${UUID}`, input);
  };

  test('is found by queue and by function', async () => {
    const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);
    const found = [{ ...description, UUID, State: 'Enabled', LastModified: expect.any(Number) }];
    expect(await list({ EventSourceArn })).toMatchObject(found);
    expect(await list({ FunctionName: FunctionArn })).toMatchObject(found);
    expect(await list({ FunctionName: 'consumer:live' })).toMatchObject(found);
    expect(await list({ EventSourceArn: `${EventSourceArn}-dead` })).toEqual([]);
    expect(await list({ FunctionName: 'other' })).toEqual([]);
  });

  test('is Disabling until its current batch has ended, and accepts no other change meanwhile', async () => {
    const states = async () => (await list()).map(({ State }: { State: string }) => State);
    expect(await update({ Enabled: false })).toMatchObject({ status: 202, answer: { State: 'Disabling' } });
    expect(await update({ Enabled: true })).toMatchObject({ error: 'ResourceInUseException' });
    expect(await states()).toEqual(['Disabling']);
    batch.resolve();
    await eventually(async () => ((await states())[0] === 'Disabled' ? true : undefined));
    await update({ Enabled: false });
    expect(done).toEqual(['disable']);
    expect(await update({ Enabled: true })).toMatchObject({ answer: { State: 'Enabled' } });
    expect(done).toEqual(['disable', 'enable']);
  });

  test.each([
    { path: randomUUID(), input: {}, status: 404, error: 'ResourceNotFoundException' },
    { input: { BatchSize: 1 }, status: 400, error: 'InvalidParameterValueException' },
    { input: { Enabled: 'false' }, status: 400, error: 'InvalidRequestContentException' },
    { input: '{"Enabled":', status: 400, error: 'InvalidRequestContentException' },
  ])('refuses the change $input with $error', async ({ path, input, status, error }) => {
    const answer = path ? call('PUT', `event-source-mappings/${path}`, input) : update(input);
    expect(await answer).toMatchObject({ status, error });
  });

  test('is the only part of Lambda here', async () => {
    expect(await call('GET', 'functions/consumer')).toMatchObject({
      error: 'UnknownOperationException',
      answer: { message: expect.stringContaining('not GET /2015-03-31/functions/consumer') },
    });
  });
});
