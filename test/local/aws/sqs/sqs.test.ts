import {
  CreateQueueCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  type Message,
  type MessageAttributeValue,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { clientsOf, send, signedFor, startEndpoint } from '../support.ts';

let endpoint: AwsEndpoint;
let sqs: ReturnType<typeof clientsOf>['sqs'];
let QueueUrl: string;
beforeAll(async () => {
  endpoint = await startEndpoint();
  sqs = clientsOf(endpoint).sqs;
  QueueUrl = (await sqs.send(new CreateQueueCommand({ QueueName: 'orders' }))).QueueUrl ?? '';
});
afterAll(() => endpoint.close());

const sendBody = (MessageBody: string, rest: object = {}) =>
  sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...rest }));
async function receiveOne(rest: object = {}): Promise<Message> {
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, ...rest }));
  return Messages?.[0] ?? {};
}

describe('a queue address', () => {
  test('is the same wherever it comes from, and reachable as localhost', async () => {
    const got = await sqs.send(new GetQueueUrlCommand({ QueueName: 'orders' }));
    const listed = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: 'ord' }));
    expect([QueueUrl, got.QueueUrl, listed.QueueUrls?.[0]]).toEqual(
      Array(3).fill(`${endpoint.url}/000000000000/orders`),
    );
  });
});

describe('a message', () => {
  test.each(['emoji 😀 and 𝒜', 'tab\tline\nreturn\r', '\uFFFD', '{"text":"é"}'])(
    'comes back as sent: %j',
    async (body) => {
      await sendBody(body);
      expect((await receiveOne()).Body).toBe(body);
    },
  );

  test.each(['\u0000', 'a\uFFFE', '\uFFFF', '\u001f'])(
    'with a forbidden character is refused: %j',
    async (body) => {
      await expect(sendBody(body)).rejects.toMatchObject({ name: 'InvalidMessageContents' });
    },
  );

  test('brings the attributes that are asked for, and no others', async () => {
    const MessageAttributes = { event: { DataType: 'String', StringValue: 'shop.updated 😀' } };
    await sendBody('one', { MessageAttributes });
    await sendBody('two', { MessageAttributes });
    expect((await receiveOne()).MessageAttributes).toBeUndefined();
    expect((await receiveOne({ MessageAttributeNames: ['All'] })).MessageAttributes).toEqual(
      MessageAttributes,
    );
  });

  const text = (StringValue: string): MessageAttributeValue => ({ DataType: 'String', StringValue });
  test.each<[string, object, string]>([
    ['a group id with a space', { MessageGroupId: 'a b' }, 'MessageGroupId'],
    ['an empty group id', { MessageGroupId: '' }, 'MessageGroupId'],
    ['a group id beyond ASCII', { MessageGroupId: 'é' }, 'MessageGroupId'],
    ['a group id of 129 characters', { MessageGroupId: 'x'.repeat(129) }, 'MessageGroupId'],
    ['a delay of more than 15 minutes', { DelaySeconds: 901 }, 'DelaySeconds'],
    ['an empty attribute', { MessageAttributes: { a: text('') } }, "attribute 'a'"],
    ['an attribute with a forbidden character', { MessageAttributes: { a: text('\u0001') } }, "'#x1'"],
    ['an attribute name with a space', { MessageAttributes: { 'a b': text('x') } }, "'a b'"],
    [
      'an attribute of an unknown type',
      { MessageAttributes: { a: { DataType: 'Text', StringValue: 'x' } } },
      "attribute 'a'",
    ],
    [
      'eleven attributes',
      { MessageAttributes: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a${i}`, text('x')])) },
      '11',
    ],
  ])('with %s is refused', async (_name, rest, mentioned) => {
    const refused = sendBody('x', rest);
    await expect(refused).rejects.toMatchObject({ Code: 'InvalidParameterValue' });
    await expect(refused).rejects.toThrow(mentioned);
  });

  test('with every character that a group id may have is taken', async () => {
    const MessageGroupId = 'aZ9!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
    await expect(sendBody('grouped', { MessageGroupId })).resolves.toMatchObject({
      MessageId: expect.any(String),
    });
  });

  test('that is refused in a batch does not keep the others back', async () => {
    const Entries = [
      { Id: 'good', MessageBody: 'x' },
      { Id: 'bad', MessageBody: 'x', MessageGroupId: 'a b' },
      { Id: 'worse', MessageBody: '\u0000' },
    ];
    const { Successful, Failed } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    expect(Successful?.map(({ Id }) => Id)).toEqual(['good']);
    expect(Failed?.map(({ Id, Code }) => [Id, Code])).toEqual([
      ['worse', 'InvalidMessageContents'],
      ['bad', 'InvalidParameterValue'],
    ]);
  });
});

describe('a long poll', () => {
  test('lets other requests pass, and ends when a message comes', async () => {
    await sqs.send(new PurgeQueueCommand({ QueueUrl }));
    const poll = receiveOne({ WaitTimeSeconds: 20 });
    await sendBody('awaited');
    expect((await poll).Body).toBe('awaited');
  });
});

describe('the old query protocol', () => {
  const query = async (form: Record<string, string>, path = '/000000000000/orders') => {
    const body = new URLSearchParams({ Version: '2012-11-05', ...form }).toString();
    const headers = { authorization: signedFor('sqs'), 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await send(endpoint, { path, headers, body });
    return { status: answer.status, xml: answer.body.toString() };
  };

  test('lists queues to a GET with the query string', async () => {
    const headers = { authorization: signedFor('sqs') };
    const { body } = await send(endpoint, {
      method: 'GET',
      path: '/?Action=ListQueues&Version=2012-11-05',
      headers,
    });
    expect(body.toString()).toContain(`<QueueUrl>${QueueUrl}</QueueUrl>`);
  });

  test('sends, receives and deletes a message', async () => {
    await query({ Action: 'PurgeQueue' });
    const sent = await query({
      Action: 'SendMessage',
      MessageBody: 'a <b> & "c"',
      'MessageAttribute.1.Name': 'event',
      'MessageAttribute.1.Value.DataType': 'String',
      'MessageAttribute.1.Value.StringValue': 'x',
    });
    expect(sent.xml).toMatch(/<SendMessageResult><MessageId>/);
    const received = await query({
      Action: 'ReceiveMessage',
      'MessageAttributeName.1': 'All',
      VisibilityTimeout: '600',
    });
    expect(received.xml).toContain('<Body>a &lt;b&gt; &amp; &quot;c&quot;</Body>');
    expect(received.xml).toContain('<Name>event</Name><Value><StringValue>x</StringValue>');
    const ReceiptHandle = /<ReceiptHandle>(.*)<\/ReceiptHandle>/.exec(received.xml)?.[1] ?? '';
    expect(
      (await query({ Action: 'ChangeMessageVisibility', ReceiptHandle, VisibilityTimeout: '1' })).status,
    ).toBe(200);
    expect((await query({ Action: 'DeleteMessage', ReceiptHandle })).status).toBe(200);
    const { xml } = await query({
      Action: 'GetQueueAttributes',
      'AttributeName.1': 'ApproximateNumberOfMessagesNotVisible',
    });
    expect(xml).toContain('<Name>ApproximateNumberOfMessagesNotVisible</Name><Value>0</Value>');
  });

  test('names an error as it always did', async () => {
    const { status, xml } = await query({ Action: 'GetQueueUrl', QueueName: 'nothing' }, '/');
    expect(status).toBe(400);
    expect(xml).toContain('<Code>AWS.SimpleQueueService.NonExistentQueue</Code>');
  });

  test('points to the JSON protocol for what it does not answer', async () => {
    expect((await query({ Action: 'TagQueue' })).xml).toContain('X-Amz-Target: AmazonSQS.TagQueue');
  });
});
