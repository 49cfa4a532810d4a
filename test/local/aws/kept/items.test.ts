import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { startEndpoint } from '../support.ts';
import { clientsAt, KeptEndpoint } from './kept-endpoint.ts';

let endpoint: KeptEndpoint;
/** Gets the same calls, and never stops. */
let oracle: AwsEndpoint;

beforeAll(async () => {
  endpoint = await KeptEndpoint.start();
  oracle = await startEndpoint();
});

afterAll(async () => {
  await endpoint[Symbol.asyncDispose]();
  await oracle.close();
});

const id = fc.constantFrom('a', 'b', 'ü\u0000\u{1f980}', 'd'.repeat(300));
const shop = fc.constantFrom('one', 'two');
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });

type Step = (client: DynamoDBClient, table: string) => Promise<unknown>;

/** A write, named as what it does; some are refused. */
const step: fc.Arbitrary<{ name: string; run: Step }> = fc.oneof(
  fc.tuple(id, shop, text).map(([key, owner, name]) => ({
    name: `put ${key}`,
    run: (client: DynamoDBClient, TableName: string) =>
      client.send(
        new PutItemCommand({ TableName, Item: { id: { S: key }, shop: { S: owner }, name: { S: name } } }),
      ),
  })),
  fc.tuple(id, text).map(([key, name]) => ({
    name: `put ${key} where there is none`,
    run: (client: DynamoDBClient, TableName: string) =>
      client.send(
        new PutItemCommand({
          TableName,
          Item: { id: { S: key }, name: { S: name } },
          ConditionExpression: 'attribute_not_exists(id)',
        }),
      ),
  })),
  fc.tuple(id, shop).map(([key, owner]) => ({
    name: `count ${key}`,
    run: (client: DynamoDBClient, TableName: string) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: { id: { S: key } },
          UpdateExpression: 'SET shop = :shop ADD times :one',
          ExpressionAttributeValues: { ':shop': { S: owner }, ':one': { N: '1' } },
        }),
      ),
  })),
  id.map((key) => ({
    name: `delete ${key}`,
    run: (client: DynamoDBClient, TableName: string) =>
      client.send(new DeleteItemCommand({ TableName, Key: { id: { S: key } } })),
  })),
  fc.tuple(text, shop).map(([name, owner]) => ({
    name: 'write a batch',
    run: (client: DynamoDBClient, TableName: string) =>
      client.send(
        new BatchWriteItemCommand({
          RequestItems: {
            [TableName]: [
              { PutRequest: { Item: { id: { S: 'a' }, name: { S: name }, shop: { S: owner } } } },
              { DeleteRequest: { Key: { id: { S: 'b' } } } },
            ],
          },
        }),
      ),
  })),
);
const life = fc.array(step, { minLength: 3, maxLength: 20 });

const createTable = (client: DynamoDBClient, TableName: string) =>
  client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [
        { AttributeName: 'id', AttributeType: 'S' },
        { AttributeName: 'shop', AttributeType: 'S' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-shop',
          KeySchema: [{ AttributeName: 'shop', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    }),
  );

/** Every item, and every item by the index. */
async function contentOf(client: DynamoDBClient, TableName: string) {
  const { Items: items } = await client.send(new ScanCommand({ TableName }));
  const query = async (owner: string) => {
    const { Items } = await client.send(
      new QueryCommand({
        TableName,
        IndexName: 'by-shop',
        KeyConditionExpression: 'shop = :shop',
        ExpressionAttributeValues: { ':shop': { S: owner } },
      }),
    );
    return Items;
  };
  return { items, one: await query('one'), two: await query('two') };
}

let tables = 0;

const outcomeOf = (answer: Promise<unknown>) =>
  answer.then(
    () => 'done',
    (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
  );

test('whatever was written: after a restart a table and its index have what one has that never stopped', async () => {
  const { dynamodb: unharmed } = clientsAt(oracle.url);
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 3 }), async (lives) => {
      tables += 1;
      const table = `table-${tables}`;
      await createTable(endpoint.clients.dynamodb, table);
      await createTable(unharmed, table);
      for (const steps of lives) {
        for (const { run } of steps) {
          const outcome = await outcomeOf(run(endpoint.clients.dynamodb, table));
          expect(outcome).toBe(await outcomeOf(run(unharmed, table)));
        }
        await endpoint.restart();
        expect(await contentOf(endpoint.clients.dynamodb, table)).toEqual(await contentOf(unharmed, table));
      }
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

test('a table that was deleted stays so, and one that is made under its name is empty', async () => {
  const TableName = 'made-twice';
  const item = { TableName, Item: { id: { S: 'a' } } };
  await createTable(endpoint.clients.dynamodb, TableName);
  await endpoint.clients.dynamodb.send(new PutItemCommand(item));
  await endpoint.clients.dynamodb.send(new DeleteTableCommand({ TableName }));
  await endpoint.restart();
  const { TableNames } = await endpoint.clients.dynamodb.send(new ListTablesCommand());
  expect(TableNames).not.toContain(TableName);
  await createTable(endpoint.clients.dynamodb, TableName);
  await endpoint.restart();
  const { Item } = await endpoint.clients.dynamodb.send(
    new GetItemCommand({ TableName, Key: { id: { S: 'a' } } }),
  );
  expect(Item).toBeUndefined();
});
