import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { crc32 } from 'node:zlib';
import {
  CreateTableCommand,
  DeleteItemCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { clientsOf, STACK_REGION, send, signedFor, startEndpoint } from '../support.ts';

const TableName = 'cast';

let endpoint: AwsEndpoint;
let dynamodb: ReturnType<typeof clientsOf>['dynamodb'];
beforeAll(async () => {
  endpoint = await startEndpoint();
  dynamodb = clientsOf(endpoint).dynamodb;
  await dynamodb.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: [{ AttributeName: 'girl_id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'girl_id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
});
afterAll(() => endpoint.close());

test.each([
  ['an answer', { TableName }, 200],
  ['an error', { TableName: 'none' }, 400],
])('%s has the checksum that SDKs hold it against', async (_, parameters, status) => {
  const answer = await send(endpoint, {
    headers: { authorization: signedFor('dynamodb'), 'x-amz-target': 'DynamoDB_20120810.DescribeTable' },
    body: JSON.stringify(parameters),
  });
  expect(answer.status).toBe(status);
  expect(answer.headers['x-amz-crc32']).toBe(String(crc32(answer.body)));
});

/** Bytes of the buffers that something still holds. */
function heldBufferBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  for (let pass = 0; pass < 3; pass += 1) collect();
  return process.memoryUsage().arrayBuffers;
}

describe('a table', () => {
  test('is active at once, in the region of the stack', async () => {
    const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }));
    expect(Table).toMatchObject({
      TableStatus: 'ACTIVE',
      TableArn: `arn:aws:dynamodb:${STACK_REGION}:000000000000:table/cast`,
    });
  });

  test('keeps its time-to-live setting', async () => {
    const describeTimeToLive = async () =>
      (await dynamodb.send(new DescribeTimeToLiveCommand({ TableName }))).TimeToLiveDescription;
    expect(await describeTimeToLive()).toEqual({ TimeToLiveStatus: 'DISABLED' });
    const TimeToLiveSpecification = { AttributeName: 'expires_at', Enabled: true };
    await dynamodb.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    expect(await describeTimeToLive()).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expires_at' });
  });

  test('holds no more of an item than the item', async () => {
    const items = 300;
    const before = heldBufferBytes();
    for (let index = 0; index < items; index += 1) {
      await dynamodb.send(
        new PutItemCommand({
          TableName,
          Item: { girl_id: { S: `held-${index}` }, name: { S: 'x'.repeat(500) } },
        }),
      );
    }
    expect((heldBufferBytes() - before) / items).toBeLessThan(2_000);
  });

  test('tells of its backups', async () => {
    const { ContinuousBackupsDescription } = await dynamodb.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );
    expect(ContinuousBackupsDescription?.ContinuousBackupsStatus).toBe('ENABLED');
  });

  test('that does not exist has no settings', async () => {
    await expect(dynamodb.send(new DescribeTimeToLiveCommand({ TableName: 'none' }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });
});

describe('a failed condition', () => {
  const girl = { girl_id: { S: 'g1' }, name: { S: 'Aoi' } };
  beforeAll(() => dynamodb.send(new PutItemCommand({ TableName, Item: girl })));
  const condition = { TableName, ConditionExpression: 'attribute_not_exists(girl_id)' };

  const all = { ...condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const };
  test.each([
    ['a put', () => dynamodb.send(new PutItemCommand({ ...all, Item: { girl_id: { S: 'g1' } } }))],
    ['a deletion', () => dynamodb.send(new DeleteItemCommand({ ...all, Key: { girl_id: { S: 'g1' } } }))],
    [
      'an update',
      () =>
        dynamodb.send(
          new UpdateItemCommand({
            ...all,
            Key: { girl_id: { S: 'g1' } },
            UpdateExpression: 'SET a = girl_id',
          }),
        ),
    ],
  ])('of %s brings the item that was in the way, where asked', async (_name, write) => {
    await expect(write()).rejects.toMatchObject({ name: 'ConditionalCheckFailedException', Item: girl });
  });

  test('brings no item if none is stored', async () => {
    const write = {
      ...all,
      ConditionExpression: 'attribute_exists(girl_id)',
      Item: { girl_id: { S: 'none' } },
    };
    await expect(dynamodb.send(new PutItemCommand(write))).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
      Item: undefined,
    });
  });

  test('brings no item where none was asked for', async () => {
    await expect(dynamodb.send(new PutItemCommand({ ...condition, Item: girl }))).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
      Item: undefined,
    });
  });
});

describe('an error inside dynalite', () => {
  test('on a malformed request is an answer, not the end of the process', async () => {
    const headers = { authorization: signedFor('dynamodb'), 'x-amz-target': 'DynamoDB_20120810.GetItem' };
    const { status, body } = await send(endpoint, { headers, body: '{"TableName":"cast","Key":{"S":null}}' });
    expect(status).toBe(500);
    expect(body.toString()).toContain('InternalServerError');
  });

  test('in a callback of its database is an answer too', async () => {
    const internals: { checkConditional: unknown } = createRequire(import.meta.url)('dynalite/db');
    const { checkConditional } = internals;
    internals.checkConditional = () => {
      throw new Error('broken on purpose');
    };
    try {
      const put = dynamodb.send(new PutItemCommand({ TableName, Item: { girl_id: { S: 'g2' } } }));
      await expect(put).rejects.toMatchObject({
        name: 'InternalServerError',
        $metadata: { httpStatusCode: 500 },
      });
    } finally {
      internals.checkConditional = checkConditional;
    }
    const { Item } = await dynamodb.send(new GetItemCommand({ TableName, Key: { girl_id: { S: 'g1' } } }));
    expect(Item?.name).toEqual({ S: 'Aoi' });
  });
});
