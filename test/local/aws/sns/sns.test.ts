import {
  CreateTopicCommand,
  PublishBatchCommand,
  PublishCommand,
  SubscribeCommand,
} from '@aws-sdk/client-sns';
import { CreateQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { clientsOf, STACK_REGION, startEndpoint } from '../support.ts';

let endpoint: AwsEndpoint;
let clients: ReturnType<typeof clientsOf>;
let TopicArn: string;
let QueueUrl: string;
beforeAll(async () => {
  endpoint = await startEndpoint();
  clients = clientsOf(endpoint);
  TopicArn = (await clients.sns.send(new CreateTopicCommand({ Name: 'chat' }))).TopicArn ?? '';
  QueueUrl = (await clients.sqs.send(new CreateQueueCommand({ QueueName: 'room' }))).QueueUrl ?? '';
  const Endpoint = `arn:aws:sqs:${STACK_REGION}:000000000000:room`;
  const Attributes = { RawMessageDelivery: 'true' };
  await clients.sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint, Attributes }));
});
afterAll(() => endpoint.close());

const publish = (Message: object | string, rest: object = { MessageStructure: 'json' }) =>
  clients.sns.send(
    new PublishCommand({
      TopicArn,
      Message: typeof Message === 'string' ? Message : JSON.stringify(Message),
      ...rest,
    }),
  );
async function delivered(): Promise<string | undefined> {
  const { Messages } = await clients.sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  return Messages?.[0]?.Body;
}

describe('a topic', () => {
  test('is in the region of the stack', () => {
    expect(TopicArn).toBe(`arn:aws:sns:${STACK_REGION}:000000000000:chat`);
  });
});

describe('a message to a queue', () => {
  test('is delivered as it is', async () => {
    await publish('{"default":"x"} 😀', {});
    expect(await delivered()).toBe('{"default":"x"} 😀');
  });

  test('in JSON structure is its text for queues', async () => {
    await publish({ default: 'for all', sqs: 'for queues', email: 'for people' });
    expect(await delivered()).toBe('for queues');
  });

  test('in JSON structure is its default text where there is none for queues', async () => {
    await publish({ default: 'for all', email: 'for people' });
    expect(await delivered()).toBe('for all');
  });

  test('in a batch may be in JSON structure', async () => {
    const PublishBatchRequestEntries = [
      { Id: 'a', Message: JSON.stringify({ default: 'd', sqs: 'q' }), MessageStructure: 'json' },
    ];
    await clients.sns.send(new PublishBatchCommand({ TopicArn, PublishBatchRequestEntries }));
    expect(await delivered()).toBe('q');
  });

  test.each([
    ['without a default', '{"sqs":"x"}', 'No default entry'],
    ['with a default that is no text', '{"default":1}', 'No default entry'],
    ['that is no JSON', 'plain', 'failed to parse'],
    ['whose texts are 256 KB together', { default: 'd', email: 'x'.repeat(262_144), sqs: 'q' }, 'too long'],
  ])('in JSON structure %s is refused', async (_name, message, reason) => {
    await expect(publish(message)).rejects.toMatchObject({ name: 'InvalidParameterException' });
    await expect(publish(message)).rejects.toThrow(reason);
  });
});
