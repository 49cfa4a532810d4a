import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { BUNDLE_OPTIONS } from '../../../lib/release/function-bundles.ts';
import type { FunctionDefinition } from '../../../local/functions/function-definition.ts';
import { LocalFunction } from '../../../local/functions/local-function.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import { mutantEnvironment } from '../../support/mutant.ts';
import { startTestStack } from '../../support/test-stack.ts';
import { FunctionLines } from '../function-lines.ts';
import { type HttpRecorder, type RecorderAnswer, startHttpRecorder } from '../http-recorder.ts';

const services = eventNames.map(kebabCase);
const arnOf = (service: string) => `arn:aws:lambda:us-east-1:000000000000:function:${service}:7`;
const properties = { Receiver: arnOf('receiver'), Consumers: services.map(arnOf) };

/** Seconds after which the smoke test's function would time out: 5 of them are kept for the answer. */
const HURRIED = 8;

/** The same, where a function has to start meanwhile, and other tests have the processor. */
const HURRIED_WITH_START = 20;

let codeDirectory: string;
let stack: LocalStack;
const lines = new FunctionLines();

/** Lambda's Invoke API in front of the functions of the local stack. */
let lambda: HttpRecorder;
/** What is answered instead for a function: one answer for each invocation. */
let instead: Record<string, (RecorderAnswer | Promise<RecorderAnswer>)[]>;
let cloudFormation: HttpRecorder;
let responseStatus: number;
let smokeTest: LocalFunction | undefined;

const serviceOf = (path: string) =>
  /:function:([^:]+):7\/invocations$/.exec(decodeURIComponent(path))?.[1] ?? '';
const invoked = () => lambda.requests.map(({ path }) => serviceOf(path));

beforeAll(async () => {
  codeDirectory = await mkdtemp(join(tmpdir(), 'smoke-test-'));
  await build({
    ...BUNDLE_OPTIONS,
    entryPoints: { index: 'lambda/smoke-test/handler.ts' },
    outdir: codeDirectory,
  });
  stack = await startTestStack({ onLog: lines.add });
});
afterAll(async () => {
  await stack.close();
  await rm(codeDirectory, { recursive: true });
});

beforeEach(async () => {
  instead = {};
  responseStatus = 200;
  lambda = await startHttpRecorder(async ({ path, body }) => {
    const service = serviceOf(path);
    const other = instead[service]?.shift();
    if (other !== undefined) return other;
    const result = await stack.functions.get(service)?.function.invoke(JSON.parse(body));
    if (result?.ok) return returning(result.payload);
    return failing(result);
  });
  cloudFormation = await startHttpRecorder(() => ({ status: responseStatus }));
});
afterEach(async () => {
  await smokeTest?.close();
  await lambda.close();
  await cloudFormation.close();
});

const returning = (payload: unknown): RecorderAnswer => ({ status: 200, body: JSON.stringify(payload) });
const failing = (error: unknown): RecorderAnswer => ({
  ...returning(error),
  headers: { 'x-amz-function-error': 'Unhandled' },
});
const refusing = (status: number, error: string): RecorderAnswer => ({
  status,
  headers: { 'x-amzn-errortype': error, 'content-type': 'application/json' },
  body: JSON.stringify({ Type: 'User', Message: 'No.' }),
});
const never = () => new Promise<RecorderAnswer>(() => {});

/** Has CloudFormation send a request. @returns how the invocation ended, and what CloudFormation was told */
async function request(
  RequestType: string,
  { ResourceProperties = properties as unknown, OldResourceProperties = {} as unknown, seconds = 30 } = {},
) {
  smokeTest = new LocalFunction(
    {
      name: 'smoke-test',
      handler: 'index.handler',
      codeDirectory,
      environment: { AWS_ENDPOINT_URL_LAMBDA: lambda.url, ...mutantEnvironment() },
      timeoutSeconds: seconds,
      memoryMegabytes: 256,
      maximumConcurrency: 1,
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
      region: 'us-east-1',
      awsEndpointUrl: 'http://localhost:1',
    } satisfies FunctionDefinition,
    () => {},
  );
  const result = await smokeTest.invoke({
    RequestType,
    ServiceToken: arnOf('smoke-test'),
    ResponseURL: `${cloudFormation.url}/bucket/key?X-Amz-Signature=of-the-url`,
    StackId: 'stack-id',
    RequestId: 'request-id',
    ResourceType: 'Custom::SmokeTest',
    LogicalResourceId: 'SmokeTest',
    ResourceProperties,
    ...(RequestType === 'Update' && { OldResourceProperties }),
    ...(RequestType !== 'Create' && { PhysicalResourceId: 'smoke-test' }),
  });
  const [told] = cloudFormation.requests;
  return { result, told: told && JSON.parse(told.body) };
}

const ids = {
  PhysicalResourceId: 'smoke-test',
  StackId: 'stack-id',
  RequestId: 'request-id',
  LogicalResourceId: 'SmokeTest',
};
const success = { ...ids, Status: 'SUCCESS' };
const failure = (Reason: unknown) => ({ ...ids, Status: 'FAILED', Reason });

describe('a deployment whose functions work', () => {
  test.each(['Create', 'Update'])('succeeds on %s, with each version invoked once', async (type) => {
    const { result, told } = await request(type);
    expect(result).toMatchObject({ ok: true });
    expect(told).toEqual(success);
    expect(invoked().toSorted()).toEqual(['receiver', ...services].toSorted());
  });

  test('has no effect but one rejection, which its request id gives away and no metric counts', async () => {
    lines.logged.length = 0;
    lines.metrics.length = 0;
    await request('Create');
    expect(lines.metrics).toEqual([]);
    expect(lines.logged).toEqual([
      expect.objectContaining({
        message: 'Rejected',
        reason: 'wrong-signature',
        requestId: expect.stringMatching(/^smoke-test-/),
      }),
    ]);
  });

  test('is reported as CloudFormation’s URL is signed for: by PUT, without a content type', async () => {
    await request('Create');
    const [put] = cloudFormation.requests;
    expect(put).toMatchObject({ method: 'PUT', path: '/bucket/key?X-Amz-Signature=of-the-url' });
    expect(put?.headers['content-type']).toBe('');
  });
});

test('Delete succeeds at once and invokes nothing', async () => {
  expect((await request('Delete', { ResourceProperties: {} })).told).toEqual(success);
  expect(invoked()).toEqual([]);
});

describe('an update', () => {
  const version = (number: number) => ({
    Receiver: arnOf('receiver').replace(/7$/, String(number)),
    Consumers: services.map(arnOf),
  });

  test('that goes back to a lower version is CloudFormation’s roll-back: it succeeds, whatever works', async () => {
    expect((await request('Update', { OldResourceProperties: version(8) })).told).toEqual(success);
    expect(invoked()).toEqual([]);
  });

  test.each([6, 7])('from version %d of the receiver is tried', async (number) => {
    expect((await request('Update', { OldResourceProperties: version(number) })).told).toEqual(success);
    expect(invoked()).toContain('receiver');
  });
});

describe('a deployment fails', () => {
  test('whose receiver cannot read its secret, before the smoke test itself times out', async () => {
    const broken = await startTestStack();
    await new SecretsManagerClient(broken.operator).send(
      new DeleteSecretCommand({
        SecretId: broken.outputs.WebhookSecretArn,
        ForceDeleteWithoutRecovery: true,
      }),
    );
    // One that has started has read its secret.
    await broken.functions.get('receiver')?.function.kill();
    const working = stack;
    stack = broken;
    try {
      const { result, told } = await request('Create', { seconds: HURRIED_WITH_START });
      expect(result).toMatchObject({ ok: true });
      expect(told).toEqual(
        failure('receiver:7 answered 500 instead of 401 to a wrong signature when the time was up'),
      );
    } finally {
      stack = working;
      await broken.close();
    }
  });

  test('whose consumer misses a part of its environment', async () => {
    const { definition } = stack.functions.get('user-updated') ?? {};
    const incomplete = new LocalFunction({ ...definition, environment: {} } as FunctionDefinition, () => {});
    instead['user-updated'] = [failing(await incomplete.invoke({ Records: [] }))];
    await incomplete.close();
    expect((await request('Update')).told).toEqual(failure('user-updated:7 failed with Error: see its log'));
  });

  test.each<[string, RecorderAnswer, string]>([
    [
      'takes a wrong signature',
      returning({ statusCode: 200 }),
      'answered 200 instead of 401 to a wrong signature',
    ],
    ['returns nothing', returning(null), 'returned no HTTP answer instead of 401 to a wrong signature'],
    [
      'returns no JSON',
      { status: 200, body: 'x' },
      'returned no HTTP answer instead of 401 to a wrong signature',
    ],
    [
      'does not load',
      failing({ errorType: 'Runtime.ImportModuleError', errorMessage: 'the secret' }),
      'failed with Runtime.ImportModuleError: see its log',
    ],
    [
      'fails with what is no class of errors',
      failing({ errorType: 'the secret is x' }),
      'failed with an error without a type: see its log',
    ],
    [
      'is not there',
      refusing(404, 'ResourceNotFoundException'),
      'could not be invoked: ResourceNotFoundException',
    ],
  ])('whose receiver %s', async (_, invocation, reason) => {
    instead.receiver = [invocation];
    expect((await request('Create')).told).toEqual(failure(`receiver:7 ${reason}`));
  });

  test('whose consumer reports a failure of nothing, and each other fault is named, too', async () => {
    instead['shop-updated'] = [returning({ batchItemFailures: [{ itemIdentifier: 'm' }] })];
    instead['girl-created'] = [refusing(404, 'ResourceNotFoundException')];
    expect((await request('Create')).told).toEqual(
      failure(
        'shop-updated:7 did not return {"batchItemFailures":[]} for an empty batch; ' +
          'girl-created:7 could not be invoked: ResourceNotFoundException',
      ),
    );
  });

  test('whose function does not answer, before the smoke test itself times out', async () => {
    instead['review-posted'] = [never()];
    const { result, told } = await request('Create', { seconds: HURRIED });
    expect(result).toMatchObject({ ok: true });
    expect(told).toEqual(failure('review-posted:7 did not answer when the time was up'));
  });

  test('that names no versions to test, with every wrong property', async () => {
    const ResourceProperties = { Receiver: 'arn:aws:lambda:us-east-1:0:function:r', Consumers: 'x' };
    expect((await request('Create', { ResourceProperties })).told).toEqual(
      failure(
        'ResourceProperties: Receiver must be a function ARN with its version; ' +
          'Consumers must be an array of function ARNs with their versions',
      ),
    );
    expect(invoked()).toEqual([]);
  });
});

describe('what passes while a deployment settles is waited for', () => {
  test.each([
    ['a permission that has not spread', refusing(403, 'AccessDeniedException')],
    ['a version that is Pending', refusing(409, 'ResourceConflictException')],
    ['a secret that cannot be read yet', returning({ statusCode: 500 })],
  ])('%s', async (_, invocation) => {
    instead.receiver = [invocation];
    expect((await request('Create')).told).toEqual(success);
    expect(invoked().filter((service) => service === 'receiver')).toHaveLength(2);
  });

  test('but not beyond the time that there is', async () => {
    instead.receiver = Array.from({ length: 100 }, () => refusing(403, 'AccessDeniedException'));
    expect((await request('Create', { seconds: HURRIED })).told).toEqual(
      failure('receiver:7 could not be invoked: AccessDeniedException when the time was up'),
    );
  });
});

test('an answer that CloudFormation does not take fails the invocation, so that Lambda repeats it', async () => {
  responseStatus = 403;
  const { result } = await request('Delete');
  expect(result).toMatchObject({
    ok: false,
    errorMessage: 'CloudFormation refused the answer with 403',
  });
  expect(JSON.stringify(result)).not.toContain('of-the-url');
});
