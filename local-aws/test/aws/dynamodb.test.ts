import { crc32 } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Dynalite } from '../../aws/dynamodb/dynamodb.ts';
import { InjectedFaults } from '../../aws/faults.ts';
import { arnOf } from '../../aws/service-forms.ts';
import { type AwsCaller, awsCaller } from '../../aws-caller.ts';
import type { ItemChange, PublishedNotification } from '../../observation.ts';
import { addRole, ROLE, send, signedFor, startEndpoint } from '../support.ts';

const TableName = 'cast';

const faults = new InjectedFaults();
const changes: ItemChange[] = [];
const notifications: PublishedNotification[] = [];
let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let role: AwsCaller;
let operator: AwsCaller;
const TopicArn = arnOf('sns', 'chat');
beforeAll(async () => {
  endpoint = await startEndpoint({
    faults,
    observer: {
      onItemChange: (change) => changes.push(change),
      onNotification: (notification) => notifications.push(notification),
    },
  });
  addRole(endpoint);
  role = awsCaller(endpoint.url, ROLE);
  operator = awsCaller(endpoint.url, 'operator');
  await operator.json('dynamodb', 'CreateTable', {
    TableName,
    AttributeDefinitions: [{ AttributeName: 'girl_id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'girl_id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  await operator.form('sns', { Action: 'CreateTopic', Name: 'chat' });
});
afterAll(() => endpoint.close());
afterEach(() => {
  faults.clear();
  changes.length = 0;
  notifications.length = 0;
});

const girl = (id: string, name?: string) => ({ girl_id: { S: id }, ...(name && { name: { S: name } }) });
/** Writes to the table, as a role by default. */
const write = (operation: string, input: object, as = role) =>
  as.json('dynamodb', operation, { TableName, ...input });
const put = (id: string, name: string, as = role) => write('PutItem', { Item: girl(id, name) }, as);
const rename = (id: string, name: string) =>
  write('UpdateItem', {
    Key: girl(id),
    UpdateExpression: 'SET #name = :name',
    ExpressionAttributeNames: { '#name': 'name' },
    ExpressionAttributeValues: { ':name': { S: name } },
  });
const remove = (id: string, as = role) => write('DeleteItem', { Key: girl(id) }, as);

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

test('a table is active at once, in the region of the stack', async () => {
  const TableArn = arnOf('dynamodb', 'table/cast');
  expect(await write('DescribeTable', {})).toMatchObject({ Table: { TableStatus: 'ACTIVE', TableArn } });
});

describe('a failed condition', () => {
  const none = { ConditionExpression: 'attribute_not_exists(girl_id)' };
  const all = { ...none, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
  beforeAll(() => put('taken', 'Aoi', operator));

  /** @returns the item in the error of a refused write */
  async function itemOf(operation: string, input: object) {
    const { body } = await send(endpoint, {
      headers: { authorization: signedFor('dynamodb'), 'x-amz-target': `DynamoDB_20120810.${operation}` },
      body: JSON.stringify({ TableName, ...input }),
    });
    const { __type, Item } = JSON.parse(body.toString());
    expect(__type).toMatch(/ConditionalCheckFailedException$/);
    return Item;
  }

  const taken = { Key: girl('taken'), UpdateExpression: 'SET a = girl_id' };
  const absent = { ...all, ConditionExpression: 'attribute_exists(girl_id)', Item: girl('none') };
  test.each<[operation: string, input: object, hasItem: boolean]>([
    ['PutItem', { ...all, Item: girl('taken') }, true],
    ['DeleteItem', { ...all, Key: girl('taken') }, true],
    ['UpdateItem', { ...all, ...taken }, true],
    ['PutItem', { ...none, Item: girl('taken') }, false],
    ['PutItem', absent, false],
  ])('of %s has the existing item on request: %j', async (operation, input, hasItem) => {
    expect(await itemOf(operation, input)).toEqual(hasItem ? girl('taken', 'Aoi') : undefined);
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
    await put('g1', 'Aoi');
    await rename('g1', 'Rin');
    await put('g1', 'Yui');
    await remove('g1');
    expect(changes).toEqual([
      changeOf('g1', undefined, 'Aoi'),
      changeOf('g1', 'Aoi', 'Rin'),
      changeOf('g1', 'Rin', 'Yui'),
      changeOf('g1', 'Yui', undefined),
    ]);
  });

  test('not if a write does not change the item, nor for an operator', async () => {
    await put('g2', 'Aoi', operator);
    await put('g2', 'Aoi');
    await remove('none');
    await remove('g2', operator);
    expect(changes).toEqual([]);
  });

  test('not if the write is refused, and waiting writes are carried out', async () => {
    await put('g3', 'Aoi', operator);
    const refuse = () =>
      write('PutItem', {
        Item: girl('g3', 'Rin'),
        ConditionExpression: 'attribute_not_exists(girl_id)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
    const results = await Promise.allSettled([refuse(), refuse(), put('g3', 'Yui')]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(changes).toEqual([changeOf('g3', 'Aoi', 'Yui')]);
  });

  test('even if the answer to the write is lost', async () => {
    faults.inject({ service: 'dynamodb', kind: 'response-lost' });
    await expect(put('g6', 'Aoi')).rejects.toThrow();
    expect(changes).toEqual([changeOf('g6', undefined, 'Aoi')]);
  });

  test('with the item as the previous change left it, for any number of writes at once', async () => {
    const writes = ['Aoi', 'Rin', 'Yui', 'Aoi'].flatMap((name) => [
      put('busy', name),
      rename('busy', `${name}!`),
    ]);
    await Promise.all([...writes, remove('busy'), put('busy', 'Rin')]);
    expect(changes.length).toBeGreaterThan(2);
    expect(changes.map(({ before }) => before)).toEqual([
      undefined,
      ...changes.slice(0, -1).map(({ after }) => after),
    ]);
  });
});

describe('a notification is reported', () => {
  const publish = (fields: Record<string, string> = {}, as = role) =>
    as.form('sns', { Action: 'Publish', TopicArn, Message: 'A review', ...fields });

  test('with subject, text and attributes', async () => {
    const attributes = [
      ['eventId', 'String', 'StringValue', 'evt-1'],
      ['binary', 'Binary', 'BinaryValue', 'AQ=='],
      ['event', 'String', 'StringValue', 'review.posted'],
    ].flatMap(([name = '', type = '', field, value = ''], index) => {
      const entry = `MessageAttributes.entry.${index + 1}`;
      return [
        [`${entry}.Name`, name],
        [`${entry}.Value.DataType`, type],
        [`${entry}.Value.${field}`, value],
      ];
    });
    await publish({ Subject: 'New review', ...Object.fromEntries(attributes) });
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
    await publish({ MessageStructure: 'json', Message: JSON.stringify({ ...texts, other: 1 }) });
    expect(notifications).toMatchObject([{ subject: '', texts, attributes: {} }]);
  });

  test('not for an operator, nor if it is refused', async () => {
    await publish({}, operator);
    await expect(publish({ TopicArn: `${TopicArn}-not` })).rejects.toThrow();
    expect(notifications).toEqual([]);
  });
});

test('an internal error of dynalite is an answer, also to later calls, and the process goes on', async () => {
  const dynalite = new Dynalite();
  // The endpoint refuses this request before dynalite, because `S` must be a text.
  const broken = () => dynalite.call('GetItem', { TableName: 'cast', Key: { S: null } });
  const answer = { code: 'InternalServerError', message: expect.stringContaining('the tables are lost') };
  await expect(Promise.allSettled([broken(), dynalite.call('ListTables', {})])).resolves.toMatchObject([
    { reason: answer },
    {},
  ]);
  await expect(dynalite.call('ListTables', {})).rejects.toMatchObject(answer);
  await dynalite.close();
});
