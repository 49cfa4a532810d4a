import {
  CancelMessageMoveTaskCommand,
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ListDeadLetterSourceQueuesCommand,
  ListMessageMoveTasksCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { clientsOf, STACK_REGION, startEndpoint } from '../support.ts';

const arn = (name: string) => `arn:aws:sqs:${STACK_REGION}:000000000000:${name}`;
const SourceArn = arn('dead');

let endpoint: AwsEndpoint;
let sqs: ReturnType<typeof clientsOf>['sqs'];
const create = async (QueueName: string, Attributes = {}) =>
  (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? '';
let dead: string;
let source: string;
let other: string;
beforeAll(async () => {
  endpoint = await startEndpoint();
  sqs = clientsOf(endpoint).sqs;
  dead = await create('dead');
  other = await create('other');
  source = await create('source', {
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: SourceArn, maxReceiveCount: 3 }),
  });
});
afterAll(() => endpoint.close());
beforeEach(() =>
  Promise.all([dead, source, other].map((QueueUrl) => sqs.send(new PurgeQueueCommand({ QueueUrl })))),
);

async function fill(messages: number): Promise<void> {
  const MessageAttributes = { event: { DataType: 'String', StringValue: 'shop.updated' } };
  for (let number = 1; number <= messages; number += 1) {
    await sqs.send(
      new SendMessageCommand({ QueueUrl: dead, MessageBody: `message ${number}`, MessageAttributes }),
    );
  }
}
async function countIn(QueueUrl: string): Promise<number> {
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
  return Number(Attributes?.ApproximateNumberOfMessages);
}
async function latestTask() {
  const { Results } = await sqs.send(new ListMessageMoveTasksCommand({ SourceArn }));
  return Results?.[0];
}
async function finished() {
  for (;;) {
    const task = await latestTask();
    if (task?.Status !== 'RUNNING' && task?.Status !== 'CANCELLING') return task;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('a message move', () => {
  test('returns messages with their attributes to the queue whose dead-letter queue it is', async () => {
    await fill(12);
    await sqs.send(new StartMessageMoveTaskCommand({ SourceArn }));
    expect(await finished()).toMatchObject({
      Status: 'COMPLETED',
      ApproximateNumberOfMessagesMoved: 12,
      ApproximateNumberOfMessagesToMove: 12,
    });
    expect([await countIn(dead), await countIn(source)]).toEqual([0, 12]);
    const received = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: source, MessageAttributeNames: ['All'] }),
    );
    expect(received.Messages?.[0]).toMatchObject({
      Body: 'message 1',
      MessageAttributes: { event: { StringValue: 'shop.updated' } },
    });
  });

  test('goes to the named destination', async () => {
    await fill(1);
    await sqs.send(new StartMessageMoveTaskCommand({ SourceArn, DestinationArn: arn('other') }));
    await finished();
    expect(await countIn(other)).toBe(1);
  });

  test('at a rate can be watched, is alone, and can be cancelled', async () => {
    await fill(5);
    const start = new StartMessageMoveTaskCommand({ SourceArn, MaxNumberOfMessagesPerSecond: 1 });
    const { TaskHandle } = await sqs.send(start);
    expect(await latestTask()).toMatchObject({
      Status: 'RUNNING',
      TaskHandle,
      MaxNumberOfMessagesPerSecond: 1,
    });
    await expect(sqs.send(start)).rejects.toMatchObject({ name: 'UnsupportedOperation' });
    await sqs.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
    expect((await finished())?.Status).toBe('CANCELLED');
    expect(await countIn(dead)).toBeGreaterThan(0);
  });

  test.each([
    ['from a queue that does not exist', arn('none'), 'ResourceNotFoundException'],
    ['from a queue that is no dead-letter queue', arn('other'), 'InvalidParameterValue'],
  ])('%s is refused', async (_name, from, Code) => {
    await expect(sqs.send(new StartMessageMoveTaskCommand({ SourceArn: from }))).rejects.toMatchObject({
      Code,
    });
  });
});

describe('a dead-letter queue', () => {
  test('knows the queues that it serves', async () => {
    const { queueUrls } = await sqs.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: dead }));
    expect(queueUrls).toEqual([source]);
  });
});
