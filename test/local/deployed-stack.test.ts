import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import {
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { StackChanges } from '../../local/deployed-stack.ts';
import type { LocalStack } from '../../local/local-stack.ts';
import { readCloudAssembly, type Template } from '../../local/template/cloud-assembly.ts';
import { eventually } from '../support/eventually.ts';
import { Partner } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { Tables } from '../support/tables.ts';
import { startTestStack, testAssembly } from '../support/test-stack.ts';

type Changed = Template['Resources'];

let folder: string;
let stack: LocalStack;
let queues: Queues;
let tables: Tables;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-update-'));
  stack = await startTestStack();
  queues = new Queues(stack.operator);
  tables = new Tables(stack.operator);
});

afterAll(async () => {
  await stack?.close();
  await rm(folder, { recursive: true });
});

/** Restores the template that the stack was started with. */
beforeEach(async () => {
  await stack.update(testAssembly());
});

let count = 0;

/** Updates the stack with a changed template. */
async function update(change: (resources: Changed) => void): Promise<StackChanges> {
  count += 1;
  const assembly = join(folder, String(count));
  await cp(testAssembly(), assembly, { recursive: true });
  const file = join(assembly, `${readCloudAssembly(assembly).name}.template.json`);
  const template = JSON.parse(await readFile(file, 'utf8'));
  change(template.Resources);
  await writeFile(file, JSON.stringify(template));
  return stack.update(assembly);
}

/** The resource whose logical id contains this text. */
function named(resources: Changed, type: string, prefix: string): [string, Changed[string]] {
  const found = Object.entries(resources).find(([id, { Type }]) => Type === type && id.includes(prefix));
  if (found === undefined) throw new Error(`No ${type} ${prefix}`);
  return found;
}

const queue = (resources: Changed, prefix: string) => named(resources, 'AWS::SQS::Queue', prefix);

async function visibilityTimeout(): Promise<string | undefined> {
  const { Attributes } = await queues.client.send(
    new GetQueueAttributesCommand({
      QueueUrl: stack.outputs.ShopUpdatedQueueUrl,
      AttributeNames: ['VisibilityTimeout'],
    }),
  );
  return Attributes?.VisibilityTimeout;
}

let shops = 0;

/** Posts a delivery. @returns when it is processed */
async function deliver(): Promise<void> {
  shops += 1;
  const shop = { shop_id: `shop-${shops}` };
  const delivery = { event: 'shop.updated', data: shop, timestamp: '2026-01-31T09:00:00Z' };
  const { status } = await new Partner(stack.outputs.WebhookUrl).post(delivery);
  expect(status).toBe(200);
  await eventually(() => tables.get(stack.outputs.ShopCacheTable, shop));
}

test('the same template changes nothing', async () => {
  expect(await stack.update(testAssembly())).toEqual({ resources: [], changed: [], failed: new Map() });
});

describe('a changed template', () => {
  test('gives a queue its settings, and the queue keeps its messages', async () => {
    const QueueUrl = stack.outputs.QuarantineQueueUrl;
    await queues.client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'stays' }));
    const { resources } = await update((all) => {
      Object.assign(queue(all, 'ShopUpdatedQueue')[1].Properties, { VisibilityTimeout: 77 });
    });
    expect(resources).toMatchObject([{ kind: 'changed', type: 'AWS::SQS::Queue' }]);
    expect(await visibilityTimeout()).toBe('77');
    expect((await queues.take(QueueUrl)).Body).toBe('stays');
    await deliver();
  });

  test('changes the variables of only one function', async () => {
    const changes = await update((all) => {
      const [, { Properties }] = named(all, 'AWS::Lambda::Function', 'ShopUpdated');
      const { Environment } = Properties as { Environment: { Variables: Record<string, string> } };
      Environment.Variables.FIRST_RETRY_DELAY_SECONDS = '7';
    });
    expect(changes).toEqual({ resources: [], changed: ['shop-updated'], failed: new Map() });
    expect(stack.functions.get('shop-updated')?.definition.environment.FIRST_RETRY_DELAY_SECONDS).toBe('7');
    await deliver();
  });

  test('delays or loses no delivery', async () => {
    const SENDERS = 4;
    let isUpdating = true;
    let delivered = 0;
    const send = async () => {
      while (isUpdating) {
        await deliver();
        delivered += 1;
      }
    };
    const sending = Promise.all(Array.from({ length: SENDERS }, send));
    const { changed } = await update((all) => {
      for (const [, { Type, Properties }] of Object.entries(all)) {
        if (Type === 'AWS::Lambda::Function') Object.assign(Properties, { Timeout: 21 });
        if (Type === 'AWS::SQS::Queue') Object.assign(Properties, { VisibilityTimeout: 140 });
        if (Type === 'AWS::Lambda::EventSourceMapping') Object.assign(Properties, { BatchSize: 5 });
      }
    });
    isUpdating = false;
    await sending;
    expect(changed).toContain('receiver');
    expect(delivered).toBeGreaterThanOrEqual(SENDERS);
  });

  test('restarts a changed event source, which stays paused', async () => {
    const lambda = new LambdaClient(stack.operator);
    const mapping = async () => {
      const { EventSourceMappings = [] } = await lambda.send(new ListEventSourceMappingsCommand({}));
      return EventSourceMappings.find(({ EventSourceArn }) => EventSourceArn?.includes('ShopUpdatedQueue'));
    };
    const before = await mapping();
    await lambda.send(new UpdateEventSourceMappingCommand({ UUID: before?.UUID, Enabled: false }));
    await eventually(async () => (await mapping())?.State === 'Disabled' || undefined);
    await update((all) => {
      Object.assign(named(all, 'AWS::Lambda::EventSourceMapping', 'ShopUpdated')[1].Properties, {
        BatchSize: 3,
      });
    });
    expect(
      await eventually(async () => ((await mapping())?.State === 'Disabled' ? mapping() : undefined)),
    ).toMatchObject({
      UUID: before?.UUID,
      BatchSize: 3,
    });
    await lambda.send(new UpdateEventSourceMappingCommand({ UUID: before?.UUID, Enabled: true }));
    await deliver();
  });

  test('removes an alarm', async () => {
    const cloudWatch = new CloudWatchClient(stack.operator);
    const alarms = async () => (await cloudWatch.send(new DescribeAlarmsCommand({}))).MetricAlarms?.length;
    const before = Number(await alarms());
    const { resources } = await update((all) => {
      const [alarm] = named(all, 'AWS::CloudWatch::Alarm', '');
      delete all[alarm];
    });
    expect(resources).toMatchObject([{ kind: 'removed', type: 'AWS::CloudWatch::Alarm' }]);
    expect(await alarms()).toBe(before - 1);
  });

  test('removes an event source; its messages wait until the template has it again', async () => {
    const { resources } = await update((all) => {
      const [mapping] = named(all, 'AWS::Lambda::EventSourceMapping', 'ShopUpdated');
      delete all[mapping];
    });
    expect(resources).toMatchObject([{ kind: 'removed', type: 'AWS::Lambda::EventSourceMapping' }]);
    const { EventSourceMappings = [] } = await new LambdaClient(stack.operator).send(
      new ListEventSourceMappingsCommand({}),
    );
    expect(EventSourceMappings.map(({ EventSourceArn }) => EventSourceArn).join()).not.toContain(
      'ShopUpdated',
    );
    // A receive in progress still gets messages, for two seconds.
    await sleep(2_500);
    const delivered = deliver();
    await eventually(async () => (await queues.count(stack.outputs.ShopUpdatedQueueUrl)) === 1 || undefined);
    await stack.update(testAssembly());
    await delivered;
  });
});

describe('a template that cannot be run does not change the stack:', () => {
  const unchanged = async () => {
    expect(await visibilityTimeout()).not.toBe('77');
    await deliver();
  };

  test('with an unknown intrinsic function', async () => {
    await expect(
      update((all) => {
        Object.assign(queue(all, 'ShopUpdatedQueue')[1].Properties, { VisibilityTimeout: 'x' });
      }),
    ).rejects.toThrow(/cannot run AWS::SQS::Queue/);
    await unchanged();
  });

  test('with other keys of a table', async () => {
    await expect(
      update((all) => {
        Object.assign(queue(all, 'ShopUpdatedQueue')[1].Properties, { VisibilityTimeout: 77 });
        const [, { Properties }] = named(all, 'AWS::DynamoDB::Table', 'Cast');
        Object.assign(Properties, {
          KeySchema: [{ AttributeName: 'other', KeyType: 'HASH' }],
          AttributeDefinitions: [{ AttributeName: 'other', AttributeType: 'S' }],
        });
      }),
    ).rejects.toThrow('other keys or indexes in the template than the existing table');
    await unchanged();
  });

  test('whose API fails after everything else was updated', async () => {
    const before = stack.functions.get('receiver')?.definition;
    await expect(
      update((all) => {
        Object.assign(queue(all, 'ShopUpdatedQueue')[1].Properties, { VisibilityTimeout: 77 });
        Object.assign(named(all, 'AWS::Lambda::Function', 'Receiver')[1].Properties, { Timeout: 21 });
        Object.assign(named(all, 'AWS::ApiGatewayV2::Route', '')[1].Properties, { RouteKey: '$default' });
      }),
    ).rejects.toThrow("The route key '$default' is not supported");
    await unchanged();
    expect(stack.functions.get('receiver')?.definition).toEqual(before);
  });
});
