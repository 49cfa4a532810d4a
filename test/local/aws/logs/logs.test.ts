import {
  CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  FilterLogEventsCommand,
  type FilterLogEventsCommandInput,
} from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { STACK_REGION, startEndpoint } from '../support.ts';

const GROUP = 'Stack-ConsumerLog';

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
  const lines = [
    { message: 'Processed', attempt: 1 },
    { message: 'Failed', level: 'WARN', attempt: 1 },
    { message: 'Failed', level: 'WARN', attempt: 2 },
    { message: 'DeadLettered', level: 'ERROR', attempt: 10 },
  ];
  for (const line of lines) endpoint.writeLog(GROUP, JSON.stringify(line));
  endpoint.writeLog(GROUP, 'Task timed out after 30.00 seconds');
});
afterAll(async () => {
  logs.destroy();
  await endpoint.close();
});

const found = async (input: Partial<FilterLogEventsCommandInput>, client = logs) => {
  const { events = [] } = await client.send(new FilterLogEventsCommand({ logGroupName: GROUP, ...input }));
  return events.map(({ message = '' }) =>
    message.replace(/^.*"message":"(\w+)".*"attempt":(\d+).*$/, '$1 $2'),
  );
};

describe('a filter pattern', () => {
  test.each([
    [undefined, ['Processed 1', 'Failed 1', 'Failed 2', 'DeadLettered 10', expect.stringMatching(/^Task/)]],
    ['{ $.message = "Failed" }', ['Failed 1', 'Failed 2']],
    ['{ $.message = "Failed" || $.message = "DeadLettered" }', ['Failed 1', 'Failed 2', 'DeadLettered 10']],
    ['{ $.message = "Failed" && $.attempt = 2 }', ['Failed 2']],
    ['{ $.message = "Dead*" }', ['DeadLettered 10']],
    ['{ $.level != "WARN" }', ['DeadLettered 10']],
    ['{ $.attempt > 1 }', ['Failed 2', 'DeadLettered 10']],
    ['{ $.attempt >= 2 && $.attempt < 10 }', ['Failed 2']],
    ['{ $.attempt <= 1 }', ['Processed 1', 'Failed 1']],
    ['{ $.message > 1 }', []],
    ['{ ($.message = "Failed" || $.message = "Processed") && $.attempt = 1 }', ['Processed 1', 'Failed 1']],
    ['{ $.message = "Processed" || $.message = "Failed" && $.attempt = 2 }', ['Processed 1', 'Failed 2']],
    ['{ (($.level = "WARN")) && ($.attempt != "2") }', ['Failed 1']],
    ['?"Task timed out" ?"Runtime exited"', [expect.stringMatching(/^Task/)]],
    ['Task seconds', [expect.stringMatching(/^Task/)]],
    ['Task minutes', []],
  ])('%s', async (filterPattern, expected) => {
    expect(await found({ filterPattern })).toEqual(expected);
  });

  test.each([
    '{ ($.a = 1 }',
    '{ $.a = 1) }',
    '{ ($.a = 1) && }',
    '{ $.a = 1 & $.b = 2 }',
    '{ $.a > "1" }',
    '{ $.a > x }',
    '%regular%',
    '[a, b]',
    '{ $.a',
    'Task -timed',
    '{ $.a = "*x" }',
  ])('%s is refused', async (filterPattern) => {
    await expect(found({ filterPattern })).rejects.toMatchObject({ name: 'InvalidParameterException' });
  });
});

test('lines come in pages, and from a time on', async () => {
  const first = await logs.send(new FilterLogEventsCommand({ logGroupName: GROUP, limit: 3 }));
  expect(first.events).toHaveLength(3);
  const { nextToken } = first;
  const second = await logs.send(new FilterLogEventsCommand({ logGroupName: GROUP, limit: 3, nextToken }));
  expect(second.events).toHaveLength(2);
  expect(second.nextToken).toBeUndefined();
  expect(await found({ startTime: Date.now() + 60_000 })).toEqual([]);
  expect(await found({ endTime: Date.now() - 60_000 })).toEqual([]);
});

test('a page has 1 MB at most, and may be empty with more to come', async () => {
  const text = 'x'.repeat(100_000);
  for (let number = 0; number < 25; number += 1) endpoint.writeLog('long', `${number} ${text}`);
  const pages: number[] = [];
  let nextToken: string | undefined;
  do {
    const page = await logs.send(
      new FilterLogEventsCommand({ logGroupName: 'long', filterPattern: '"24 x"', nextToken }),
    );
    pages.push(page.events?.length ?? 0);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  expect(pages).toEqual([0, 0, 1]);
});

test('a line that comes late stands where its time is, and a page goes on behind it', async () => {
  const now = Date.now();
  endpoint.writeLog('late', 'first', now - 3_000);
  endpoint.writeLog('late', 'third', now - 1_000);
  const page = await logs.send(new FilterLogEventsCommand({ logGroupName: 'late', limit: 1 }));
  endpoint.writeLog('late', 'second', now - 2_000);
  const { nextToken } = page;
  const rest = await logs.send(new FilterLogEventsCommand({ logGroupName: 'late', nextToken }));
  const events = [...(page.events ?? []), ...(rest.events ?? [])];
  expect(events.map(({ message }) => message)).toEqual(['first', 'second', 'third']);
  expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(3);
  expect(events[1]?.ingestionTime).toBeGreaterThan(events[1]?.timestamp ?? 0);
});

test.each([{ nextToken: 'none' }, { limit: 0 }, { limit: 10_001 }])('%j is refused', async (input) => {
  await expect(found(input)).rejects.toMatchObject({ name: 'InvalidParameterException' });
});

test('of a group the newest lines are kept', async () => {
  for (let number = 0; number < 5_010; number += 1) endpoint.writeLog('busy', String(number));
  const { events = [] } = await logs.send(new FilterLogEventsCommand({ logGroupName: 'busy' }));
  expect([events.length, events[0]?.message, events.at(-1)?.message]).toEqual([5_000, '10', '5009']);
});

test('groups are found by the beginning of their name', async () => {
  const { logGroups = [] } = await logs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: 'Stack-' }));
  expect(logGroups.map(({ logGroupName }) => logGroupName)).toEqual([GROUP]);
});

test('a group that is not there is not found', async () => {
  await expect(found({ logGroupName: 'none' })).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

test('a role may read the groups that its policies name', async () => {
  endpoint.addPrincipals([
    {
      name: 'Reader',
      accessKeyId: 'READER',
      statements: [
        {
          Effect: 'Allow',
          Action: 'logs:FilterLogEvents',
          Resource: `arn:aws:logs:${STACK_REGION}:000000000000:log-group:${GROUP}:*`,
        },
      ],
    },
  ]);
  expect(await found({ filterPattern: 'Task' }, clientOf('READER'))).toHaveLength(1);
  await expect(found({ logGroupName: 'busy' }, clientOf('READER'))).rejects.toMatchObject({
    name: 'AccessDeniedException',
  });
});
