import { readFileSync } from 'node:fs';
import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { httpApiEvent } from '../../../../events/gateway-events.ts';
import { readSamples } from '../../../../events/samples.ts';
import { signatureOf } from '../../../../events/signing.ts';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../../lambda/events/event-names.ts';
import { WEBHOOK_PATH } from '../../../../lambda/events/webhook-path.ts';
import type { GatewayEvent } from '../../../../lambda/receiver/request.ts';
import { decodeSignature } from '../../../../lambda/receiver/signature.ts';
import { type InvocationResult, TooManyRequestsError } from '../../../../local/functions/invocation.ts';
import { httpApi } from '../../../../local/gateway/http-api.ts';
import type { HttpResponse } from '../../../../local/gateway/http-message.ts';
import { apiFiles, asyncApiText, openApiText } from '../../../../tools/partner/api/files.ts';
import { SIGNATURE_PATTERN } from '../../../../tools/partner/api/openapi.ts';
import { functionEnvironment } from '../../../support/function-environment.ts';
import { Queues } from '../../../support/queues.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { TEST_SECRET } from '../../../support/test-stack.ts';
import { Description, type Part, partsOf } from './description.ts';

const openApi = new Description(openApiText());
const asyncApi = new Description(asyncApiText());

describe.each([
  { file: 'openapi.json', description: openApi },
  { file: 'asyncapi.json', description: asyncApi },
])('$file', ({ description }) => {
  test('leads nowhere that is not there', () => {
    const references = [...partsOf(description.document)].filter((part) => typeof part.$ref === 'string');
    expect(references.length).toBeGreaterThan(10);
    for (const reference of references) {
      expect([reference.$ref, description.follow(reference)]).toEqual([reference.$ref, expect.any(Object)]);
    }
  });

  test('has no schema of which an example of its own is not valid', () => {
    let examples = 0;
    for (const schema of Object.values(description.at('components', 'schemas')) as Part[]) {
      for (const example of (schema.examples ?? []) as unknown[]) {
        expect([schema.title, description.problems(schema, example)]).toEqual([schema.title, []]);
        examples += 1;
      }
    }
    expect(examples).toBeGreaterThan(0);
  });
});

describe('openapi.json', () => {
  test('is OpenAPI 3.1 with the one operation, and no requests that we would send', () => {
    expect(openApi.document).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./) });
    expect(Object.keys(openApi.at('paths'))).toEqual(['/api/v1/webhooks/partner']);
    expect(openApi.document).not.toHaveProperty('webhooks');
  });

  test('has a body by name, alternatives of one type each, and no format beside a pattern, for generators', () => {
    const path = ['paths', '/api/v1/webhooks/partner', 'post', 'requestBody', 'content', 'application/json'];
    expect(openApi.at(...path).schema).toEqual({ $ref: '#/components/schemas/PartnerEvent' });
    for (const part of partsOf(openApi.at('components', 'schemas'))) {
      const alternatives = [part.anyOf ?? [], part.oneOf ?? []].flat() as Part[];
      expect(alternatives.filter(({ type }) => Array.isArray(type))).toEqual([]);
      if ('pattern' in part) expect(part).not.toHaveProperty('format');
    }
  });

  test('shows how to sign in the languages that most partners use, by the samples as they are', () => {
    const samples = openApi.at('paths', '/api/v1/webhooks/partner', 'post')['x-codeSamples'] as Part[];
    expect(samples.map(({ label }) => label)).toEqual(['curl', 'Node.js', 'Python', 'PHP', 'Go']);
    expect(samples[1]?.source).toBe(readFileSync('examples/signing/node/sign-and-post.mjs', 'utf8'));
  });

  test('has no request and no answer of which an example is not valid', () => {
    const media = [...partsOf(openApi.document)].filter((part) => 'examples' in part && 'schema' in part);
    let examples = 0;
    for (const { schema, examples: named } of media) {
      for (const { value } of Object.values(named as Record<string, Part>)) {
        expect(openApi.problems(schema as Part, value)).toEqual([]);
        examples += 1;
      }
    }
    expect(examples).toBeGreaterThan(2 * eventNames.length);
  });

  test('asks for the signature once: two values of it are answered 401', () => {
    const named = [...partsOf(openApi.document)].filter(({ name }) => name === 'X-Webhook-Signature');
    expect(named).toEqual([expect.objectContaining({ in: 'header', required: true })]);
  });

  test('has every kind of problem that the receiver’s code has', () => {
    const code = readFileSync('lambda/receiver/answers.ts', 'utf8');
    const types = [...code.matchAll(/type: '(urn:partner-webhooks:problem:[^']+)'/g)].map(([, type]) => type);
    const described = [...partsOf(openApi.at('components', 'schemas'))].map((part) => part.const);
    expect(types.length).toBeGreaterThan(0);
    expect(described).toEqual(expect.arrayContaining(types));
  });
});

describe('asyncapi.json', () => {
  test('is AsyncAPI 3.0 of the topics alone, with every operation on a channel', () => {
    expect(asyncApi.document).toMatchObject({ asyncapi: expect.stringMatching(/^3\.0\./) });
    const channels = Object.keys(asyncApi.at('channels'));
    expect(channels).toEqual(['ChatTopic', 'ReviewTopic']);
    for (const operation of Object.values(asyncApi.at('operations')) as Part[]) {
      expect(['send', 'receive']).toContain(operation.action);
      expect(channels).toContain((operation.channel as Part).$ref?.toString().replace('#/channels/', ''));
    }
  });

  test('has no message of which an example is not valid', () => {
    const messages = Object.values(asyncApi.at('components', 'messages')) as Part[];
    for (const { name, headers, payload, examples } of messages) {
      expect([name, examples]).toEqual([name, expect.arrayContaining([expect.anything()])]);
      for (const example of examples as Part[]) {
        const wrong = [
          ...asyncApi.problems(headers as Part, example.headers),
          ...asyncApi.problems(payload as Part, example.payload),
        ];
        expect([name, wrong]).toEqual([name, []]);
      }
    }
  });
});

describe('the schemas on their own', () => {
  const files = apiFiles().filter(({ file }) => file.startsWith('docs/api/schemas/'));

  test('are one for each event, for notifications and for the archive, each valid by itself', () => {
    const names = [...eventNames.map(kebabCase), 'notification', 'archive-record'];
    expect(files.map(({ file }) => file).sort()).toEqual(
      names.map((name) => `docs/api/schemas/${name}.json`).sort(),
    );
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    formats.default.default(ajv);
    for (const { text = '' } of files) {
      const schema = JSON.parse(text);
      expect(schema.$id).toMatch(/^urn:partner-webhooks:schema:[a-z_.-]+$/);
      const validate = ajv.compile(schema);
      const examples = [schema, ...(schema.oneOf ?? [])].flatMap((part) => part.examples ?? []);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) expect([schema.$id, validate(example)]).toEqual([schema.$id, true]);
    }
  });
});

test('the pattern of a signature has exactly the spellings that the receiver takes', () => {
  const pattern = new RegExp(SIGNATURE_PATTERN, 'u');
  const hex = 'aB'.repeat(32);
  const base64 = `${'A'.repeat(41)}+/`;
  const url = `${'A'.repeat(41)}-_`;
  const spellings = [hex, base64, `${base64}=`, url, `${url}=`].flatMap((one) => [one, `sha256=${one}`]);
  const wrong = [
    ...['', ' ', 'sha256=', 'sha1=', hex.slice(1), `${hex}0`, `${base64}==`, `${'A'.repeat(41)}+_`],
    ...spellings.flatMap((one) => [` ${one}`, `${one}\n`, `SHA256=${one}`, `${one},${one}`, `=${one}`]),
  ];
  for (const text of [...spellings, ...wrong]) {
    expect([text, pattern.test(text)]).toEqual([text, decodeSignature(text) !== undefined]);
  }
  expect(spellings.every((text) => pattern.test(text))).toBe(true);
});

test('the document that docs/subscribers.md shows is a published example', () => {
  const [, shown = ''] = /```json\n([^`]*)```/.exec(readFileSync('docs/subscribers.md', 'utf8')) ?? [];
  const { examples } = asyncApi.at('components', 'schemas', 'ReviewPostedNotification');
  expect(examples).toContainEqual(JSON.parse(shown));
});

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

const [sample] = readSamples();
if (sample === undefined) throw new Error('There is no sample');
const body = JSON.stringify(sample.payload);
const wrongFields = JSON.stringify({ ...sample.payload, data: { updated_fields: Array(99).fill(0) } });

describe('an answer of the receiver is what the description says', () => {
  test.each([
    { event: sample.event, expected: 'queued' },
    { event: 'example.unknown', expected: 'parked' },
  ])('to $event: it is $expected', async ({ event, expected }) => {
    const answer = await post(JSON.stringify({ ...sample.payload, event }));
    expect(answer).toMatchObject({ status: 200, body: { status: expected } });
    expect(problemsOf(answer)).toEqual([]);
  });

  test.each([
    { what: 'is not usable', unusable: '{"event":"shop.updated"}' },
    { what: 'has too many problems to name', unusable: wrongFields },
    { what: 'is too large for a message, and no JSON', unusable: 'x'.repeat(1_100_000) },
  ])('to a payload that $what', async ({ unusable }) => {
    const answer = await post(unusable);
    expect(answer.status).toBe(400);
    expect(problemsOf(answer)).toEqual([]);
  });

  test('to an event that is too large for a message', async () => {
    const large = { ...sample.payload, webhookId: 'x'.repeat(1_100_000) };
    expect(problemsOf(await post(JSON.stringify(large)))).toEqual([]);
  });

  test('to a wrong signature', async () => {
    const answer = await post(body, 'f'.repeat(64));
    expect(answer.status).toBe(401);
    expect(problemsOf(answer)).toEqual([]);
  });

  test('to a failure', async () => {
    await queues.client.send(new DeleteQueueCommand({ QueueUrl: aws.outputs.UnroutedQueueUrl }));
    const answer = await post(JSON.stringify({ ...sample.payload, event: 'example.unknown' }));
    expect(answer.status).toBe(500);
    expect(problemsOf(answer)).toEqual([]);
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

  const noBody = async () => undefined;
  const largeBody = async () => Buffer.alloc(7_000_000);
  test.each([
    { status: 404, given: () => answer(nothing, { path: '/' }) },
    { status: 413, given: () => answer(nothing, { read: noBody }) },
    { status: 413, given: () => answer(nothing, { read: largeBody }) },
    { status: 429, given: () => answer(nothing, { rate: 0 }) },
    { status: 500, given: () => answer(rejected) },
    { status: 503, given: () => answer(throttled) },
    { status: 503, given: () => answer(late, { limit: 1 }) },
  ])('$status', async ({ status, given }) => {
    const { response } = await given();
    expect(response.status).toBe(status);
    expect(problemsOf(answered(response))).toEqual([]);
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
