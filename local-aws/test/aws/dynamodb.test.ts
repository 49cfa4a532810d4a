import { crc32 } from 'node:zlib';
import {
  CreateTableCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  PutItemCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateTopicCommand, PublishCommand } from '@aws-sdk/client-sns';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type AwsEndpoint, startAwsEndpoint } from '../../aws/endpoint.ts';
import { InjectedFaults } from '../../aws/faults.ts';
import { arnOf } from '../../aws/services.ts';
import type { ItemChange, PublishedNotification } from '../../observation.ts';
import { addRole, clientsOf, ROLE, send, signedFor } from './support.ts';

const TableName = 'cast';

const faults = new InjectedFaults();
const changes: ItemChange[] = [];
const notifications: PublishedNotification[] = [];
let endpoint: AwsEndpoint;
let role: ReturnType<typeof clientsOf>;
let operator: ReturnType<typeof clientsOf>;
let TopicArn: string | undefined;

beforeAll(async () => {
  endpoint = await startAwsEndpoint({
    port: 0,
    faults,
    observer: {
      onItemChange: (change) => changes.push(change),
      onNotification: (notification) => notifications.push(notification),
    },
  });
  addRole(endpoint);
  role = clientsOf(endpoint, ROLE);
  operator = clientsOf(endpoint);
  await operator.dynamodb.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: [{ AttributeName: 'girl_id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'girl_id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  TopicArn = (await operator.sns.send(new CreateTopicCommand({ Name: 'chat' }))).TopicArn;
});
afterAll(() => endpoint.close());
afterEach(() => {
  faults.clear();
  changes.length = 0;
  notifications.length = 0;
});

const girl = (id: string, name?: string) => ({ girl_id: { S: id }, ...(name && { name: { S: name } }) });
const put = (id: string, name: string) => new PutItemCommand({ TableName, Item: girl(id, name) });
const rename = (id: string, name: string) =>
  new UpdateItemCommand({
    TableName,
    Key: girl(id),
    UpdateExpression: 'SET #name = :name',
    ExpressionAttributeNames: { '#name': 'name' },
    ExpressionAttributeValues: { ':name': { S: name } },
  });
const remove = (id: string) => new DeleteItemCommand({ TableName, Key: girl(id) });

test.each([
  { what: 'an answer', of: TableName, status: 200 },
  { what: 'an error', of: 'none', status: 400 },
])('$what has the checksum that SDKs verify', async ({ of, status }) => {
  const answer = await send(endpoint, {
    headers: { authorization: signedFor('dynamodb'), 'x-amz-target': 'DynamoDB_20120810.DescribeTable' },
    body: JSON.stringify({ TableName: of }),
  });
  expect(answer.status).toBe(status);
  expect(answer.headers['x-amz-crc32']).toBe(String(crc32(answer.body)));
});

describe('a table', () => {
  test('is active at once, in the region of the stack', async () => {
    const { Table } = await operator.dynamodb.send(new DescribeTableCommand({ TableName }));
    expect(Table).toMatchObject({
      TableStatus: 'ACTIVE',
      TableArn: arnOf('dynamodb', 'table/cast'),
    });
  });

  test('keeps its time-to-live setting', async () => {
    const timeToLive = async (of = TableName) =>
      (await operator.dynamodb.send(new DescribeTimeToLiveCommand({ TableName: of }))).TimeToLiveDescription;
    expect(await timeToLive()).toEqual({ TimeToLiveStatus: 'DISABLED' });
    const TimeToLiveSpecification = { AttributeName: 'expires_at', Enabled: true };
    await operator.dynamodb.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    expect(await timeToLive()).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expires_at' });
    await expect(timeToLive('none')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});

describe('a failed condition', () => {
  const none = { TableName, ConditionExpression: 'attribute_not_exists(girl_id)' };
  const all = { ...none, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const };
  beforeAll(() => operator.dynamodb.send(put('taken', 'Aoi')));

  test.each([
    {
      what: 'put',
      write: () => operator.dynamodb.send(new PutItemCommand({ ...all, Item: girl('taken') })),
    },
    {
      what: 'deletion',
      write: () => operator.dynamodb.send(new DeleteItemCommand({ ...all, Key: girl('taken') })),
    },
    {
      what: 'update',
      write: () =>
        operator.dynamodb.send(
          new UpdateItemCommand({ ...all, Key: girl('taken'), UpdateExpression: 'SET a = girl_id' }),
        ),
    },
  ])('of a $what returns the existing item on request', async ({ write }) => {
    await expect(write()).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
      Item: girl('taken', 'Aoi'),
    });
  });

  test.each([
    {
      what: 'none is stored',
      input: { ...all, ConditionExpression: 'attribute_exists(girl_id)' },
      id: 'none',
    },
    { what: 'none was asked for', input: none, id: 'taken' },
  ])('returns no item if $what', async ({ input, id }) => {
    const write = operator.dynamodb.send(new PutItemCommand({ ...input, Item: girl(id) }));
    await expect(write).rejects.toMatchObject({ name: 'ConditionalCheckFailedException', Item: undefined });
  });
});

describe('a change of an item is reported', () => {
  /** The expected change of an item. Its time does not matter. */
  const changeOf = (id: string, before?: string, after?: string) => ({
    table: TableName,
    key: girl(id),
    before: before && girl(id, before),
    after: after && girl(id, after),
    at: expect.any(Date),
  });

  test('with the item before and after each write of a role', async () => {
    await role.dynamodb.send(put('g1', 'Aoi'));
    await role.dynamodb.send(rename('g1', 'Rin'));
    await role.dynamodb.send(put('g1', 'Yui'));
    await role.dynamodb.send(remove('g1'));
    expect(changes).toEqual([
      changeOf('g1', undefined, 'Aoi'),
      changeOf('g1', 'Aoi', 'Rin'),
      changeOf('g1', 'Rin', 'Yui'),
      changeOf('g1', 'Yui', undefined),
    ]);
  });

  test('not if a write does not change the item, nor for an operator', async () => {
    await operator.dynamodb.send(put('g2', 'Aoi'));
    await role.dynamodb.send(put('g2', 'Aoi'));
    await role.dynamodb.send(remove('none'));
    await operator.dynamodb.send(remove('g2'));
    expect(changes).toEqual([]);
  });

  test('not if the write is refused, and waiting writes are carried out', async () => {
    await operator.dynamodb.send(put('g3', 'Aoi'));
    const refused = new PutItemCommand({
      TableName,
      Item: girl('g3', 'Rin'),
      ConditionExpression: 'attribute_not_exists(girl_id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const [failed, , written] = await Promise.allSettled([
      role.dynamodb.send(refused),
      role.dynamodb.send(refused),
      role.dynamodb.send(put('g3', 'Yui')),
    ]);
    expect(failed).toMatchObject({
      reason: { name: 'ConditionalCheckFailedException', Item: { girl_id: { S: 'g3' } } },
    });
    expect(written).toMatchObject({ status: 'fulfilled' });
    expect(changes).toEqual([changeOf('g3', 'Aoi', 'Yui')]);
  });

  test.each([
    {
      what: 'of a table that does not exist',
      input: { TableName: 'none', Item: girl('g4') },
      name: 'ResourceNotFoundException',
    },
    {
      what: 'without a key',
      input: { TableName, Item: { name: { S: 'Aoi' } } },
      name: 'ValidationException',
    },
    { what: 'with an empty key', input: { TableName, Item: girl('') }, name: 'ValidationException' },
  ])('not for an item $what, which is refused as without an observer', async ({ input, name }) => {
    await expect(role.dynamodb.send(new PutItemCommand(input))).rejects.toMatchObject({ name });
    expect(changes).toEqual([]);
  });

  test('even if the answer to the write is lost', async () => {
    faults.inject({ service: 'dynamodb', kind: 'response-lost' });
    await expect(role.dynamodb.send(put('g6', 'Aoi'))).rejects.toThrow();
    expect(changes).toEqual([changeOf('g6', undefined, 'Aoi')]);
  });

  const keys = ['busy-1', 'busy-2'] as const;
  const write = fc.tuple(
    fc.constantFrom<(id: string, name: string) => Promise<unknown>>(
      (id, name) => role.dynamodb.send(put(id, name)),
      (id, name) => role.dynamodb.send(rename(id, name)),
      (id) => role.dynamodb.send(remove(id)),
    ),
    fc.constantFrom(...keys),
    fc.constantFrom('Aoi', 'Rin', 'Yui'),
  );

  test('with the item as the previous change left it, for any number of writes at once', async () => {
    const last = new Map<string, unknown>();
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 5, maxLength: 40 }), async (together) => {
        changes.length = 0;
        await Promise.all(together.map(([carryOut, id, name]) => carryOut(id, name)));
        for (const { key, before, after } of changes) {
          const id = String(key.girl_id?.S);
          expect(before).toEqual(last.get(id));
          expect(after).not.toEqual(before);
          last.set(id, after);
        }
      }),
      { numRuns: 20 },
    );
    expect(last.size).toBe(keys.length);
  });
});

describe('a notification is reported', () => {
  const publish = (input: object = {}) => new PublishCommand({ TopicArn, Message: 'A review', ...input });
  const attribute = (StringValue: string) => ({ DataType: 'String', StringValue });

  test('with subject, text and attributes', async () => {
    const MessageAttributes = {
      eventId: attribute('evt-1'),
      binary: { DataType: 'Binary', BinaryValue: Buffer.of(1) },
      event: attribute('review.posted'),
    };
    await role.sns.send(publish({ Subject: 'New review', MessageAttributes }));
    expect(notifications).toStrictEqual([
      {
        topicArn: TopicArn,
        subject: 'New review',
        texts: { default: 'A review' },
        attributes: { eventId: 'evt-1', event: 'review.posted' },
        at: expect.any(Date),
      },
    ]);
  });

  test('with the text for each protocol', async () => {
    const texts = { default: '{"version":1}', email: 'A review 😀\n' };
    const Message = JSON.stringify({ ...texts, other: 1 });
    await role.sns.send(publish({ MessageStructure: 'json', Message }));
    expect(notifications).toMatchObject([{ subject: '', attributes: {} }]);
    expect(notifications[0]?.texts).toEqual(texts);
  });

  test('not for an operator, nor if it is refused', async () => {
    await operator.sns.send(publish());
    await expect(role.sns.send(publish({ TopicArn: `${TopicArn}-not` }))).rejects.toThrow();
    expect(notifications).toEqual([]);
  });

  test('even if the answer is lost', async () => {
    faults.inject({ service: 'sns', kind: 'response-lost' });
    await expect(role.sns.send(publish())).rejects.toThrow();
    expect(notifications).toMatchObject([{ texts: { default: 'A review' } }]);
  });
});
