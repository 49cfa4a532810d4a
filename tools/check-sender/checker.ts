import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { BODY_LIMIT_BYTES } from 'local-aws/api';
import { httpApi } from 'local-aws/http-api';
import { type HttpRequest, type HttpResponse, requestOf } from 'local-aws/http-message';
import { listen } from 'local-aws/http-server';
import { sha256Hex } from '../../lambda/hash.ts';
import { GATEWAY_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
import { ACCEPTED, PARKED, REJECTED } from '../../lambda/log-messages.ts';
import { createReceiver } from '../../lambda/receiver/receive.ts';
import type { DeliveryOutcome } from '../../lambda/receiver/reports.ts';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import type { AnswerStep } from './answer-steps.ts';
import { patienceFinding, type RequestEnding, repeatFindings, SentDeliveries } from './deliveries.ts';
import { explainSignature } from './explain-signature.ts';
import { type Finding, wrong } from './finding.ts';
import { connectionFinding, httpFindings, incompleteFinding } from './http-findings.ts';
import { payloadFindings } from './payload-findings.ts';

/** Milliseconds after which an HTTP API answers 503 if a function has not answered. */
const GATEWAY_TIMEOUT = GATEWAY_TIMEOUT_SECONDS * 1_000;
/** Milliseconds between two checks whether a request has exceeded its timeout. */
const TIMEOUT_CHECK_INTERVAL = 500;
/** Milliseconds for which an idle connection stays open: longer than most senders wait before a repeat. */
const KEEP_ALIVE = 65_000;

/** The verdict on one request, or on bytes that are not a complete request, which have no status. */
export interface Verdict {
  readonly request: number;
  readonly at: Date;
  /** HTTP status of the service's own answer. */
  readonly status?: number;
  /** `status` in the body of an answer 200. */
  readonly word?: 'queued' | 'parked';
  readonly event?: string;
  readonly eventId?: string;
  /** Bytes of the body that arrived. */
  readonly bytes: number;
  /** How the request ended. Differs from `status` if another answer was simulated. */
  readonly ending: RequestEnding;
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

/** A server that answers each request as the service does, or as a simulated step says, and reports a verdict. */
export class Checker {
  readonly #options: CheckerOptions;
  readonly deliveries = new SentDeliveries();
  /** Connections on which a body arrives. */
  readonly #reading = new Set<Duplex>();
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

  async close(): Promise<void> {
    this.#closing.abort();
    const closed = this.#servers.map((server) => once(server.close(), 'close'));
    for (const server of this.#servers) server.closeAllConnections();
    await Promise.all(closed);
  }

  async #listen(): Promise<void> {
    const { port, host, requestTimeout = GATEWAY_TIMEOUT } = this.#options;
    const settings = {
      requestTimeout,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL,
      keepAliveTimeout: KEEP_ALIVE,
      requireHostHeader: false,
    };
    const serve = (message: IncomingMessage, response: ServerResponse) => void this.#serve(message, response);
    ({ port: this.port, servers: this.#servers } = await listen(settings, serve, { port, host }));
    for (const server of this.#servers) {
      server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
        const isReset = error.code === 'ECONNRESET';
        if (socket.writable && !isReset) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
        socket.destroy();
        // A body that does not arrive is reported where it is read. A reset without a body is an idle connection.
        if (!isReset && !this.#reading.has(socket)) this.#reportBroken(connectionFinding(error), 0);
      });
    }
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = performance.now();
    const request = requestOf(message, this.port);
    const arrived = { bytes: 0 };
    let body: Buffer | undefined;
    this.#reading.add(message.socket);
    try {
      body = await bodyOf(message, arrived);
    } catch {
      response.destroy();
      this.#reportBroken(incompleteFinding(arrived.bytes), arrived.bytes);
      return;
    } finally {
      this.#reading.delete(message.socket);
    }
    const { secret, steps = [] } = this.#options;
    const { response: own, outcome, findings } = await judge(request, body, secret);
    const recorded = outcome && body && this.deliveries.record({ ...request, body }, start);
    const repeats = recorded ? [...repeatFindings(recorded.delivery)] : [];
    const attempts = recorded?.delivery.attempts.length ?? 0;
    const step = steps[Math.min(attempts, steps.length) - 1] ?? {};
    const answer = step.status === undefined ? own : failure(step.status, step.headers);
    const ending = await send(message, response, answer, step, this.#closing.signal);
    const at = performance.now();
    const retryAfterSeconds = Number(answer.headers['retry-after'] ?? 0);
    if (recorded) recorded.attempt.end = { how: ending, at, retryAfterSeconds };
    const hasGivenUp = ending === 'no answer' && !step.isCut && !this.#closing.signal.aborted;
    this.#report({
      at: request.receivedAt,
      status: own.status,
      ...wordOf(outcome),
      ...(body && { eventId: sha256Hex(body) }),
      bytes: arrived.bytes,
      ending,
      findings: [...findings, ...repeats, ...(hasGivenUp ? [patienceFinding(at - start)] : [])],
    });
  }

  /** Reports an incomplete request, or bytes that are not a request. */
  #reportBroken(finding: Finding, bytes: number): void {
    if (this.#closing.signal.aborted) return;
    this.#report({ at: new Date(), bytes, ending: 'no answer', findings: [finding] });
  }

  #report({ findings, ...verdict }: Omit<Verdict, 'request'>): void {
    this.#count += 1;
    const sorted = ['wrong', 'risky', 'fine'].flatMap((grade) =>
      findings.filter((one) => one.grade === grade),
    );
    this.#options.onVerdict({ request: this.#count, ...verdict, findings: sorted });
  }
}

/**
 * Reads a body up to API Gateway's limit. Further bytes are counted and dropped.
 * @returns undefined if it is too large
 * @throws Error if the sender disconnects
 */
async function bodyOf(message: IncomingMessage, arrived: { bytes: number }): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) {
    arrived.bytes += chunk.length;
    if (arrived.bytes <= BODY_LIMIT_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  return arrived.bytes > BODY_LIMIT_BYTES ? undefined : Buffer.concat(chunks);
}

function wordOf(outcome: DeliveryOutcome | undefined): Pick<Verdict, 'word' | 'event'> {
  if (outcome?.outcome === ACCEPTED) return { word: 'queued', event: outcome.event };
  return outcome?.outcome === PARKED ? { word: 'parked' } : {};
}

/**
 * The answer of the service: receiver and HTTP API, with queues that accept everything and store nothing.
 * @returns also what the receiver did; undefined if API Gateway answered itself
 */
async function serviceAnswer(request: HttpRequest, body: Buffer | undefined, secret: string) {
  let outcome: DeliveryOutcome | undefined;
  const receiver = createReceiver({
    secrets: { matchesAny: async (test) => test([secret]) },
    queues: { enqueue: async () => {}, quarantine: async () => {} },
    reportsOf: () => ({
      outcome: (reported) => {
        outcome = reported;
      },
      error() {},
      unreadable() {},
      stale() {},
      doubt() {},
    }),
  });
  const route = {
    routeKey: `POST ${WEBHOOK_PATH}`,
    invoke: async (event: Parameters<typeof receiver>[0]) => ({
      ok: true as const,
      payload: await receiver(event),
    }),
  };
  const { response } = await httpApi({ apiId: 'checker', routes: [route] }).answer(request, async () => body);
  return { response, outcome };
}

/** The answer of the service to a request, and findings about the request. */
async function judge(request: HttpRequest, body: Buffer | undefined, secret: string) {
  // If the address is wrong, the rest is checked all the same, so that one verdict names all mistakes.
  const service = await serviceAnswer({ ...request, method: 'POST', path: WEBHOOK_PATH }, body, secret);
  const findings = findingsOf(request, body, secret, service);
  const isAddressed = request.method === 'POST' && request.path === WEBHOOK_PATH;
  return isAddressed ? { ...service, findings } : { response: failure(404), outcome: undefined, findings };
}

function findingsOf(
  request: HttpRequest,
  body: Buffer | undefined,
  secret: string,
  { response, outcome }: Awaited<ReturnType<typeof serviceAnswer>>,
): Finding[] {
  const ofHttp = [...httpFindings(request, body ?? Buffer.alloc(0), secret)];
  if (body === undefined || response.status === 413) {
    const what = 'The body is too large. The service accepts 6 MB, or 4.5 MB behind a REST API.';
    return [...ofHttp, wrong('body-too-large', what, 'Send less data per event.')];
  }
  const ofPayload = payloadFindings(body, request.receivedAt);
  if (outcome?.outcome !== REJECTED) return [...ofHttp, ...ofPayload];
  const causes = explainSignature({ ...request, body }, [secret]);
  // An HTTP API passes bodies to the receiver as text, so other bytes than UTF-8 are lost (decision D2).
  if (causes.length === 0)
    causes.push(wrong('body-not-utf-8', 'The body is not UTF-8.', 'Encode the JSON as UTF-8, uncompressed.'));
  const next = ofPayload.filter(({ grade }) => grade === 'wrong');
  return [...ofHttp, ...causes, ...next.map((finding) => ({ ...finding, isNext: true }))];
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
  { isCut, delayMilliseconds = 0 }: AnswerStep,
  signal: AbortSignal,
): Promise<RequestEnding> {
  const closed = once(response, 'close');
  await Promise.race([sleep(delayMilliseconds, undefined, { signal }), closed]).catch(() => {});
  if (response.destroyed || socket.destroyed) return 'no answer';
  if (isCut) socket.destroy();
  else response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
  await closed;
  return !isCut && response.writableFinished ? status : 'no answer';
}
