import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { eventually } from '../../../support/eventually.ts';
import { clientsOf, startEndpoint } from '../support.ts';

let endpoint: AwsEndpoint;
let sqs: ReturnType<typeof clientsOf>['sqs'];
let QueueUrl: string;
let queues = 0;
beforeAll(async () => {
  endpoint = await startEndpoint();
  sqs = clientsOf(endpoint).sqs;
});
beforeEach(async () => {
  queues += 1;
  QueueUrl = (await sqs.send(new CreateQueueCommand({ QueueName: `queue-${queues}` }))).QueueUrl ?? '';
});
afterAll(() => endpoint.close());

const send = (MessageBody: string, rest: object = {}) =>
  sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...rest }));
const receive = async (VisibilityTimeout = 30) =>
  (await sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout }))).Messages?.[0];
const look = () => endpoint.inspectQueue(QueueUrl);

test('a message is seen as it was sent', async () => {
  const before = Date.now();
  const MessageAttributes = {
    eventId: { DataType: 'String', StringValue: 'evt-1' },
    binary: { DataType: 'Binary', BinaryValue: Buffer.of(1) },
  };
  const { MessageId } = await send('{"name":"😀"}', { MessageAttributes });
  const [message, ...others] = await look();
  expect(others).toEqual([]);
  expect(message).toStrictEqual({
    id: MessageId,
    body: '{"name":"😀"}',
    state: 'waiting',
    sentAt: expect.any(Date),
    receives: 0,
    attributes: { eventId: 'evt-1' },
  });
  expect(message?.sentAt.getTime()).toBeGreaterThanOrEqual(before);
  expect(message?.sentAt.getTime()).toBeLessThanOrEqual(Date.now());
});

test('a look takes nothing away, counts as no receive and hides no message', async () => {
  await send('order 7');
  await Promise.all([look(), look(), look()]);
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] }),
  );
  expect(Attributes?.ApproximateNumberOfMessages).toBe('1');
  expect(await look()).toMatchObject([{ receives: 0, state: 'waiting' }]);
  expect(await receive()).toMatchObject({ Body: 'order 7' });
});

test('a look at a message in flight leaves it to whoever has it', async () => {
  await send('order 7');
  const received = await receive();
  expect(await look()).toMatchObject([{ body: 'order 7', state: 'in flight', receives: 1 }]);
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: received?.ReceiptHandle }));
  expect(await look()).toEqual([]);
});

test('a message waits again once its visibility time-out is over, with nobody receiving', async () => {
  await send('order 7');
  await receive(1);
  const waiting = await eventually(async () => (await look()).find(({ state }) => state === 'waiting'));
  expect(waiting).toMatchObject({ body: 'order 7', receives: 1 });
});

test('a delayed message is one until its delay is over', async () => {
  await send('order 7', { DelaySeconds: 1 });
  expect(await look()).toMatchObject([{ state: 'delayed' }]);
  await eventually(async () => (await look()).find(({ state }) => state === 'waiting'));
});

test('what was sent first comes first, whatever its state', async () => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
  await send('first', { DelaySeconds: 60 });
  await pause();
  await send('second');
  await pause();
  await send('third');
  await receive();
  expect((await look()).map(({ body, state }) => [body, state])).toEqual([
    ['first', 'delayed'],
    ['second', 'in flight'],
    ['third', 'waiting'],
  ]);
});

test('a queue that does not exist is an error', async () => {
  await expect(endpoint.inspectQueue(`${endpoint.url}/000000000000/none`)).rejects.toThrow(
    `There is no queue ${endpoint.url}/000000000000/none`,
  );
});
