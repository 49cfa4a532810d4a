import { createHmac, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import fc from 'fast-check';
import { httpApiEvent } from 'local-aws/gateway';
import { readSamples } from '../../../events/samples.ts';
import { queueUrlVariable } from '../../../lambda/events/event-names.ts';
import type { GatewayEvent } from '../../../lambda/receiver/request.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { TEST_SECRET } from '../../support/partner.ts';
import { Queues } from '../../support/queues.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

let aws: TestAws;
let environment: Record<string, string>;
let receive: (event: GatewayEvent, context: Context) => Promise<APIGatewayProxyStructuredResultV2>;
beforeAll(async () => {
  aws = await startTestAws();
  environment = functionEnvironment('receiver', aws);
  Object.assign(process.env, environment);
  const { handler } = await import('../../../lambda/receiver/handler.ts');
  receive = handler as unknown as typeof receive;
});
afterAll(() => aws.close());

const PERSONAL = 'personal-';

/** A body, and the queue on which the decisions want it. A damaged body may also be in quarantine. */
interface Delivery {
  readonly bytes: Buffer;
  readonly due: string;
}

const personal = fc.string({ unit: anyCharacter, maxLength: 20 }).map((text) => PERSONAL + text);

/** The sample of an event with other texts and unknown fields, which decision 10 keeps. */
const usable: fc.Arbitrary<Delivery> = fc
  .record({
    sample: fc.constantFrom(...readSamples()),
    id: personal,
    more: fc.dictionary(personal, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
    spaces: fc.nat(2),
  })
  .map(({ sample: { event, payload }, id, more, spaces }) => {
    const known = payload.data as Record<string, unknown>;
    const data = { ...more, ...known };
    for (const field of Object.keys(known)) if (field.endsWith('_id')) Object.assign(data, { [field]: id });
    const bytes = Buffer.from(JSON.stringify({ ...more, ...payload, data }, null, spaces));
    return { bytes, due: queueUrlVariable(event) };
  });

const unknown: fc.Arbitrary<Delivery> = personal.map((event) => ({
  bytes: Buffer.from(JSON.stringify({ event, data: {}, timestamp: '2026-01-31T09:00:00Z' })),
  due: 'UNROUTED_QUEUE_URL',
}));

const unusable: fc.Arbitrary<Delivery> = fc
  .oneof(
    // Not UTF-8.
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.concat([bytes, Buffer.of(0xff)])),
    usable.chain(({ bytes }) => fc.nat(bytes.length - 1).map((end) => bytes.subarray(0, end))),
    fc.jsonValue().map((value) => Buffer.from(JSON.stringify({ event: 'shop.updated', data: value }))),
  )
  .map((bytes) => ({ bytes, due: 'QUARANTINE_QUEUE_URL' }));

const sign = (bytes: Uint8Array, secret = TEST_SECRET) => createHmac('sha256', secret).update(bytes).digest();

/** Right spellings of a signature (decision 1), and wrong signatures. */
const signature = fc.oneof(
  fc
    .constantFrom(
      (bytes: Buffer) => sign(bytes).toString('hex'),
      (bytes: Buffer) => sign(bytes).toString('hex').toUpperCase(),
      (bytes: Buffer) => `sha256=${sign(bytes).toString('base64')}`,
      (bytes: Buffer) => sign(bytes).toString('base64url'),
    )
    .map((of) => ({ of, isRight: true })),
  fc
    .oneof(
      fc.constantFrom(
        (bytes: Buffer) => sign(bytes, `${TEST_SECRET} `).toString('hex'),
        (bytes: Buffer) => sign(Buffer.concat([bytes, Buffer.from('\n')])).toString('hex'),
        (bytes: Buffer) => sign(bytes).toString('hex').slice(1),
        (bytes: Buffer) => `"${sign(bytes).toString('hex')}"`,
      ),
      fc.string({ unit: anyCharacter, maxLength: 70 }).map((text) => () => text),
    )
    .map((of) => ({ of, isRight: false })),
);

/** Everything on a queue, as the bytes that were sent. */
async function takeBytes(queueUrl: string | undefined, isQuarantine: boolean): Promise<Buffer[]> {
  const messages = await new Queues(aws.operator).takeAll(queueUrl);
  return messages.map(({ Body = '' }) =>
    isQuarantine ? Buffer.from(JSON.parse(Body).bodyBase64, 'base64') : Buffer.from(Body),
  );
}

/** Sends a request as an HTTP API does. */
const send = (bytes: Buffer, signature: string, isText: boolean) =>
  receive(
    httpApiEvent(
      {
        method: 'POST',
        path: '/api/v1/webhooks/partner',
        headers: [['x-webhook-signature', signature]],
        body: bytes.toString(isText ? 'utf8' : 'base64'),
        isBase64Encoded: !isText,
        sourceIp: '192.0.2.1',
        receivedAt: new Date(),
        requestId: randomUUID(),
      },
      { accountId: '0', apiId: 'api', domainName: 'localhost' },
    ),
    {} as Context,
  );

test.each([
  ['usable', usable, 200],
  ['of an unknown kind', unknown, 200],
  ['unusable', unusable, 400],
] as const)(
  'a signed delivery that is %s is kept once, byte for byte; one that is not signed is kept nowhere',
  async (_, deliveries, status) => {
    const property = fc.asyncProperty(
      deliveries,
      signature,
      fc.boolean(),
      async ({ bytes, due }, signed, asText) => {
        const isText = asText && bytes.equals(Buffer.from(bytes.toString()));
        const answer = await send(bytes, signed.of(bytes), isText);
        expect(answer.statusCode).toBe(signed.isRight ? status : 401);
        expect(answer.body).not.toContain(PERSONAL);
        const kept = await takeBytes(environment[due], status === 400);
        // SQS does not store U+FFFE and U+FFFF. In JSON, their escapes mean the same (decision 5).
        const escaped = bytes.toString().replaceAll('\ufffe', '\\ufffe').replaceAll('\uffff', '\\uffff');
        const expected = status === 400 ? bytes : Buffer.from(escaped);
        expect(kept.map((one) => one.toString('base64'))).toEqual(
          signed.isRight ? [expected.toString('base64')] : [],
        );
      },
    );
    await fc.assert(property, { numRuns: 100 });
    for (const [name, url] of Object.entries(environment)) {
      if (name.endsWith('QUEUE_URL'))
        expect({ name, left: await new Queues(aws.operator).count(url) }).toEqual({ name, left: 0 });
    }
  },
);

const event = (name: string, data: string) =>
  `{"event":"${name}","data":${data},"timestamp":"2026-01-31T09:00:00Z"}`;

test.each([
  {
    what: 'deep nesting',
    body: event('girl.created', `{"girl_id":"g","x":${'['.repeat(4e5)}${']'.repeat(4e5)}}`),
    status: 200,
  },
  {
    what: 'a long list of wrong entries',
    body: event('shop.updated', `{"shop_id":"s","updated_fields":[${'1,'.repeat(1e6)}1]}`),
    status: 400,
  },
  {
    what: 'an id of control characters',
    body: event('shop.updated', '{"shop_id":"\\u0000\\u0007"}'),
    status: 200,
  },
  {
    what: 'an id of 10,000 characters',
    body: event('shop.updated', `{"shop_id":"${'x'.repeat(10_000)}"}`),
    status: 200,
  },
  { what: 'NUL bytes', body: '\0'.repeat(100), status: 400 },
  { what: 'compressed data', body: gzipSync(event('shop.updated', '{"shop_id":"s"}')), status: 400 },
])('a hostile body gets $status: $what', async ({ body, status }) => {
  const bytes = Buffer.from(body);
  expect((await send(bytes, sign(bytes).toString('hex'), false)).statusCode).toBe(status);
});
