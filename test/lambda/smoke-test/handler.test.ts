import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { signatureOf } from '../../../events/signing.ts';
import { eventNames, isEventName } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { TEST_SECRET } from '../../support/partner.ts';
import { type HttpRecorder, type RecorderAnswer, startHttpRecorder } from '../http-recorder.ts';

const services = eventNames.map(kebabCase);
const arnOf = (service: string, version = 17) =>
  `arn:aws:lambda:us-east-1:000000000000:function:${service}:${version}`;
const properties = { Receiver: arnOf('receiver'), Consumers: services.map((service) => arnOf(service)) };

const QUEUED = { statusCode: 200, body: '{"status":"queued","eventId":"e"}' };

/** The signed probe of the receiver, among the names of functions. */
const SIGNED = 'receiver, signed';

/** Lambda's Invoke API. */
let lambda: HttpRecorder;
/**
 * Answers of a function to its next invocations, or to the next signed probes. Afterwards it answers like a working
 * one.
 */
let answers: Record<string, (RecorderAnswer | Promise<RecorderAnswer>)[]>;
let invoked: string[];
/** Called with each probe, and with `secret` when the secret is read. */
let onCall: (call: string) => void;
let cloudFormation: HttpRecorder;
let secretsManager: HttpRecorder;
let secretAnswer: RecorderAnswer;
/** Undefined if CloudFormation does not answer. */
let responseStatus: number | undefined;
let smokeTest: typeof import('../../../lambda/smoke-test/handler.ts').handler;

beforeAll(async () => {
  lambda = await startHttpRecorder(({ path, body }) => {
    const service = /:function:([^:]+):17\/invocations$/.exec(decodeURIComponent(path))?.[1] ?? '';
    const event = JSON.parse(body);
    const probe = service === 'receiver' && isSigned(event) ? SIGNED : service;
    invoked.push(probe);
    onCall(probe);
    return answers[probe]?.shift() ?? working(service, event);
  });
  secretsManager = await startHttpRecorder(() => {
    onCall('secret');
    return secretAnswer;
  });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_LAMBDA: lambda.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsManager.url,
    WEBHOOK_SECRET_ARN: 'secret-arn',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
  });
  ({ handler: smokeTest } = await import('../../../lambda/smoke-test/handler.ts'));
});
afterAll(async () => {
  await lambda.close();
  await secretsManager.close();
});

beforeEach(async () => {
  answers = {};
  invoked = [];
  onCall = () => {};
  responseStatus = 200;
  secretAnswer = returning({ SecretString: `{"WEBHOOK_SECRET":"${TEST_SECRET}"}` });
  cloudFormation = await startHttpRecorder(() =>
    responseStatus === undefined ? never() : { status: responseStatus },
  );
});
afterEach(async () => {
  jest.restoreAllMocks();
  await cloudFormation.close();
});

/** Whether the request of a probe has the partner's signature of a body that is an event. */
function isSigned(event: unknown): boolean {
  const { headers, body } = event as APIGatewayProxyEventV2;
  const signature = signatureOf({ body: Buffer.from(body ?? ''), secret: TEST_SECRET });
  return headers['x-webhook-signature'] === signature && isEventName(JSON.parse(body ?? '').event);
}

function working(service: string, event: unknown): RecorderAnswer {
  if (service !== 'receiver') return returning({ batchItemFailures: [] });
  return returning(isSigned(event) ? QUEUED : { statusCode: 401 });
}

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

/** Ends the smoke test's time at a call, so that its speed does not matter. */
function endTimeAt(call: string, count: number): void {
  const time = new AbortController();
  jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(time.signal);
  let calls = 0;
  onCall = (each) => {
    if (each === call) calls += 1;
    if (calls === count) time.abort();
  };
}

interface RequestOptions {
  readonly ResourceProperties?: object;
  readonly OldResourceProperties?: object;
}

/**
 * Sends a request of CloudFormation.
 * @returns the answer to CloudFormation
 */
async function request(
  RequestType: 'Create' | 'Update' | 'Delete',
  { ResourceProperties = properties, OldResourceProperties = properties }: RequestOptions = {},
) {
  const event = {
    RequestType,
    ResponseURL: `${cloudFormation.url}/bucket/key?X-Amz-Signature=of-the-url`,
    StackId: 'stack-id',
    RequestId: 'request-id',
    LogicalResourceId: 'SmokeTest',
    ResourceProperties,
    ...(RequestType === 'Update' && { OldResourceProperties }),
  };
  const context = { getRemainingTimeInMillis: () => 30_000 };
  await smokeTest(event as Parameters<typeof smokeTest>[0], context as Context);
  return JSON.parse(cloudFormation.requests[0]?.body ?? 'null');
}

const success = {
  Status: 'SUCCESS',
  PhysicalResourceId: 'smoke-test',
  StackId: 'stack-id',
  RequestId: 'request-id',
  LogicalResourceId: 'SmokeTest',
};
const failure = (Reason: string) => ({ ...success, Status: 'FAILED', Reason });

describe('the answer', () => {
  test('is sent to CloudFormation’s URL by PUT, without a content type', async () => {
    await request('Create');
    expect(cloudFormation.requests).toEqual([
      expect.objectContaining({
        method: 'PUT',
        path: '/bucket/key?X-Amz-Signature=of-the-url',
        headers: expect.objectContaining({ 'content-type': '' }),
      }),
    ]);
  });

  test.each([
    [403, /^CloudFormation refused the answer with 403$/],
    [undefined, /timeout/],
  ])(
    'fails the invocation if CloudFormation answers %s, so that Lambda repeats it',
    async (status, reason) => {
      responseStatus = status;
      await expect(request('Delete')).rejects.toThrow(reason);
    },
  );
});

test.each([
  ['Delete', { ResourceProperties: {} }],
  // CloudFormation's rollback.
  ['Update', { OldResourceProperties: { ...properties, Receiver: arnOf('receiver', 18) } }],
] as const)('nothing is invoked on %s, or to a lower version: %j', async (type, options) => {
  expect(await request(type, options)).toEqual(success);
  expect(invoked).toEqual([]);
});

test.each([
  ['the same version', properties],
  ['properties of another form', {}],
])('an update from %s is tested', async (_, OldResourceProperties) => {
  expect(await request('Update', { OldResourceProperties })).toEqual(success);
  expect(invoked.toSorted()).toEqual(['receiver', SIGNED, ...services].toSorted());
});

describe('a deployment fails', () => {
  const wrong = 'instead of 401 to a wrong signature';
  const right = 'instead of 200 to a correct signature';
  const noSecret = 'could not get a signed request, because the secret cannot be read';
  const parked = { ...QUEUED, body: '{"status":"parked","eventId":"e"}' };

  test.each([
    ['receiver', returning({ statusCode: 200 }), `answered 200 ${wrong}`],
    ['receiver', { status: 200, body: 'x' }, `returned no HTTP answer ${wrong}`],
    [
      'receiver',
      failing({ errorType: 'Runtime.ImportModuleError', errorMessage: 'the secret' }),
      'failed with Runtime.ImportModuleError: see its log',
    ],
    [
      'receiver',
      refusing(404, 'ResourceNotFoundException'),
      'could not be invoked: ResourceNotFoundException',
    ],
    [SIGNED, returning({ statusCode: 400 }), `answered 400 ${right}`],
    [SIGNED, returning(parked), 'did not queue an event of a known kind'],
  ])('if a probe (%s) gets %j', async (probe, answer, reason) => {
    answers[probe] = [answer];
    expect(await request('Create')).toEqual(failure(`receiver:17 ${reason}`));
    expect(invoked.filter((one) => one === probe)).toHaveLength(1);
  });

  test('if the stored secret is unusable', async () => {
    secretAnswer = returning({ SecretString: '' });
    expect(await request('Create')).toEqual(failure(`receiver:17 ${noSecret}: UnusableSecretError`));
  });

  test('if consumers report a failed empty batch or return nothing; each error is named', async () => {
    answers['shop-updated'] = [returning({ batchItemFailures: [{ itemIdentifier: 'm' }] })];
    answers['girl-created'] = [returning({})];
    const expected = 'did not return {"batchItemFailures":[]} for an empty batch';
    expect(await request('Create')).toEqual(
      failure(`shop-updated:17 ${expected}; girl-created:17 ${expected}`),
    );
  });

  test('with a reason of at most 1,500 characters', async () => {
    const errorType = 'x'.repeat(100);
    const Consumers = Array.from({ length: 20 }, () => arnOf(services[0] ?? ''));
    answers[services[0] ?? ''] = Consumers.map(() => failing({ errorType }));
    const { Reason } = await request('Create', { ResourceProperties: { ...properties, Consumers } });
    expect(Reason).toHaveLength(1500);
  });

  test('if its receiver does not answer until five seconds before the timeout', async () => {
    answers.receiver = [never()];
    answers[SIGNED] = [never()];
    endTimeAt('receiver', 1);
    const late = 'receiver:17 did not answer before the time limit';
    expect(await request('Create', { ResourceProperties: { ...properties, Consumers: [] } })).toEqual(
      failure(`${late}; ${late}`),
    );
    expect(AbortSignal.timeout).toHaveBeenNthCalledWith(1, 25_000);
  });

  test.each([
    ['receiver', refusing(403, 'AccessDeniedException'), 'could not be invoked: AccessDeniedException'],
    ['secret', refusing(400, 'AccessDeniedException'), `${noSecret}: AccessDeniedException`],
    [SIGNED, returning({ statusCode: 401 }), `answered 401 ${right}`],
  ])('if a transient problem lasts until the time is up: %s', async (call, answer, reason) => {
    if (call === 'secret') secretAnswer = answer;
    else answers[call] = Array.from({ length: 9 }, () => answer);
    endTimeAt(call, 2);
    expect(await request('Create')).toEqual(failure(`receiver:17 ${reason} before the time limit`));
  });

  test('if a transient problem lasts longer than a minute', async () => {
    answers.receiver = Array.from({ length: 3 }, () => refusing(403, 'AccessDeniedException'));
    const start = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValueOnce(start).mockReturnValueOnce(start);
    clock.mockImplementation(() => start + (invoked.includes('receiver') ? 60_001 : 0));
    expect(await request('Create', { ResourceProperties: { ...properties, Consumers: [] } })).toEqual(
      failure('receiver:17 could not be invoked: AccessDeniedException'),
    );
  });
});

test.each([
  ['a permission that has not spread', 'receiver', refusing(403, 'AccessDeniedException')],
  ['a secret that cannot be read yet', 'receiver', returning({ statusCode: 500 })],
  ['a secret that is just being rotated', SIGNED, returning({ statusCode: 401 })],
])('a transient problem of a new deployment is waited for: %s', async (_, probe, answer) => {
  answers[probe] = [answer];
  expect(await request('Create')).toEqual(success);
  expect(invoked.filter((one) => one === probe)).toHaveLength(2);
});
