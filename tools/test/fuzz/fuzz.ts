import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Message } from '@aws-sdk/client-sqs';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import fc from 'fast-check';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { queueUrlVariable } from '../../../lambda/events/event-names.ts';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import type { GatewayEvent } from '../../../lambda/receiver/request.ts';
import { functionEnvironment } from '../../../test/support/function-environment.ts';
import setUp from '../../../test/support/global-setup.ts';
import tearDown from '../../../test/support/global-teardown.ts';
import { Queues } from '../../../test/support/queues.ts';
import { startTestAws, type TestAws } from '../../../test/support/test-aws.ts';
import { httpApiEvent, restApiEvent } from '../../local/gateway/gateway-events.ts';
import type { GatewayKind } from '../../terminal/options.ts';
import { type Expectation, expectationOf, problemOfAnswer } from './expectation.ts';
import { type FuzzRequest, fuzzRequest, headersOf } from './requests.ts';

const SECOND_MESSAGE = 'A second message';

/**
 * Problems that a busy machine can cause. If a call to AWS times out, the receiver answers 500, or the SDK sends the
 * message again. They are violations only if they happen again when the requests are sent one by one.
 */
const CAUSED_BY_TIMEOUT = new RegExp(`^(${SECOND_MESSAGE}|No message, but .*|500, but .*)$`);

/** Number of requests to send before the queues are checked. */
const CHUNK = 500;

/**
 * Number of concurrent requests. Lambda gives an instance only one at a time, but 100,000 requests would then
 * take too long.
 */
const CONCURRENCY = 16;

type MessageDestination = EventName | 'unrouted' | 'quarantine';

interface Violation {
  readonly problem: string;
  readonly request: FuzzRequest;
}

interface FuzzReport {
  /** Number of answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Number of messages by queue. */
  readonly messages: Readonly<Record<string, number>>;
  /** Number of payloads that were stored in S3. */
  readonly stored: number;
  /** The first violation, with the request as small as possible. */
  readonly violation?: Violation;
}

/**
 * Sends generated requests to the receiver.
 * @param seed the same seed generates the same requests
 * @param gateway the kind of API that passes them on
 * @param onProgress called with the number of requests so far
 */
export async function fuzz(
  requests: number,
  seed: number,
  gateway: GatewayKind,
  onProgress: (done: number) => void,
): Promise<FuzzReport> {
  await setUp();
  // The AWS endpoint runs in a thread of its own, and so on another core.
  const worker = new Worker(new URL(import.meta.url), { workerData: ENDPOINT_ONLY });
  try {
    const [aws] = (await once(worker, 'message')) as [Pick<TestAws, 'outputs' | 'operator'>];
    const receiver = await FuzzedReceiver.load(aws, gateway);
    return await receiver.fuzz(requests, seed, onProgress).finally(() => receiver.close());
  } finally {
    await worker.terminate();
    await tearDown();
  }
}

const ENDPOINT_ONLY = 'Serves the AWS endpoint alone';
if (workerData === ENDPOINT_ONLY) {
  const { outputs, operator } = await startTestAws();
  parentPort?.postMessage({ outputs, operator });
}

type ReceiverHandler = (event: GatewayEvent, context: Context) => Promise<APIGatewayProxyStructuredResultV2>;

type LoadedReceiver = Awaited<ReturnType<typeof load>>;

/** Loads the receiver with the environment variables of the template, and without its log. */
async function load({ outputs, operator }: Pick<TestAws, 'outputs' | 'operator'>, gateway: GatewayKind) {
  const environment = functionEnvironment('receiver', { outputs, operator });
  Object.assign(process.env, environment);
  const queueUrls = new Map<MessageDestination, string | undefined>([
    ...eventNames.map((event) => [event, environment[queueUrlVariable(event)]] as const),
    ['unrouted', environment.UNROUTED_QUEUE_URL],
    ['quarantine', environment.QUARANTINE_QUEUE_URL],
  ]);
  const queues = new Queues(operator);
  const s3 = new S3Client({ ...operator, endpoint: environment.AWS_ENDPOINT_URL_S3 ?? '' });
  const { handler } = await import('../../../lambda/receiver/handler.ts');
  return {
    handler: handler as unknown as ReceiverHandler,
    gateway,
    queues,
    s3,
    payloadBucket: environment.PAYLOAD_BUCKET,
    queueUrls,
  };
}

/** The receiver with real AWS clients, and the queues that it sends to. */
export class FuzzedReceiver {
  readonly #loaded: LoadedReceiver;
  readonly #statuses: Record<string, number> = {};
  readonly #messages: Record<string, number> = {};
  #stored = 0;

  static async load(
    aws: Pick<TestAws, 'outputs' | 'operator'>,
    gateway: GatewayKind,
  ): Promise<FuzzedReceiver> {
    return new FuzzedReceiver(await load(aws, gateway));
  }

  private constructor(loaded: LoadedReceiver) {
    this.#loaded = loaded;
  }

  /** Sends generated requests until the count is reached or an answer or a message is wrong. */
  async fuzz(
    requests: number,
    seed: number,
    onProgress: (done: number) => void = () => {},
  ): Promise<FuzzReport> {
    const seeds = fc.sample(fc.integer(), { seed, numRuns: Math.ceil(requests / CHUNK) });
    let done = 0;
    for (const chunkSeed of seeds) {
      const parameters = { seed: chunkSeed, numRuns: Math.min(CHUNK, requests - done) };
      const violations = await this.#examine(fc.sample(fuzzRequest, parameters));
      const violation = violations.find(({ problem }) => !CAUSED_BY_TIMEOUT.test(problem)) ?? violations[0];
      if (violation !== undefined) {
        const smallest = await this.#smallest(parameters);
        if (smallest !== undefined || !CAUSED_BY_TIMEOUT.test(violation.problem)) {
          return { ...this.#report(), violation: smallest ?? violation };
        }
      }
      done += parameters.numRuns;
      onProgress(done);
    }
    return this.#report();
  }

  #report(): FuzzReport {
    return { statuses: this.#statuses, messages: this.#messages, stored: this.#stored };
  }

  /** Sends the same requests one by one, and makes the first that violates a rule as small as possible. */
  async #smallest(parameters: { seed: number; numRuns: number }): Promise<Violation | undefined> {
    let smallest: Violation | undefined;
    await fc.check(
      fc.asyncProperty(fuzzRequest, async (request) => {
        const [violation] = await this.#examine([request]);
        if (violation !== undefined) smallest = violation;
        return violation === undefined;
      }),
      parameters,
    );
    return smallest;
  }

  /** Sends requests, and checks each answer and all messages on the queues. */
  async #examine(requests: readonly FuzzRequest[]): Promise<Violation[]> {
    const violations: Violation[] = [];
    const sent = new Map<string, { request: FuzzRequest; expectation: Expectation }>();
    const waiting = requests.values();
    const send = async () => {
      for (const request of waiting) {
        const requestId = randomUUID();
        const expectation = expectationOf(request, this.#loaded.gateway);
        sent.set(requestId, { request, expectation });
        const problem = await this.#send(request, requestId, expectation);
        if (problem !== undefined) violations.push({ problem, request });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, send));
    const kept = new Set<string>();
    for (const { message, destination } of await this.#drain()) {
      this.#messages[destination] = (this.#messages[destination] ?? 0) + 1;
      const requestId = message.MessageAttributes?.requestId?.StringValue ?? '';
      const cause = sent.get(requestId);
      if (cause === undefined) throw new Error(`${destination} holds a message of none of the requests`);
      const problem = kept.has(requestId)
        ? SECOND_MESSAGE
        : await this.#problemOfMessage(message, destination, cause.expectation);
      kept.add(requestId);
      if (problem !== undefined) violations.push({ problem, request: cause.request });
    }
    for (const [requestId, { request, expectation }] of sent) {
      if (expectation.status === 401 || kept.has(requestId)) continue;
      violations.push({ problem: `No message, but ${expectation.status} was due`, request });
    }
    return violations;
  }

  async #send(
    request: FuzzRequest,
    requestId: string,
    expectation: Expectation,
  ): Promise<string | undefined> {
    const { handler, gateway } = this.#loaded;
    try {
      const answer = await handler(EVENT[gateway](request, requestId), CONTEXT);
      this.#statuses[String(answer.statusCode)] = (this.#statuses[String(answer.statusCode)] ?? 0) + 1;
      return problemOfAnswer(answer, requestId, expectation);
    } catch (error) {
      return `The handler threw ${String(error)}`;
    }
  }

  /** Receives and deletes all messages of all queues. */
  async #drain(): Promise<{ message: Message; destination: MessageDestination }[]> {
    const { queues, queueUrls } = this.#loaded;
    const drained = await Promise.all(
      [...queueUrls].map(async ([destination, url]) => {
        const messages = await queues.takeAll(url);
        return messages.map((message) => ({ message, destination }));
      }),
    );
    return drained.flat();
  }

  async #problemOfMessage(
    { Body = '', MessageAttributes = {} }: Message,
    destination: MessageDestination,
    expectation: Expectation,
  ): Promise<string | undefined> {
    if (expectation.status === 401) return 'A message of a request without a valid signature';
    if (MessageAttributes.eventId?.StringValue !== expectation.eventId)
      return 'A message with another eventId';
    const due = expectation.status === 200 ? expectation.queue : 'quarantine';
    if (destination !== due) return `A message on ${destination}, but it was due on ${due}`;

    const key = MessageAttributes.payloadKey?.StringValue;
    if (key !== undefined) {
      this.#stored += 1;
      const { s3, payloadBucket: Bucket } = this.#loaded;
      const { Body: object } = await s3.send(new GetObjectCommand({ Bucket, Key: key }));
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

  close(): void {
    this.#loaded.queues.client.destroy();
    this.#loaded.s3.destroy();
  }
}

const CONTEXT = { getRemainingTimeInMillis: () => 15_000 } as unknown as Context;

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

/** The Lambda event of a request, for each kind of API. */
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
