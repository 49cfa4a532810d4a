import {
  GetEventSourceMappingCommand,
  GetFunctionCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  type ListEventSourceMappingsCommandInput,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { eventually } from '../../../support/eventually.ts';
import { STACK_REGION, send, signedFor, startEndpoint } from '../support.ts';

const QUEUE = `arn:aws:sqs:${STACK_REGION}:000000000000:orders`;
const FUNCTION = `arn:aws:lambda:${STACK_REGION}:000000000000:function:consumer:live`;

let endpoint: AwsEndpoint;
let lambda: LambdaClient;
let uuid: string;
/** What was done to the event source, and how its batch in hand ends. */
const done: string[] = [];
let batch = Promise.withResolvers<void>();

const clientOf = (accessKeyId: string) =>
  new LambdaClient({
    endpoint: endpoint.url,
    region: STACK_REGION,
    maxAttempts: 1,
    credentials: { accessKeyId, secretAccessKey: 'any' },
  });

const list = async (input: ListEventSourceMappingsCommandInput = {}) =>
  (await lambda.send(new ListEventSourceMappingsCommand(input))).EventSourceMappings ?? [];
const state = async () => (await lambda.send(new GetEventSourceMappingCommand({ UUID: uuid }))).State;
const turn = (Enabled: boolean, client = lambda) =>
  client.send(new UpdateEventSourceMappingCommand({ UUID: uuid, Enabled }));

beforeAll(async () => {
  endpoint = await startEndpoint();
  lambda = clientOf('operator');
  endpoint.addEventSourceMapping({
    eventSourceArn: QUEUE,
    functionArn: FUNCTION,
    settings: { BatchSize: 10 },
    disable() {
      done.push('disable');
      return batch.promise;
    },
    enable: () => done.push('enable'),
  });
  uuid = (await list())[0]?.UUID ?? '';
});
afterAll(async () => {
  lambda.destroy();
  await endpoint.close();
});

test('a mapping is found by its queue, and by its function', async () => {
  const found = [
    expect.objectContaining({
      UUID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      EventSourceArn: QUEUE,
      FunctionArn: FUNCTION,
      BatchSize: 10,
      State: 'Enabled',
      LastModified: expect.any(Date),
    }),
  ];
  expect(await list({ EventSourceArn: QUEUE })).toEqual(found);
  expect(await list({ FunctionName: FUNCTION })).toEqual(found);
  expect(await list({ FunctionName: 'consumer:live' })).toEqual(found);
  expect(await list({ EventSourceArn: `${QUEUE}-dead` })).toEqual([]);
  expect(await list({ FunctionName: 'other' })).toEqual([]);
});

test('it is Disabling until its batch in hand has ended, and takes no other change meanwhile', async () => {
  batch = Promise.withResolvers();
  expect((await turn(false)).State).toBe('Disabling');
  await expect(turn(true)).rejects.toMatchObject({ name: 'ResourceInUseException' });
  expect(await state()).toBe('Disabling');
  batch.resolve();
  await eventually(async () => ((await state()) === 'Disabled' ? true : undefined));
  await turn(false);
  expect(done).toEqual(['disable']);
  expect((await turn(true)).State).toBe('Enabled');
  expect(done).toEqual(['disable', 'enable']);
});

describe('what it is not is refused', () => {
  test('a mapping that is not there', async () => {
    await expect(lambda.send(new GetEventSourceMappingCommand({ UUID: 'none' }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      $metadata: { httpStatusCode: 404 },
    });
  });

  test('a change of anything but whether it is on', async () => {
    await expect(
      lambda.send(new UpdateEventSourceMappingCommand({ UUID: uuid, BatchSize: 1 })),
    ).rejects.toMatchObject({
      name: 'InvalidParameterValueException',
      message: expect.stringContaining('BatchSize'),
    });
  });

  test('another operation of Lambda', async () => {
    await expect(lambda.send(new GetFunctionCommand({ FunctionName: 'consumer' }))).rejects.toThrow(
      /offers of Lambda ListEventSourceMappings, GetEventSourceMapping and UpdateEventSourceMapping/,
    );
  });

  test('a body that is no JSON', async () => {
    const answer = await send(endpoint, {
      method: 'PUT',
      path: `/2015-03-31/event-source-mappings/${uuid}`,
      headers: { authorization: signedFor('lambda') },
      body: '{"Enabled":',
    });
    expect([answer.status, answer.headers['x-amzn-errortype']]).toEqual([
      400,
      'InvalidRequestContentException',
    ]);
  });

  test('a role whose policies do not name it', async () => {
    endpoint.addPrincipals([
      {
        name: 'Reader',
        accessKeyId: 'READER',
        statements: [{ Effect: 'Allow', Action: 'lambda:ListEventSourceMappings', Resource: '*' }],
      },
    ]);
    const reader = clientOf('READER');
    await reader.send(new ListEventSourceMappingsCommand({}));
    await expect(turn(false, reader)).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining(`lambda:UpdateEventSourceMapping on resource: arn:aws:lambda:`),
    });
  });
});
