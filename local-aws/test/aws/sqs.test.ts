import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type JsonObject, objectsOf } from '../../aws/json.ts';
import { arnOf } from '../../aws/service-forms.ts';
import { awsCaller } from '../../aws-caller.ts';
import { eventually, send, signedFor, startEndpoint, subscribe } from '../support.ts';

let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let count = 0;
/** Name of the test's own queue. */
let name: string;
let QueueUrl: string;

const call = (operation: string, input: object) =>
  awsCaller(endpoint.url, 'operator').json('sqs', operation, input);
const sendBody = (MessageBody: string, rest: object = {}) =>
  call('SendMessage', { QueueUrl, MessageBody, ...rest });
const receive = async (rest: object = {}): Promise<JsonObject> =>
  objectsOf(await call('ReceiveMessage', { QueueUrl, ...rest }), 'Messages')[0] ?? {};

beforeAll(async () => {
  endpoint = await startEndpoint();
});
beforeEach(async () => {
  count += 1;
  name = `queue-${count}`;
  QueueUrl = String((await call('CreateQueue', { QueueName: name })).QueueUrl);
});
afterAll(() => endpoint.close());

test('a queue has the same address for every client, reachable as localhost', async () => {
  const got = await call('GetQueueUrl', { QueueName: name });
  const listed = await call('ListQueues', { QueueNamePrefix: name });
  const address = `${endpoint.url}/000000000000/${name}`;
  expect([QueueUrl, got.QueueUrl, listed.QueueUrls]).toEqual([address, address, [address]]);
});

describe('a message', () => {
  test('returns the requested attributes, and no others', async () => {
    const MessageAttributes = { event: { DataType: 'String', StringValue: 'shop.updated 😀' } };
    await sendBody('one', { MessageAttributes });
    await sendBody('two', { MessageAttributes });
    expect((await receive()).MessageAttributes).toBeUndefined();
    expect((await receive({ MessageAttributeNames: ['All'] })).MessageAttributes).toEqual(MessageAttributes);
  });

  test('that is refused in a batch does not affect the others', async () => {
    const Entries = [
      { Id: 'good', MessageBody: 'x' },
      { Id: 'bad', MessageBody: 'x', MessageGroupId: 'a b' },
      { Id: 'worse', MessageBody: '\u0000' },
    ];
    expect(await call('SendMessageBatch', { QueueUrl, Entries })).toMatchObject({
      Successful: [{ Id: 'good' }],
      Failed: [
        { Id: 'worse', Code: 'InvalidMessageContents' },
        { Id: 'bad', Code: 'InvalidParameterValue' },
      ],
    });
  });
});

test('an error also has the code of the old query protocol, by which SDKs name it', async () => {
  const headers = { authorization: signedFor('sqs'), 'x-amz-target': 'AmazonSQS.GetQueueUrl' };
  const answer = await send(endpoint, { headers, body: '{"QueueName":"nothing"}' });
  expect(JSON.parse(answer.body.toString()).__type).toMatch(/QueueDoesNotExist$/);
  expect(answer.headers['x-amzn-query-error']).toBe('AWS.SimpleQueueService.NonExistentQueue;Sender');
});

describe('inspecting a queue', () => {
  const inspect = () => endpoint.inspectQueue(QueueUrl);

  test('shows a message as it was sent, removes nothing, and takes no message from its receiver', async () => {
    const MessageAttributes = {
      eventId: { DataType: 'String', StringValue: 'evt-1' },
      binary: { DataType: 'Binary', BinaryValue: 'AQ==' },
    };
    const body = 'emoji 😀 and 𝒜, tab\tline\nreturn\r, \uFFFD';
    const { MessageId: id } = await sendBody(body, { MessageAttributes });
    const shown = { id, body, sentAt: expect.any(Date), attributes: { eventId: 'evt-1' } };
    await Promise.all([inspect(), inspect()]);
    expect(await inspect()).toStrictEqual([{ ...shown, receives: 0, state: 'waiting' }]);
    const { Body, ReceiptHandle } = await receive();
    expect(Body).toBe(body);
    expect(await inspect()).toStrictEqual([{ ...shown, receives: 1, state: 'in flight' }]);
    await call('DeleteMessage', { QueueUrl, ReceiptHandle });
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
  let received: Awaited<ReturnType<typeof subscribe>>;
  const TopicArn = arnOf('sns', 'topic');
  const sns = (fields: Record<string, string>) => awsCaller(endpoint.url, 'operator').form('sns', fields);
  const publish = (Message: string) =>
    sns({ Action: 'Publish', TopicArn, MessageStructure: 'json', Message });
  beforeAll(async () => {
    await sns({ Action: 'CreateTopic', Name: 'topic' });
    received = await subscribe(endpoint, TopicArn, 'subscribed');
  });

  test('is delivered unchanged', async () => {
    await sns({ Action: 'Publish', TopicArn, Message: '{"default":"x"} 😀' });
    expect(await received()).toEqual(['{"default":"x"} 😀']);
  });

  test('in JSON structure is its text for queues, or else its default text', async () => {
    const texts = { default: 'for all', email: 'for people' };
    await publish(JSON.stringify(texts));
    await publish(JSON.stringify({ ...texts, sqs: 'for queues' }));
    expect((await received()).sort()).toEqual(['for all', 'for queues']);
  });

  test.each<[what: string, message: string, reason: string]>([
    ['without a default', '{"sqs":"x"}', 'No default entry'],
    ['with a default that is no text', '{"default":1}', 'No default entry'],
    ['that is no JSON', 'plain', 'failed to parse'],
    ['whose texts are 256 KB', JSON.stringify({ default: 'd', email: 'x'.repeat(262_144) }), 'too long'],
  ])('in JSON structure %s is refused', async (_what, message, reason) => {
    await expect(publish(message)).rejects.toThrow(new RegExp(`InvalidParameter<.*${reason}`, 's'));
  });

  test('is not published in a batch', async () => {
    const batch = sns({ Action: 'PublishBatch', TopicArn });
    await expect(batch).rejects.toThrow('does not offer SNS&apos;s PublishBatch');
  });
});
