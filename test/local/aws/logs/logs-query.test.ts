import {
  CloudWatchLogsClient,
  GetQueryResultsCommand,
  StartQueryCommand,
  type StartQueryCommandInput,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { STACK_REGION, startEndpoint } from '../support.ts';

const [FIRST, SECOND] = ['Stack-Receiver', 'Stack-Consumer'] as const;
const MINUTE = 60;

let endpoint: AwsEndpoint;
let logs: CloudWatchLogsClient;

const clientOf = (accessKeyId: string) =>
  new CloudWatchLogsClient({
    endpoint: endpoint.url,
    region: STACK_REGION,
    credentials: { accessKeyId, secretAccessKey: 'any' },
  });

beforeAll(async () => {
  endpoint = await startEndpoint();
  logs = clientOf('operator');
  endpoint.writeLog(FIRST, '{"eventId":"one","message":"Accepted"}');
  endpoint.writeLog(SECOND, '{"eventId":"two","message":"Processed"}');
  endpoint.writeLog(SECOND, '{"eventId":"one","message":"Processed"}');
});
afterAll(async () => {
  logs.destroy();
  await endpoint.close();
});

const queryOf = (pattern: string, limit = 10) =>
  `fields @message | filter @message like /${pattern}/ | sort @timestamp desc | limit ${limit}`;

const now = () => Math.ceil(Date.now() / 1000);

function start(input: Partial<StartQueryCommandInput>, client = logs) {
  return client.send(
    new StartQueryCommand({
      logGroupNames: [FIRST, SECOND],
      queryString: queryOf('"eventId":"one"'),
      startTime: now() - MINUTE,
      endTime: now(),
      ...input,
    }),
  );
}

async function results(input: Partial<StartQueryCommandInput>) {
  const { queryId } = await start(input);
  await logs.send(new GetQueryResultsCommand({ queryId }));
  const { results: rows = [], statistics } = await logs.send(new GetQueryResultsCommand({ queryId }));
  return { lines: rows.map(([row]) => row?.value), statistics };
}

test('a query is running when it is first asked for, then it has the lines of all its groups', async () => {
  const { queryId } = await start({});
  expect(await logs.send(new GetQueryResultsCommand({ queryId }))).toMatchObject({
    status: 'Running',
    results: [],
  });
  const { status, results: rows, statistics } = await logs.send(new GetQueryResultsCommand({ queryId }));
  expect(status).toBe('Complete');
  expect(rows?.flat().toSorted((a, b) => String(a.value).localeCompare(String(b.value)))).toEqual([
    { field: '@message', value: '{"eventId":"one","message":"Accepted"}' },
    { field: '@message', value: '{"eventId":"one","message":"Processed"}' },
  ]);
  expect(statistics).toEqual({ recordsMatched: 2, recordsScanned: 3, bytesScanned: 116 });
});

describe('a query is held to', () => {
  test('its groups', async () => {
    expect((await results({ logGroupNames: [SECOND] })).lines).toEqual([
      '{"eventId":"one","message":"Processed"}',
    ]);
  });

  test('its limit, and says how many there are', async () => {
    const { lines, statistics } = await results({ queryString: queryOf('one', 1) });
    expect([lines.length, statistics?.recordsMatched]).toEqual([1, 2]);
  });

  test.each([
    ['before the lines', () => ({ startTime: now() - 2 * MINUTE, endTime: now() - MINUTE })],
    ['behind them', () => ({ startTime: now() + MINUTE, endTime: now() + 2 * MINUTE })],
  ])('its window: one %s finds none', async (_, window) => {
    expect((await results(window())).lines).toEqual([]);
  });
});

test('a query that is stopped has no lines, and is stopped once', async () => {
  const { queryId } = await start({});
  expect(await logs.send(new StopQueryCommand({ queryId }))).toMatchObject({ success: true });
  expect(await logs.send(new GetQueryResultsCommand({ queryId }))).toMatchObject({
    status: 'Cancelled',
    results: [],
  });
  await expect(logs.send(new StopQueryCommand({ queryId }))).rejects.toMatchObject({
    name: 'InvalidParameterException',
  });
});

test.each([
  ['another form', { queryString: 'stats count(*) by eventId' }, 'MalformedQueryException'],
  ['another order', { queryString: queryOf('one').replace('desc', 'asc') }, 'MalformedQueryException'],
  ['a broken expression', { queryString: queryOf('(one') }, 'MalformedQueryException'],
  ['a group that is not there', { logGroupNames: [FIRST, 'none'] }, 'ResourceNotFoundException'],
  ['no group', { logGroupNames: [] }, 'InvalidParameterException'],
  ['a window that ends before it begins', { startTime: 2, endTime: 1 }, 'InvalidParameterException'],
])('a query of %s is refused', async (_, input, name) => {
  await expect(start(input)).rejects.toMatchObject({ name });
});

test('a query that nobody started is not found', async () => {
  await expect(logs.send(new GetQueryResultsCommand({ queryId: 'none' }))).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  });
});

test('a role may query the groups that its policies name', async () => {
  const group = `arn:aws:logs:${STACK_REGION}:000000000000:log-group:${FIRST}:*`;
  endpoint.addPrincipals([
    {
      name: 'Tracer',
      accessKeyId: 'TRACER',
      statements: [{ Effect: 'Allow', Action: 'logs:StartQuery', Resource: group }],
    },
  ]);
  expect(await start({ logGroupNames: [FIRST] }, clientOf('TRACER'))).toMatchObject({
    queryId: expect.any(String),
  });
  await expect(start({}, clientOf('TRACER'))).rejects.toMatchObject({ name: 'AccessDeniedException' });
});
