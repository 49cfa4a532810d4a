import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { DeleteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, test } from '@jest/globals';
import { clientSettings } from '../../lambda/aws-clients.ts';
import { describeError, errorText } from '../../lambda/errors.ts';

const named = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });

test('an error of a service is described by its name, text, status, request and the SDK’s attempts', async () => {
  const error = named('AccessDeniedException', 'User is not authorized', {
    $metadata: { httpStatusCode: 400, requestId: 'r-1', attempts: 2 },
  });
  expect(await describeError(error)).toEqual({
    error: 'AccessDeniedException',
    errorMessage: 'User is not authorized',
    httpStatus: 400,
    awsRequestId: 'r-1',
    sdkAttempts: 2,
  });
});

test('a call that fails is named, and so is what happened to its connection', async () => {
  const server = createServer((socket) => socket.destroy());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new DynamoDBClient({
    ...clientSettings,
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  });
  const failure = async () => {
    const error = await client.send(new DeleteItemCommand({ TableName: 'cast', Key: {} })).catch((e) => e);
    return describeError(error);
  };
  const closed = { call: 'DynamoDB DeleteItem', error: 'connection closed', sdkAttempts: 2 };
  try {
    const described = await failure();
    expect(described).toEqual(closed);
    expect(errorText(described)).toBe('DynamoDB DeleteItem: connection closed');
  } finally {
    server.close();
    await once(server, 'close');
  }
  expect(await failure()).toMatchObject({ ...closed, error: 'connection refused' });
});

test('what caused an error is described, too', async () => {
  const error = named('IdempotencyPersistenceLayerError', 'Failed to save', {
    cause: named('TimeoutError', 'slow'),
  });
  expect(await describeError(error)).toMatchObject({
    cause: { error: 'TimeoutError', errorMessage: 'slow' },
  });
  expect(errorText(await describeError(error))).toBe(
    'IdempotencyPersistenceLayerError: Failed to save; caused by TimeoutError: slow',
  );
});

test.each(['InvalidParameterValue', 'SyntaxError', 'SerializationException'])(
  'the text of %s, which may quote what was sent, is left out',
  async (name) => {
    expect(await describeError(named(name, 'Sora'))).toEqual({ error: name });
    expect(errorText(await describeError(named(name, 'Sora')))).toBe(name);
  },
);

test('what is no error is described by its type', async () => {
  expect(await describeError('Sora')).toEqual({ error: 'string' });
  expect(errorText(await describeError('Sora'))).toBe('string');
});

test('an error whose stack cannot be read is described all the same', async () => {
  const error = Object.defineProperty(named('Error', 'broken'), 'stack', {
    get: () => {
      throw new Error('no stack');
    },
  });
  expect(await describeError(error)).toEqual({ error: 'Error', errorMessage: 'broken' });
});
