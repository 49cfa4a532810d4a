import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tableKey } from '../../../lambda/effects/table-key.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { type StageConsole, startStageConsole } from './stage-console.ts';

/** Rows of a page. */
const PAGE = 50;

let aws: TestAws;
let stage: StageConsole;
let client: DynamoDBClient;

beforeAll(async () => {
  aws = await startTestAws();
  stage = await startStageConsole(aws);
  client = new DynamoDBClient(aws.operator);
});
afterAll(async () => {
  client.destroy();
  await stage[Symbol.asyncDispose]();
  await aws.close();
});

const put = (output: string, Item: PutItemCommand['input']['Item']) =>
  client.send(new PutItemCommand({ TableName: aws.outputs[output], Item }));

describe('the rows of a table', () => {
  test('come page by page, each once', async () => {
    const ids = Array.from({ length: PAGE + 10 }, (_, index) => `girl-${index}`);
    for (const id of ids) await put('CastTable', { girl_id: { S: id } });
    const { body: first } = await stage.api.get('/api/tables/CastTable');
    expect(first.rows).toHaveLength(PAGE);
    const { body: second } = await stage.api.get(
      `/api/tables/CastTable?after=${encodeURIComponent(first.next)}`,
    );
    expect(second).not.toHaveProperty('next');
    const found = [...first.rows, ...second.rows].map(({ girl_id }) => girl_id);
    expect(found.sort()).toEqual(ids.sort());
  });

  test('are found by their key, also one that is stored as its hash', async () => {
    const long = 'x'.repeat(3_000);
    await put('ShopCacheTable', { shop_id: { S: tableKey(long) }, version: { S: '1' } });
    const { status, body } = await stage.api.get(`/api/tables/ShopCacheTable?key=${long}`);
    expect({ status, body }).toEqual({
      status: 200,
      body: { rows: [{ shop_id: tableKey(long), version: '1' }] },
    });
    expect((await stage.api.get('/api/tables/ShopCacheTable?key=nobody')).body).toEqual({ rows: [] });
  });

  test('are plain JSON: a number that JavaScript cannot hold is a text', async () => {
    await put('ContactPartnerTable', {
      user_id: { S: 'user-1' },
      small: { N: '42' },
      large: { N: '12345678901234567890' },
      bytes: { B: Buffer.from('bytes') },
      set: { BS: [Buffer.from('one')] },
      nested: { M: { list: { L: [{ BOOL: true }, { NULL: true }, { N: '0.5' }] } } },
    });
    const { body } = await stage.api.get('/api/tables/ContactPartnerTable?key=user-1');
    expect(body.rows).toEqual([
      {
        user_id: 'user-1',
        small: 42,
        large: '12345678901234567890',
        bytes: 'Ynl0ZXM=',
        set: ['b25l'],
        nested: { list: [true, null, 0.5] },
      },
    ]);
  });

  test.each([
    ['/api/tables/PaymentsTable', 404],
    ['/api/tables/WebhookUrl', 404],
    ['/api/tables/CastTable?key=a&after=b', 400],
    ['/api/tables/CastTable?limit=10', 400],
  ])('as %s are %d', async (path, status) => {
    expect(await stage.api.get(path)).toMatchObject({ status, body: { status } });
  });
});
