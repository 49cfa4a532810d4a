import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BODY_LIMIT_BYTES,
  type HttpRequest,
  type HttpResponse,
  httpApi,
  listen,
  requestOf,
} from 'local-aws/gateway';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import { sha256Hex } from '../../lambda/hash.ts';
import { GATEWAY_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
import { PARKED } from '../../lambda/log-messages.ts';
import { createReceiver, type DeliveryOutcome } from '../../lambda/receiver/receive.ts';
import type { AnswerStep } from './answer-steps.ts';
import {
  patienceFinding,
  type RequestEnding,
  repeatFindings,
  SentDeliveries,
  type SentDelivery,
} from './deliveries.ts';
import { explainSignature } from './explain-signature.ts';
import { type Finding, type Grade, wrong } from './finding.ts';
import { connectionFinding, httpFindings } from './http-findings.ts';
import { knownEvent, payloadFindings } from './payload-findings.ts';

/** Milliseconds after which an HTTP API answers 503 if a function has not answered. */
const GATEWAY_TIMEOUT = GATEWAY_TIMEOUT_SECONDS * 1_000;
/** Milliseconds between two checks whether a request has exceeded its timeout. */
const TIMEOUT_CHECK_INTERVAL = 500;
/** Milliseconds for which an idle connection stays open: longer than most senders wait before a repeat. */
const KEEP_ALIVE = 65_000;
/** Maximum open connections, because a process may open only a few thousand files. */
const MAX_CONNECTIONS = 2_000;

const GRADES: readonly Grade[] = ['wrong', 'risky', 'fine'];

/** The verdict on one request, or on bytes that are not a complete request, which have no status. */
export interface Verdict {
  readonly request: number;
  readonly at: Date;
  /** HTTP status of the service's own answer. */
  readonly status: number | undefined;
  /** `status` in the body of an answer 200. */
  readonly word: 'queued' | 'parked' | undefined;
  readonly event: EventName | undefined;
  readonly eventId: string | undefined;
  /** Bytes of the body that arrived. */
  readonly bytes: number;
  /** How the request ended. Differs from `status` if another answer was simulated. */
  readonly ending: RequestEnding;
  /** Number of the delivery, and of the request within it. */
  readonly delivery: number | undefined;
  readonly attempt: number | undefined;
  /** The worst first. */
  readonly findings: readonly Finding[];
}

interface CheckerOptions {
  readonly secret: string;
  /** Port to listen on; 0 for any free port. */
  readonly port: number;
  /** Address to listen on. @default both loopback addresses */
  readonly host?: string | undefined;
  /** Answers to the requests of each delivery, in order. The last one repeats. @default the service's answers */
  readonly steps?: readonly AnswerStep[];
  readonly onVerdict: (verdict: Verdict) => void;
  /** Milliseconds for a whole request. @default that of API Gateway */
  readonly requestTimeout?: number;
}

/** A request that is being read. */
interface CurrentRequest {
  bytes: number;
  isRead: boolean;
}

/** A server that answers each request as the service does, or as a simulated step says, and reports a verdict. */
export class Checker {
  readonly #options: CheckerOptions;
  readonly #deliveries = new SentDeliveries();
  readonly #current = new WeakMap<Duplex, CurrentRequest>();
  readonly #closing = new AbortController();
  #servers: readonly Server[] = [];
  #count = 0;
  port = 0;

  /** @throws Error of Node.js, such as EADDRINUSE if the port is in use */
  static async start(options: CheckerOptions): Promise<Checker> {
    const checker = new Checker(options);
    await checker.#listen();
    return checker;
  }

  private constructor(options: CheckerOptions) {
    this.#options = options;
  }

  deliveries(): readonly SentDelivery[] {
    return this.#deliveries.all();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const closed = this.#servers.map((server) => once(server.close(), 'close'));
    for (const server of this.#servers) server.closeAllConnections();
    await Promise.all(closed);
  }

  async #listen(): Promise<void> {
    const { port, host, requestTimeout = GATEWAY_TIMEOUT } = this.#options;
    const serve = (message: IncomingMessage, response: ServerResponse) => void this.#serve(message, response);
    const settings = {
      requestTimeout,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL,
      keepAliveTimeout: KEEP_ALIVE,
      requireHostHeader: false,
    };
    const listening = await listen(settings, serve, { port, host });
    this.port = listening.port;
    this.#servers = listening.servers;
    for (const server of this.#servers) {
      server.maxConnections = MAX_CONNECTIONS;
      server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
        const current = this.#current.get(socket);
        if (socket.writable && error.code !== 'ECONNRESET')
          socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
        socket.destroy();
        const isIdle = error.code === 'ECONNRESET' && (current === undefined || current.isRead);
        if (!isIdle && !this.#closing.signal.aborted) this.#reportBroken(error, current);
      });
    }
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = performance.now();
    const current = { bytes: 0, isRead: false };
    this.#current.set(message.socket, current);
    const request = requestOf(message, this.port);
    const body = await bodyOf(message, current).catch(() => undefined);
    if (current.isRead)
      return await this.#judge(request, body, { message, response, start, bytes: current.bytes });
    response.destroy();
    // If the sender disconnected, there may be no `clientError`.
    if (!this.#closing.signal.aborted) this.#reportBroken(new Error('closed'), current);
  }

  async #judge(
    request: HttpRequest,
    body: Buffer | undefined,
    {
      message,
      response,
      start,
      bytes,
    }: { message: IncomingMessage; response: ServerResponse; start: number; bytes: number },
  ): Promise<void> {
    const { secret, steps = [] } = this.#options;
    const own = await serviceAnswer(request, body, secret);
    const { status } = own.response;
    const recorded = own.outcome && body && this.#deliveries.record({ ...request, body }, start);
    const repeats = recorded ? [...repeatFindings(recorded.delivery, recorded.attempt)] : [];
    const attempt = recorded?.delivery.attempts.length;
    const step = steps[Math.min(attempt ?? 0, steps.length) - 1] ?? {};
    const answer = await this.#answerOf(step, own.response, response);
    const ending = await send(message, response, answer, step);
    const at = performance.now();
    const retryAfterSeconds = Number(answer.headers['retry-after'] ?? 0);
    if (recorded) recorded.attempt.end = { how: ending, at, retryAfterSeconds };
    const hasGivenUp = ending === 'no answer' && step.cut === undefined && !this.#closing.signal.aborted;
    this.#report({
      at: request.receivedAt,
      status,
      ...(status === 200 && body && { word: wordOf(own), event: knownEvent(body) }),
      eventId: body && sha256Hex(body),
      bytes,
      ending,
      delivery: recorded?.delivery.number,
      attempt,
      findings: [
        ...(await findingsOf(request, body, secret)),
        ...repeats,
        ...(hasGivenUp ? [patienceFinding(at - start)] : []),
      ],
    });
  }

  /** An answer that takes longer than API Gateway's timeout becomes a 503. */
  async #answerOf(
    { status, headers, delayMilliseconds }: AnswerStep,
    own: HttpResponse,
    response: ServerResponse,
  ): Promise<HttpResponse> {
    if (status !== undefined) return failure(status, headers);
    if (delayMilliseconds === undefined) return own;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.#closing.signal]);
    await sleep(Math.min(delayMilliseconds, GATEWAY_TIMEOUT), undefined, { signal }).catch(() => {});
    return delayMilliseconds > GATEWAY_TIMEOUT ? failure(503) : own;
  }

  /** Reports an incomplete request, or bytes that are not a request. */
  #reportBroken(error: Error, current: CurrentRequest | undefined): void {
    const isBody = current !== undefined && !current.isRead;
    if (isBody) current.isRead = true;
    this.#report({
      at: new Date(),
      bytes: isBody ? current.bytes : 0,
      ending: 'no answer',
      findings: [connectionFinding(error, isBody ? current.bytes : undefined)],
    });
  }

  #report(verdict: Partial<Verdict> & Pick<Verdict, 'at' | 'bytes' | 'ending' | 'findings'>): void {
    this.#count += 1;
    const { findings } = verdict;
    const none = { status: undefined, word: undefined, event: undefined, eventId: undefined };
    this.#options.onVerdict({
      ...none,
      delivery: undefined,
      attempt: undefined,
      ...verdict,
      request: this.#count,
      findings: GRADES.flatMap((grade) => findings.filter((one) => one.grade === grade)),
    });
  }
}

/**
 * Reads a body up to API Gateway's limit. Further bytes are counted and dropped.
 * @returns undefined if it is too large
 * @throws Error if the sender disconnects
 */
async function bodyOf(message: IncomingMessage, current: CurrentRequest): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) {
    current.bytes += chunk.length;
    if (current.bytes <= BODY_LIMIT_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  current.isRead = true;
  return current.bytes > BODY_LIMIT_BYTES ? undefined : Buffer.concat(chunks);
}

interface ServiceAnswer {
  readonly response: HttpResponse;
  /** What the receiver did. Undefined if API Gateway answered itself. */
  readonly outcome: DeliveryOutcome | undefined;
}

const wordOf = ({ outcome }: ServiceAnswer) => (outcome?.outcome === PARKED ? 'parked' : 'queued');

/** The answer of the service: receiver and HTTP API, with queues that accept everything and store nothing. */
async function serviceAnswer(
  request: HttpRequest,
  body: Buffer | undefined,
  secret: string,
): Promise<ServiceAnswer> {
  let outcome: DeliveryOutcome | undefined;
  const receiver = createReceiver({
    secrets: { matchesAny: async (test) => test([secret]) },
    queues: { enqueue: async () => {}, quarantine: async () => {} },
    identify: () => {},
    report: async (reported) => {
      outcome = reported;
    },
    reportError: async () => {},
  });
  const api = httpApi({
    apiId: 'checker',
    routes: [
      {
        routeKey: `POST ${WEBHOOK_PATH}`,
        invoke: async (event) => ({ ok: true, payload: await receiver(event) }),
      },
    ],
  });
  const { response } = await api.answer(request, async () => body);
  return { response, outcome };
}

/**
 * All findings about a request. If the address is wrong, the rest is checked all the same, so that one verdict names
 * all mistakes.
 */
export async function findingsOf(
  request: HttpRequest,
  body: Buffer | undefined,
  secret: string,
): Promise<Finding[]> {
  const ofHttp = [...httpFindings(request, body ?? Buffer.alloc(0), secret)];
  const { response, outcome } = await serviceAnswer(
    { ...request, method: 'POST', path: WEBHOOK_PATH },
    body,
    secret,
  );
  if (body === undefined || response.status === 413) {
    return [
      ...ofHttp,
      wrong(
        'body-too-large',
        'The body is too large. The service accepts 6 MB, or 4.5 MB behind a REST API.',
        'Send less data per event.',
      ),
    ];
  }
  if (outcome?.outcome !== 'Rejected') return [...ofHttp, ...payloadFindings(body, request.receivedAt)];
  const causes = explainSignature({ ...request, body }, [secret]);
  // An HTTP API passes bodies to the receiver as text, so other bytes than UTF-8 are lost (decision D2).
  const all =
    causes.length > 0
      ? causes
      : [wrong('body-not-utf-8', 'The body is not UTF-8.', 'Encode the JSON as UTF-8, uncompressed.')];
  const next = payloadFindings(body, request.receivedAt).filter(({ grade }) => grade === 'wrong');
  return [...ofHttp, ...all, ...next.map((finding) => ({ ...finding, isNext: true }))];
}

const failure = (status: number, headers: Readonly<Record<string, string>> = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(JSON.stringify({ message: STATUS_CODES[status] })),
});

/** @returns when the answer is sent, or the client has disconnected */
async function send(
  { socket }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  { cut }: AnswerStep,
): Promise<RequestEnding> {
  if (response.destroyed || socket.destroyed) return 'no answer';
  const closed = once(response, 'close');
  if (cut === 'before') socket.destroy();
  else response.writeHead(status, { ...headers, 'content-length': body.length });
  if (cut === 'within') response.write(body.subarray(0, Math.ceil(body.length / 2)), () => socket.destroy());
  if (cut === undefined) response.end(body);
  await closed;
  return cut === undefined && response.writableFinished ? status : 'no answer';
}
