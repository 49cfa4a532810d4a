import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { httpApiEvent } from '../../../../events/gateway-events.ts';
import { readSamples } from '../../../../events/samples.ts';
import { signatureOf } from '../../../../events/signing.ts';
import { WEBHOOK_PATH } from '../../../../lambda/events/webhook-path.ts';
import type { GatewayEvent } from '../../../../lambda/receiver/request.ts';
import { type InvocationResult, TooManyRequestsError } from '../../../../local/functions/invocation.ts';
import { httpApi } from '../../../../local/gateway/http-api.ts';
import type { HttpResponse } from '../../../../local/gateway/http-message.ts';
import { openApiText } from '../../../../tools/partner/api/files.ts';
import { functionEnvironment } from '../../../support/function-environment.ts';
import { Queues } from '../../../support/queues.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { TEST_SECRET } from '../../../support/test-stack.ts';
import { Description, type Part } from './description.ts';

const openApi = new Description(openApiText());

let aws: TestAws;
let queues: Queues;
let handler: (event: GatewayEvent, context: Context) => Promise<APIGatewayProxyStructuredResultV2>;

beforeAll(async () => {
  aws = await startTestAws();
  queues = new Queues(aws.operator);
  Object.assign(process.env, functionEnvironment('receiver', aws), { AWS_LAMBDA_FUNCTION_VERSION: '1' });
  const module = await import('../../../../lambda/receiver/handler.ts');
  handler = module.handler as unknown as typeof handler;
});
afterAll(() => aws.close());

/** Posts to the receiver itself. */
async function post(body: string, signature = signatureOf({ body: Buffer.from(body), secret: TEST_SECRET })) {
  const request = {
    method: 'POST',
    path: WEBHOOK_PATH,
    headers: [['x-webhook-signature', signature]] as const,
    body,
    isBase64Encoded: false,
    sourceIp: '127.0.0.1',
    receivedAt: new Date(),
    requestId: 'request-1',
  };
  const api = { accountId: '000000000000', apiId: 'api', domainName: 'localhost' };
  const { statusCode, headers, body: text } = await handler(httpApiEvent(request, api), {} as Context);
  return {
    status: Number(statusCode),
    contentType: String(headers?.['content-type']),
    body: JSON.parse(text ?? ''),
  };
}

/** What is wrong with an answer by the description. */
function problemsOf({ status, contentType, body }: Awaited<ReturnType<typeof post>>): string[] {
  const responses = openApi.at('paths', WEBHOOK_PATH, 'post', 'responses');
  if (responses[status] === undefined) return [`${status} is not described`];
  const content = openApi.follow(responses[status] as Part).content as Record<string, { schema: Part }>;
  const media = content[contentType];
  return media === undefined ? [`${contentType} is not described`] : openApi.problems(media.schema, body);
}

const samples = readSamples();
const [sample] = samples;
if (sample === undefined) throw new Error('There is no sample');
const body = JSON.stringify(sample.payload);

describe('an answer of the receiver is what the description says', () => {
  test.each(samples.map(({ event, payload }) => [event, payload] as const))('of %s', async (_, payload) => {
    const answer = await post(JSON.stringify(payload));
    expect([answer.status, answer.body.status, problemsOf(answer)]).toEqual([200, 'queued', []]);
  });

  test('of an event of an unknown kind', async () => {
    const answer = await post(JSON.stringify({ ...sample.payload, event: 'example.unknown' }));
    expect([answer.status, answer.body.status, problemsOf(answer)]).toEqual([200, 'parked', []]);
  });

  test.each([
    ['is not usable', '{"event":"shop.updated"}'],
    [
      'has too many problems to name',
      JSON.stringify({ ...sample.payload, data: { updated_fields: Array(99).fill(0) } }),
    ],
    ['is too large for a message, and no JSON', 'x'.repeat(1_100_000)],
  ])('of a payload that %s', async (_, unusable) => {
    const answer = await post(unusable);
    expect([answer.status, problemsOf(answer)]).toEqual([400, []]);
  });

  test('of an event that is too large for a message', async () => {
    const large = { ...sample.payload, webhookId: 'x'.repeat(1_100_000) };
    expect(problemsOf(await post(JSON.stringify(large)))).toEqual([]);
  });

  test('of a wrong signature', async () => {
    const answer = await post(body, 'f'.repeat(64));
    expect([answer.status, problemsOf(answer)]).toEqual([401, []]);
  });

  test('of a failure', async () => {
    await queues.client.send(new DeleteQueueCommand({ QueueUrl: aws.outputs.UnroutedQueueUrl }));
    const answer = await post(JSON.stringify({ ...sample.payload, event: 'example.unknown' }));
    expect([answer.status, problemsOf(answer)]).toEqual([500, []]);
  });
});

describe('what an HTTP API answers by itself is what the description says', () => {
  const request = {
    method: 'POST',
    path: WEBHOOK_PATH,
    query: '',
    httpVersion: '1.1',
    headers: [],
    sourceIp: '127.0.0.1',
    port: 443,
    receivedAt: new Date(),
  };
  let isAsked = false;
  const answer = (
    invoke: () => Promise<InvocationResult>,
    {
      path = WEBHOOK_PATH,
      rate = 100,
      limit = 30_000,
      read = async (): Promise<Buffer | undefined> => Buffer.from('{}'),
    } = {},
  ) => {
    isAsked = false;
    const route = {
      routeKey: `POST ${WEBHOOK_PATH}`,
      invoke: () => {
        isAsked = true;
        return invoke();
      },
    };
    const ids = { accountId: '0', apiId: 'api', region: 'us-east-1' };
    const throttle = { rate, burst: rate };
    const api = httpApi({ ...ids, routes: [route], throttle, integrationLimitMilliseconds: limit });
    return api.answer({ ...request, path }, read);
  };

  const late = () => new Promise<InvocationResult>(() => {});
  const nothing = async () => ({ ok: true, payload: undefined }) as const;
  const throttled = async () => {
    throw new TooManyRequestsError();
  };
  const rejected = async () => {
    throw new Error('No such function');
  };

  const answered = ({ status, headers, body }: HttpResponse) => ({
    status,
    contentType: String(headers['content-type']),
    body: JSON.parse(body.toString()),
  });

  test.each<[number, () => ReturnType<typeof answer>]>([
    [404, () => answer(nothing, { path: '/' })],
    [413, () => answer(nothing, { read: async () => undefined })],
    [413, () => answer(nothing, { read: async () => Buffer.alloc(7_000_000) })],
    [429, () => answer(nothing, { rate: 0 })],
    [500, () => answer(rejected)],
    [503, () => answer(throttled)],
    [503, () => answer(late, { limit: 1 })],
  ])('%s', async (status, given) => {
    const { response } = await given();
    expect([response.status, problemsOf(answered(response))]).toEqual([status, []]);
    // A receiver that was asked goes on, whatever API Gateway says meanwhile.
    const { description, headers } = openApi.follow(
      openApi.at('paths', WEBHOOK_PATH, 'post', 'responses')[status] as Part,
    );
    const kept = isAsked ? /may have been kept or not/ : /Nothing was kept/;
    expect(description).toMatch(kept);
    expect(Object.keys(headers as Part)).toContain('apigw-requestid');
    expect(response.headers).toHaveProperty('apigw-requestid');
  });
});
