import {
  CreateTableCommand,
  DeleteItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateTopicCommand, PublishCommand } from '@aws-sdk/client-sns';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type AwsEndpoint, startAwsEndpoint } from '../../../local/aws/endpoint.ts';
import { Faults } from '../../../local/aws/faults.ts';
import type { PublishedNotification, RowChange } from '../../../local/observation.ts';
import { clientsOf, STACK_REGION } from './support.ts';

const ROLE = 'AKIAROLE';
const TableName = 'cast';

const faults = new Faults();
const rows: RowChange[] = [];
const notifications: PublishedNotification[] = [];
let endpoint: AwsEndpoint;
let role: ReturnType<typeof clientsOf>;
let operator: ReturnType<typeof clientsOf>;
let TopicArn: string | undefined;

beforeAll(async () => {
  endpoint = await startAwsEndpoint({
    port: 0,
    region: STACK_REGION,
    faults,
    observer: {
      onRow: (change) => rows.push(change),
      onNotification: (notification) => notifications.push(notification),
    },
  });
  const statements = [{ Effect: 'Allow' as const, Action: '*', Resource: '*' }];
  endpoint.addPrincipals([{ name: 'ConsumerRole', accessKeyId: ROLE, statements }]);
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
  rows.length = 0;
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

/** What a change says, but for its moment. */
const changeOf = (id: string, before?: string, after?: string) => ({
  table: TableName,
  key: girl(id),
  before: before && girl(id, before),
  after: after && girl(id, after),
  at: expect.any(Date),
});

describe('of a row is told', () => {
  test('how each write of a role changed it', async () => {
    await role.dynamodb.send(put('g1', 'Aoi'));
    await role.dynamodb.send(rename('g1', 'Rin'));
    await role.dynamodb.send(put('g1', 'Yui'));
    await role.dynamodb.send(remove('g1'));
    expect(rows).toEqual([
      changeOf('g1', undefined, 'Aoi'),
      changeOf('g1', 'Aoi', 'Rin'),
      changeOf('g1', 'Rin', 'Yui'),
      changeOf('g1', 'Yui', undefined),
    ]);
  });

  test('nothing where a write leaves it as it is', async () => {
    await operator.dynamodb.send(put('g2', 'Aoi'));
    await role.dynamodb.send(put('g2', 'Aoi'));
    await role.dynamodb.send(remove('none'));
    expect(rows).toEqual([]);
  });

  test('nothing of a write that is refused, and those behind it are carried out', async () => {
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
    expect(rows).toEqual([changeOf('g3', 'Aoi', 'Yui')]);
  });

  test.each([
    ['a table that does not exist', { TableName: 'none', Item: girl('g4') }, 'ResourceNotFoundException'],
    ['an item without its key', { TableName, Item: { name: { S: 'Aoi' } } }, 'ValidationException'],
    ['an item with an empty key', { TableName, Item: girl('') }, 'ValidationException'],
  ])('nothing of %s, which is refused as ever', async (_, input, name) => {
    await expect(role.dynamodb.send(new PutItemCommand(input))).rejects.toMatchObject({ name });
    expect(rows).toEqual([]);
  });

  test('nothing of what an operator does to it', async () => {
    await operator.dynamodb.send(put('g5', 'Aoi'));
    await operator.dynamodb.send(remove('g5'));
    expect(rows).toEqual([]);
  });

  test('the write whose answer is lost', async () => {
    faults.inject({ service: 'dynamodb', kind: 'response-lost' });
    await expect(role.dynamodb.send(put('g6', 'Aoi'))).rejects.toThrow();
    expect(rows).toEqual([changeOf('g6', undefined, 'Aoi')]);
  });

  const keys = ['busy-1', 'busy-2'] as const;
  const writes = {
    put: (id: string, name: string) => role.dynamodb.send(put(id, name)),
    rename: (id: string, name: string) => role.dynamodb.send(rename(id, name)),
    remove: (id: string) => role.dynamodb.send(remove(id)),
  };
  const someWrite = fc.record({
    kind: fc.constantFrom('put' as const, 'rename' as const, 'remove' as const),
    id: fc.constantFrom(...keys),
    name: fc.constantFrom('Aoi', 'Rin', 'Yui'),
  });

  test('what it was as the change before left it, however many writes come at once', async () => {
    const last = new Map<string, unknown>();
    await fc.assert(
      fc.asyncProperty(fc.array(someWrite, { minLength: 5, maxLength: 40 }), async (together) => {
        rows.length = 0;
        await Promise.all(together.map(({ kind, id, name }) => writes[kind](id, name)));
        for (const { key, before, after } of rows) {
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

describe('of a notification is told', () => {
  const publish = (input: object) => new PublishCommand({ TopicArn, Message: 'A review', ...input });
  const attribute = (StringValue: string) => ({ DataType: 'String', StringValue });

  test('its subject, its text and its attributes', async () => {
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

  test('what people get by each protocol', async () => {
    const texts = { default: '{"version":1}', email: 'A review 😀\n' };
    await role.sns.send(
      publish({ MessageStructure: 'json', Message: JSON.stringify({ ...texts, other: 1 }) }),
    );
    expect(notifications).toMatchObject([{ subject: '', texts, attributes: {} }]);
    expect(notifications[0]?.texts).toEqual(texts);
  });

  test.each([
    ['a topic that does not exist', () => publish({ TopicArn: `${TopicArn}-not` })],
    ['a message without a default', () => publish({ MessageStructure: 'json', Message: '{}' })],
  ])('nothing where it is refused: %s', async (_, command) => {
    await expect(role.sns.send(command())).rejects.toThrow();
    expect(notifications).toEqual([]);
  });

  test('nothing of what an operator publishes', async () => {
    await operator.sns.send(publish({}));
    expect(notifications).toEqual([]);
  });

  test('that it was published, where only the answer is lost', async () => {
    faults.inject({ service: 'sns', kind: 'response-lost' });
    await expect(role.sns.send(publish({}))).rejects.toThrow();
    expect(notifications).toMatchObject([{ texts: { default: 'A review' } }]);
  });
});
