import assert from 'node:assert/strict';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DeleteFunctionConcurrencyCommand,
  LambdaClient,
  ListFunctionsCommand,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import { Partner } from '../acceptance/partner.ts';
import { readTarget } from '../acceptance/target.ts';
import { readWebhookSecret } from '../acceptance/webhook-secret.ts';
import { eventually } from '../support/eventually.ts';
import type { ClientSettings } from './emulator.ts';

const SHOP = 'shortage';

/**
 * Takes the receiver all its concurrency. A delivery must be answered 500, as the receiver answers it, and must
 * have its effect when it is repeated after the shortage.
 * @throws Error with what was otherwise
 */
export async function mustOutlastShortage(settings: ClientSettings, outputsFile: string): Promise<void> {
  const { stackName, outputs } = readTarget(outputsFile);
  const secret = await readWebhookSecret(outputs.WebhookSecretArn, settings);
  const partner = new Partner(outputs.WebhookUrl, secret);
  const event = {
    event: 'shop.updated',
    data: { shop_id: SHOP },
    timestamp: '2026-01-31T09:00:00Z',
  };
  const lambda = new LambdaClient(settings);
  const { Functions = [] } = await lambda.send(new ListFunctionsCommand());
  const FunctionName = Functions.map(({ FunctionName: name = '' }) => name).find((name) =>
    name.startsWith(`${stackName}-Receiver`),
  );
  await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 0 }));
  const during = await partner.post(event);
  await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  const { status, contentType, body } = during;
  assert.deepEqual(
    { status, contentType, title: body.title },
    { status: 500, contentType: 'application/problem+json', title: 'Server error' },
  );
  assert.equal((await partner.post(event)).status, 200);
  const dynamodb = new DynamoDBClient(settings);
  const row = { TableName: outputs.ShopCacheTable, Key: { shop_id: { S: SHOP } } };
  await eventually(async () => (await dynamodb.send(new GetItemCommand(row))).Item);
}
