import { CreateTopicCommand, PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../aws/endpoint.ts';
import { arnOf } from '../../aws/services.ts';
import { eventually } from '../eventually.ts';
import { send, settingsOf, signedFor, startEndpoint, subscribe } from './support.ts';

let endpoint: AwsEndpoint;
let clients: { sqs: SQSClient; sns: SNSClient };
let count = 0;
/** Name of the test's own queue. */
let name: string;
let QueueUrl: string;
beforeAll(async () => {
  endpoint = await startEndpoint();
  const settings = settingsOf(endpoint);
  clients = { sqs: new SQSClient(settings), sns: new SNSClient(settings) };
});
beforeEach(async () => {
  count += 1;
  name = `queue-${count}`;
  QueueUrl = await createQueue(name);
});
afterAll(() => endpoint.close());

async function createQueue(QueueName: string, Attributes = {}): Promise<string> {
  const { QueueUrl: url = '' } = await clients.sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  return url;
}
const sendBody = (MessageBody: string, rest: object = {}) =>
  clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...rest }));
async function receive(rest: object = {}): Promise<Message | undefined> {
  return (await clients.sqs.send(new ReceiveMessageCommand({ QueueUrl, ...rest }))).Messages?.[0];
}

test('a queue has the same address for every client, reachable as localhost', async () => {
  const got = await clients.sqs.send(new GetQueueUrlCommand({ QueueName: name }));
  const listed = await clients.sqs.send(new ListQueuesCommand({ QueueNamePrefix: name }));
  const address = `${endpoint.url}/000000000000/${name}`;
  expect([QueueUrl, got.QueueUrl, listed.QueueUrls?.[0]]).toEqual([address, address, address]);
});

describe('a message', () => {
  test('comes back as sent', async () => {
    const body = 'emoji 😀 and 𝒜, tab\tline\nreturn\r, \uFFFD';
    await sendBody(body);
    expect(await receive()).toMatchObject({ Body: body });
  });

  test('returns the requested attributes, and no others', async () => {
    const MessageAttributes = { event: { DataType: 'String', StringValue: 'shop.updated 😀' } };
    await sendBody('one', { MessageAttributes });
    await sendBody('two', { MessageAttributes });
    expect((await receive())?.MessageAttributes).toBeUndefined();
    expect((await receive({ MessageAttributeNames: ['All'] }))?.MessageAttributes).toEqual(MessageAttributes);
  });

  test('that is refused in a batch does not affect the others', async () => {
    const Entries = [
      { Id: 'good', MessageBody: 'x' },
      { Id: 'bad', MessageBody: 'x', MessageGroupId: 'a b' },
      { Id: 'worse', MessageBody: '\u0000' },
    ];
    const answer = await clients.sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    expect(answer).toMatchObject({
      Successful: [{ Id: 'good' }],
      Failed: [
        { Id: 'worse', Code: 'InvalidMessageContents' },
        { Id: 'bad', Code: 'InvalidParameterValue' },
      ],
    });
  });
});

describe('a refused request', () => {
  test('in the old query protocol is answered in its format with advice', async () => {
    const body = 'Action=TagQueue&Version=2012-11-05';
    const answer = await send(endpoint, { headers: { authorization: signedFor('sqs') }, body });
    expect(answer.status).toBe(400);
    expect(answer.body.toString()).toMatch(
      /^<\?xml version="1.0"\?><ErrorResponse xmlns="http:\/\/queue.amazonaws.com\/doc\/2012-11-05\/"><Error><Type>Sender<\/Type><Code>UnsupportedProtocol<\/Code><Message>.*X-Amz-Target: AmazonSQS.TagQueue\.</,
    );
  });

  test('has the error code of the old query protocol, too, by which SDKs name it', async () => {
    const nothing = clients.sqs.send(new GetQueueUrlCommand({ QueueName: 'nothing' }));
    await expect(nothing).rejects.toMatchObject({
      name: 'QueueDoesNotExist',
      Code: 'AWS.SimpleQueueService.NonExistentQueue',
    });
  });
});

describe('inspecting a queue', () => {
  const inspect = () => endpoint.inspectQueue(QueueUrl);

  test('shows a message as it was sent, removes nothing, and takes no message from its receiver', async () => {
    const MessageAttributes = {
      eventId: { DataType: 'String', StringValue: 'evt-1' },
      binary: { DataType: 'Binary', BinaryValue: Buffer.of(1) },
    };
    const { MessageId: id } = await sendBody('order 😀', { MessageAttributes });
    const shown = { id, body: 'order 😀', sentAt: expect.any(Date), attributes: { eventId: 'evt-1' } };
    await Promise.all([inspect(), inspect()]);
    expect(await inspect()).toStrictEqual([{ ...shown, receives: 0, state: 'waiting' }]);
    const { ReceiptHandle } = (await receive()) ?? {};
    expect(await inspect()).toStrictEqual([{ ...shown, receives: 1, state: 'in flight' }]);
    await clients.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    expect(await inspect()).toEqual([]);
  });

  const states = async () => (await inspect()).map(({ body, state }) => `${body}: ${state}`);

  test('sorts by time of sending, in any state', async () => {
    const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
    await sendBody('first', { DelaySeconds: 60 });
    await pause();
    await sendBody('second');
    await pause();
    await sendBody('third');
    await receive();
    expect(await states()).toEqual(['first: delayed', 'second: in flight', 'third: waiting']);
  });

  test('shows a message as waiting when its time is over', async () => {
    await sendBody('received');
    await receive({ VisibilityTimeout: 1 });
    await sendBody('delayed', { DelaySeconds: 1 });
    await eventually(async () => (await states()).every((text) => text.endsWith('waiting')) || undefined);
  });

  test('is an error if the queue does not exist', async () => {
    const none = `${endpoint.url}/000000000000/none`;
    await expect(endpoint.inspectQueue(none)).rejects.toThrow(`There is no queue ${none}`);
  });
});

describe('a message of SNS', () => {
  let TopicArn: string;
  let received: Awaited<ReturnType<typeof subscribe>>;
  beforeEach(async () => {
    const topic = await clients.sns.send(new CreateTopicCommand({ Name: `topic-${count}` }));
    TopicArn = topic.TopicArn ?? '';
    received = await subscribe(endpoint, TopicArn, `${name}-subscribed`);
  });
  const publish = (texts: object | string) =>
    clients.sns.send(
      new PublishCommand({
        TopicArn,
        MessageStructure: 'json',
        Message: typeof texts === 'string' ? texts : JSON.stringify(texts),
      }),
    );

  test('is delivered unchanged, in the region of the stack', async () => {
    expect(TopicArn).toBe(arnOf('sns', `topic-${count}`));
    await clients.sns.send(new PublishCommand({ TopicArn, Message: '{"default":"x"} 😀' }));
    expect(await received()).toEqual(['{"default":"x"} 😀']);
  });

  test('in JSON structure is its text for queues, or else its default text', async () => {
    await publish({ default: 'for all', email: 'for people' });
    await publish({ default: 'for all', sqs: 'for queues', email: 'for people' });
    expect((await received()).sort()).toEqual(['for all', 'for queues']);
  });

  test.each<[what: string, texts: object | string, reason: string]>([
    ['without a default', { sqs: 'x' }, 'No default entry'],
    ['with a default that is no text', { default: 1 }, 'No default entry'],
    ['that is no JSON', 'plain', 'failed to parse'],
    ['whose texts are 256 KB together', { default: 'd', email: 'x'.repeat(262_144) }, 'too long'],
  ])('in JSON structure %s is refused', async (_what, texts, reason) => {
    await expect(publish(texts)).rejects.toMatchObject({
      name: 'InvalidParameterException',
      message: expect.stringContaining(reason),
    });
  });
});
