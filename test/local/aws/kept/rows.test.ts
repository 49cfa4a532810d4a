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
import { eventually } from '../../../support/eventually.ts';
import { startEndpoint } from '../support.ts';
import { clientsAt, KeptEndpoint } from './kept-endpoint.ts';

const PATIENCE = 180_000;

let endpoint: KeptEndpoint;
/** Is told the same, and never killed. */
let oracle: AwsEndpoint;

beforeAll(async () => {
  endpoint = await KeptEndpoint.start();
  oracle = await startEndpoint();
}, PATIENCE);

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

/** Every row, and every row by the index. */
async function contentOf(client: DynamoDBClient, TableName: string) {
  const { Items: rows } = await client.send(new ScanCommand({ TableName }));
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
  return { rows, one: await query('one'), two: await query('two') };
}

let tables = 0;

const outcomeOf = (answer: Promise<unknown>) =>
  answer.then(
    () => 'done',
    (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
  );

test(
  'whatever was written: when the process is killed, a table and its index have what one has that never was',
  async () => {
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
  },
  PATIENCE,
);

test(
  'killed while rows are written: each write that was acknowledged is there, and the index agrees with the table',
  async () => {
    for (const enough of [5, 30, 100]) {
      tables += 1;
      const TableName = `table-${tables}`;
      await createTable(endpoint.clients.dynamodb, TableName);
      let acknowledged = 0;
      const work = Array.from({ length: 20 }, async (_, index) => {
        for (;;) {
          await endpoint.clients.dynamodb.send(
            new UpdateItemCommand({
              TableName,
              Key: { id: { S: 'counter' } },
              UpdateExpression: 'SET shop = :shop ADD times :one',
              ExpressionAttributeValues: { ':shop': { S: index % 2 ? 'one' : 'two' }, ':one': { N: '1' } },
            }),
          );
          acknowledged += 1;
        }
      });
      const settled = Promise.allSettled(work);
      await eventually(async () => (acknowledged >= enough ? true : undefined), { interval: 1 });
      await endpoint.kill();
      await settled;
      await endpoint.start();

      const { rows, one = [], two = [] } = await contentOf(endpoint.clients.dynamodb, TableName);
      expect(rows).toEqual([...one, ...two]);
      // Of each of the twenty the last one may be done, and not acknowledged.
      expect(Number(rows?.[0]?.times?.N ?? 0)).toBeGreaterThanOrEqual(acknowledged);
      expect(Number(rows?.[0]?.times?.N ?? 0)).toBeLessThanOrEqual(acknowledged + 20);
    }
  },
  PATIENCE,
);

test(
  'a table that was deleted stays so, and one that is made under its name is empty',
  async () => {
    const TableName = 'made-twice';
    const row = { TableName, Item: { id: { S: 'a' } } };
    await createTable(endpoint.clients.dynamodb, TableName);
    await endpoint.clients.dynamodb.send(new PutItemCommand(row));
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
  },
  PATIENCE,
);
