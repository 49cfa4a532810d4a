import { randomUUID } from 'node:crypto';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import fc from 'fast-check';
import { httpApiEvent, restApiEvent } from '../../events/gateway-events.ts';
import { catalogue, type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import { queueUrlVariable } from '../../lambda/events/event-names.ts';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import type { GatewayEvent } from '../../lambda/receiver/request.ts';
import type { GatewayKind } from '../../tools/cli/terminal/options.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { TestAws } from '../support/test-aws.ts';
import { TEST_SECRET } from '../support/test-stack.ts';
import { PERSONAL } from './bodies.ts';
import { type Expectation, expectationOf } from './expectation.ts';
import { type FuzzRequest, fuzzRequest, headersOf } from './requests.ts';

/** Requests that are generated, and checked against the queues, at a time. */
const CHUNK = 500;

/** Requests under way at a time. Lambda gives an instance one; here it is what makes 100,000 bearable. */
const CONCURRENCY = 16;

/** Where a message may end up. */
type Destination = EventName | 'unrouted' | 'quarantine';

export interface Violation {
  readonly problem: string;
  readonly request: FuzzRequest;
}

export interface FuzzReport {
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Messages by queue. */
  readonly messages: Readonly<Record<string, number>>;
  /** Payloads that went through S3. */
  readonly stored: number;
  /** The first violation, as small as it could be made. */
  readonly violation?: Violation;
}

type Handler = (event: GatewayEvent, context: Context) => Promise<APIGatewayProxyStructuredResultV2>;

/** The receiver, whole, with its own AWS clients, and the queues that it sends to. */
export class FuzzedReceiver {
  readonly #handler: Handler;
  readonly #gateway: GatewayKind;
  readonly #sqs: SQSClient;
  readonly #s3: S3Client;
  readonly #bucket: string;
  readonly #urls: ReadonlyMap<Destination, string>;
  readonly #statuses: Record<string, number> = {};
  readonly #messages: Record<string, number> = {};
  #stored = 0;

  private constructor(
    handler: Handler,
    gateway: GatewayKind,
    clients: { sqs: SQSClient; s3: S3Client; bucket: string },
    urls: ReadonlyMap<Destination, string>,
  ) {
    this.#handler = handler;
    this.#gateway = gateway;
    this.#sqs = clients.sqs;
    this.#s3 = clients.s3;
    this.#bucket = clients.bucket;
    this.#urls = urls;
  }

  /**
   * Loads the receiver with the environment that the stack gives it. Its log is silent.
   * @param gateway the kind of API whose events it gets
   */
  static async load(
    { outputs, operator }: Pick<TestAws, 'outputs' | 'operator'>,
    gateway: GatewayKind,
  ): Promise<FuzzedReceiver> {
    const environment = functionEnvironment('receiver', { outputs, operator });
    Object.assign(process.env, environment);
    const urls = new Map<Destination, string>([
      ...eventNames.map((event) => [event, environment[queueUrlVariable(event)] ?? ''] as const),
      ['unrouted', environment.UNROUTED_QUEUE_URL ?? ''],
      ['quarantine', environment.QUARANTINE_QUEUE_URL ?? ''],
    ]);
    const clients = {
      sqs: new SQSClient(operator),
      s3: new S3Client({ ...operator, endpoint: environment.AWS_ENDPOINT_URL_S3 ?? '' }),
      bucket: environment.PAYLOAD_BUCKET ?? '',
    };
    const { handler } = await import('../../lambda/receiver/handler.ts');
    return new FuzzedReceiver(handler as unknown as Handler, gateway, clients, urls);
  }

  /**
   * Sends generated requests until there have been so many, or one of them is treated wrongly.
   * @param seed the same seed makes the same requests
   * @param onProgress told how many there have been
   */
  async fuzz(
    requests: number,
    seed: number,
    onProgress: (done: number) => void = () => {},
  ): Promise<FuzzReport> {
    const seeds = fc.sample(fc.integer(), { seed, numRuns: Math.ceil(requests / CHUNK) });
    let done = 0;
    for (const chunkSeed of seeds) {
      const parameters = { seed: chunkSeed, numRuns: Math.min(CHUNK, requests - done) };
      const [violation] = await this.examine(fc.sample(fuzzRequest, parameters));
      if (violation !== undefined) {
        return { ...this.#report(), violation: (await this.#smallest(parameters)) ?? violation };
      }
      done += parameters.numRuns;
      onProgress(done);
    }
    return this.#report();
  }

  #report(): FuzzReport {
    return { statuses: this.#statuses, messages: this.#messages, stored: this.#stored };
  }

  /** Sends the same requests again, one by one, and shrinks the first that is treated wrongly. */
  async #smallest(parameters: { seed: number; numRuns: number }): Promise<Violation | undefined> {
    let smallest: Violation | undefined;
    await fc.check(
      fc.asyncProperty(fuzzRequest, async (request) => {
        const [violation] = await this.examine([request]);
        if (violation !== undefined) smallest = violation;
        return violation === undefined;
      }),
      parameters,
    );
    return smallest;
  }

  /** Sends requests, and looks at each answer and at everything that is on the queues after the last. */
  async examine(requests: readonly FuzzRequest[]): Promise<Violation[]> {
    const violations: Violation[] = [];
    const sent = new Map<string, { request: FuzzRequest; expectation: Expectation }>();
    const waiting = requests.values();
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        for (const request of waiting) {
          const requestId = randomUUID();
          const expectation = expectationOf(request, TEST_SECRET, this.#gateway);
          sent.set(requestId, { request, expectation });
          const problem = await this.#send(request, requestId, expectation);
          if (problem !== undefined) violations.push({ problem, request });
        }
      }),
    );
    const kept = new Set<string>();
    for (const { message, destination } of await this.#drain()) {
      this.#count(this.#messages, destination);
      const requestId = message.MessageAttributes?.requestId?.StringValue ?? '';
      const cause = sent.get(requestId);
      if (cause === undefined) throw new Error(`${destination} holds a message of none of the requests`);
      const problem = kept.has(requestId)
        ? 'A second message'
        : await this.#problemOfMessage(message, destination, cause.expectation);
      kept.add(requestId);
      if (problem !== undefined) violations.push({ problem, request: cause.request });
    }
    for (const [requestId, { request, expectation }] of sent) {
      if (expectation.status === 401 || kept.has(requestId)) continue;
      violations.push({ problem: `No message, where ${expectation.status} was due`, request });
    }
    return violations;
  }

  async #send(
    request: FuzzRequest,
    requestId: string,
    expectation: Expectation,
  ): Promise<string | undefined> {
    let answer: APIGatewayProxyStructuredResultV2;
    try {
      answer = await this.#handler(EVENT[this.#gateway](request, requestId), CONTEXT);
    } catch (error) {
      return `The handler threw ${String(error)}`;
    }
    this.#count(this.#statuses, String(answer.statusCode));
    return problemOfAnswer(answer, request, requestId, expectation);
  }

  async #drain(): Promise<{ message: Message; destination: Destination }[]> {
    const drained = await Promise.all(
      [...this.#urls].map(async ([destination, QueueUrl]) => {
        const all: Message[] = [];
        for (;;) {
          const { Messages = [] } = await this.#sqs.send(
            new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] }),
          );
          if (Messages.length === 0) return all.map((message) => ({ message, destination }));
          all.push(...Messages);
          await this.#sqs.send(
            new DeleteMessageBatchCommand({
              QueueUrl,
              Entries: Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
            }),
          );
        }
      }),
    );
    return drained.flat();
  }

  async #problemOfMessage(
    { Body = '', MessageAttributes = {} }: Message,
    destination: Destination,
    expectation: Expectation,
  ): Promise<string | undefined> {
    if (expectation.status === 401) return 'A message of a request without a valid signature';
    if (MessageAttributes.eventId?.StringValue !== expectation.eventId)
      return 'A message with another eventId';
    const due = expectation.status === 200 ? expectation.queue : 'quarantine';
    if (destination !== due) return `A message on ${destination}, where it was due on ${due}`;

    const key = MessageAttributes.payloadKey?.StringValue;
    if (key !== undefined) {
      this.#stored += 1;
      const { Body: object } = await this.#s3.send(new GetObjectCommand({ Bucket: this.#bucket, Key: key }));
      const bytes = Buffer.from((await object?.transformToByteArray()) ?? []);
      return bytes.equals(expectation.bytes) ? undefined : 'Stored bytes that differ from the request’s';
    }
    if (expectation.status === 400) {
      return Buffer.from(JSON.parse(Body).bodyBase64, 'base64').equals(expectation.bytes)
        ? undefined
        : 'Quarantined bytes that differ from the request’s';
    }
    const escaped = expectation.text.replaceAll('\ufffe', '\\ufffe').replaceAll('\uffff', '\\uffff');
    return Body === escaped ? undefined : 'A message that differs from the request’s text';
  }

  #count(counts: Record<string, number>, name: string): void {
    counts[name] = (counts[name] ?? 0) + 1;
  }

  close(): void {
    this.#sqs.destroy();
    this.#s3.destroy();
  }
}

const CONTEXT = {
  functionName: 'receiver',
  functionVersion: '$LATEST',
  memoryLimitInMB: '512',
  awsRequestId: 'fuzz',
  invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:receiver',
  getRemainingTimeInMillis: () => 15_000,
} as unknown as Context;

const API = { accountId: '000000000000', apiId: 'fuzz', domainName: 'localhost' };

const gatewayRequest = (request: FuzzRequest, requestId: string) => ({
  ...request,
  method: 'POST',
  path: WEBHOOK_PATH,
  headers: headersOf(request),
  sourceIp: '127.0.0.1',
  receivedAt: new Date('2026-01-31T09:00:00Z'),
  requestId,
});

/** The event that each kind of API makes of a request. */
const EVENT: Record<GatewayKind, (request: FuzzRequest, requestId: string) => GatewayEvent> = {
  http: (request, requestId) => httpApiEvent(gatewayRequest(request, requestId), API),
  rest: (request, requestId) =>
    restApiEvent(gatewayRequest(request, 'chosen-by-the-client'), {
      ...API,
      resourceId: 'partner',
      resourcePath: WEBHOOK_PATH.slice('/api'.length),
      stage: 'api',
      extendedRequestId: requestId,
    }),
};

/** The fields of `data` that we know, and what stands at a place of a list in one. */
const OWN_FIELD = eventNames.flatMap((event) => Object.keys(catalogue[event].data.shape)).join('|');

/** What a 400 may name. Names of fields are ours; those that the partner makes up never show. */
const FIELD = new RegExp(`^(?:body|event|data|timestamp|data\\.(?:${OWN_FIELD})(?:\\.\\d+)?)$`);
const DETAIL =
  /^(?:must not be empty|must be (?:UTF-8|JSON|a JSON object|well-formed Unicode)|(?:is missing: expected|must be) (?:an object|a string|an array of strings|a non-empty string|a non-empty string or an integer below 2\^53|an ISO 8601 date-time in UTC, such as 2026-01-31T09:00:00Z))$/;

/** Judges an answer by decision D3. Every word of it is known beforehand, so nothing of the request can be in it. */
function problemOfAnswer(
  { statusCode, headers, body = '' }: APIGatewayProxyStructuredResultV2,
  request: FuzzRequest,
  requestId: string,
  expectation: Expectation,
): string | undefined {
  if (statusCode !== expectation.status) return `${statusCode}, where ${expectation.status} was due`;
  const signature = request.headers['x-webhook-signature'];
  if (body.includes(PERSONAL)) return 'An answer with a part of the body';
  if (signature !== undefined && signature.length > 20 && body.includes(signature))
    return 'An answer with the signature';
  if (body.includes(TEST_SECRET)) return 'An answer with the secret';

  const contentType = statusCode === 200 ? 'application/json' : 'application/problem+json';
  if (JSON.stringify(headers) !== JSON.stringify({ 'content-type': contentType })) return 'Other headers';
  const known = JSON.parse(body);
  return JSON.stringify(known) === JSON.stringify(dueBody(expectation, requestId, known.errors))
    ? undefined
    : `An answer of another form: ${body}`;
}

function dueBody(expectation: Expectation, requestId: string, errors: unknown): unknown {
  if (expectation.status === 200) {
    const status = expectation.queue === 'unrouted' ? 'parked' : 'queued';
    return { status, eventId: expectation.eventId, requestId };
  }
  if (expectation.status === 401) {
    return {
      type: 'urn:partner-webhooks:problem:invalid-signature',
      title: 'Invalid signature',
      status: 401,
      detail: 'X-Webhook-Signature is not the HMAC-SHA256 of the request body under the shared secret.',
      requestId,
    };
  }
  const list = (Array.isArray(errors) ? errors : []) as { field: string; detail: string }[];
  const sound = list.filter(({ field, detail }) => FIELD.test(field) && DETAIL.test(detail)).slice(0, 20);
  if (sound.length === 0) return 'one problem at least';
  return {
    type: 'urn:partner-webhooks:problem:unusable-event',
    title: 'Unusable event',
    status: 400,
    detail: `The payload was kept for review. ${sound.map(({ field, detail }) => `${field} ${detail}`).join('; ')}.`,
    errors: sound.map(({ field, detail }) => ({ field, detail })),
    requestId,
  };
}
