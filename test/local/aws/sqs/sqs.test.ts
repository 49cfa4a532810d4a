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

test.each([
  ['a form', { body: 'Action=TagQueue&Version=2012-11-05' }],
  ['a query string', { method: 'GET', path: '/?Action=TagQueue&Version=2012-11-05' }],
])('the old query protocol, as %s, is refused in its own format with what to do', async (_name, request) => {
  const { status, body } = await send(endpoint, { headers: { authorization: signedFor('sqs') }, ...request });
  expect(status).toBe(400);
  expect(body.toString()).toMatch(
    /^<\?xml version="1.0"\?><ErrorResponse xmlns="http:\/\/queue.amazonaws.com\/doc\/2012-11-05\/"><Error><Type>Sender<\/Type><Code>UnsupportedProtocol<\/Code><Message>The local AWS endpoint does not speak SQS&apos; old query protocol: update the AWS SDK or CLI .*X-Amz-Target: AmazonSQS.TagQueue\.<\/Message><\/Error>/,
  );
});

test('an error also has the code that the old query protocol gave it, by which SDKs name it', async () => {
  await expect(sqs.send(new GetQueueUrlCommand({ QueueName: 'nothing' }))).rejects.toMatchObject({
    name: 'QueueDoesNotExist',
    Code: 'AWS.SimpleQueueService.NonExistentQueue',
  });
});

test('an operation that is not offered is refused with those that are', async () => {
  const headers = { authorization: signedFor('sqs'), 'x-amz-target': 'AmazonSQS.AddPermission' };
  const { body } = await send(endpoint, { headers, body: '{}' });
  expect(body.toString()).toContain("does not offer SQS's AddPermission, only ChangeMessageVisibility, ");
});
