import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256Hex } from '../../../lambda/hash.ts';
import { type HttpResponse, requestOf, valuesOf } from '../../../local/gateway/http-message.ts';
import { listen } from '../../../local/listen.ts';
import { Deliveries, type Delivery, type Ending } from './deliveries.ts';
import { diagnose, TOO_LARGE } from './diagnose.ts';
import { type Finding, wrong } from './finding.ts';
import { addressFindings, connectionFindings } from './http-findings.ts';
import { patienceFinding, repeatFindings } from './repeats.ts';
import { BodyReader, isJson, type ParseError, TrailingBytes } from './request-bytes.ts';
import {
  failureAnswer,
  GATEWAY_TIMEOUT_MILLISECONDS,
  type ServiceAnswer,
  type Step,
  serviceAnswer,
  stepOf,
} from './responses.ts';
import type { SentRequest } from './signed-messages.ts';
import { hmacSha256 } from './signing-variants.ts';
import type { Verdict } from './summary.ts';

/** Timeout of a whole request, in milliseconds. API Gateway has the same. */
const REQUEST_TIMEOUT_MILLISECONDS = 30_000;

/** Interval of the checks for that timeout. */
const TIMEOUT_CHECK_MILLISECONDS = 500;

/** How long an idle connection is kept: longer than most senders wait before they repeat. */
const KEEP_ALIVE_MILLISECONDS = 65_000;

/** Maximum number of connections: a process may open a few thousand files. */
const MAX_CONNECTIONS = 2_000;

/** Number of signatures remembered from earlier events, to detect a sender that signs an earlier event. */
const MAX_EARLIER_SIGNATURES = 50;

/** Minimum interval of reports about refused connections: a flood of them would hide the verdicts. */
const DROP_NOTICE_MILLISECONDS = 60_000;

export interface CheckerOptions {
  readonly secret: string;
  /** 0 for any free port. */
  readonly port: number;
  /** @default both loopback addresses */
  readonly host?: string | undefined;
  /** The answers to the requests of each delivery, in order. @default the service's own */
  readonly steps?: readonly Step[];
  readonly onVerdict: (verdict: Verdict) => void;
  /** Called with one line that concerns no request. */
  readonly onNotice: (line: string) => void;
  /** @default 30000 */
  readonly requestTimeoutMilliseconds?: number;
  /** @default 2000 */
  readonly maxConnections?: number;
}

export interface Checker {
  readonly port: number;
  readonly deliveries: () => readonly Delivery[];
  close(): Promise<void>;
}

interface Connection {
  readonly number: number;
  /** Milliseconds, of the clock of {@link Delivery}'s attempts. */
  readonly openedAt: number;
  requests: number;
  /** The request whose body is being read. */
  current: CurrentRequest | undefined;
  /** For the last request, until it has a verdict. */
  trailing: TrailingBytes | undefined;
}

interface CurrentRequest {
  readonly number: number;
  bytes: number;
  /** The bytes of the body so far, unless there are too many. */
  kept: readonly Buffer[];
  isReported: boolean;
}

/** Listens, and answers each request as the service does, or as its step says. @throws like `listen` */
export async function startChecker(options: CheckerOptions): Promise<Checker> {
  const {
    secret,
    steps = [],
    onVerdict,
    onNotice,
    requestTimeoutMilliseconds = REQUEST_TIMEOUT_MILLISECONDS,
    maxConnections = MAX_CONNECTIONS,
  } = options;
  const bodies = new BodyReader();
  const deliveries = new Deliveries();
  const connections = new WeakMap<Duplex, Connection>();
  const closing = new AbortController();
  const earlier: Buffer[] = [];
  let requestCount = 0;
  let connectionCount = 0;
  let nextDropNotice = 0;

  function connectionOf(socket: Duplex): Connection {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    connectionCount += 1;
    const connection: Connection = {
      number: connectionCount,
      openedAt: performance.now(),
      requests: 0,
      current: undefined,
      trailing: undefined,
    };
    connections.set(socket, connection);
    return connection;
  }

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    requestCount += 1;
    const connection = connectionOf(message.socket);
    connection.requests += 1;
    const current: CurrentRequest = { number: requestCount, bytes: 0, kept: [], isReported: false };
    connection.current = current;
    const trailing = new TrailingBytes(message);
    connection.trailing = trailing;
    const start = performance.now();
    const request = requestOf(message, options.port);
    const base = {
      number: current.number,
      at: request.receivedAt,
      method: request.method,
      connection: connection.number,
      isReused: connection.requests > 1,
    };
    const report = (rest: Pick<Verdict, 'diagnosis' | 'ending' | 'delivery' | 'findings'>) =>
      onVerdict({ ...base, bytes: current.bytes, milliseconds: performance.now() - start, ...rest });
    const reportBroken = (findings: readonly Finding[]) =>
      report({ diagnosis: undefined, ending: 'gave up', delivery: undefined, findings });
    try {
      const body = await bodies.read(message, (bytes, kept) => Object.assign(current, { bytes, kept }));
      if (body === 'too many') {
        message.destroy();
        reportBroken([TOO_MANY_BODIES]);
        return;
      }
      if (body === 'too large') {
        const own = await serviceAnswer(request, async () => undefined, secret);
        const ending = await send(message, response, own.response, { kind: 'ok' });
        const { status } = own.response;
        const astray = status === 413 ? [] : addressFindings({ ...request, body: Buffer.alloc(0) });
        const findings = [...astray, TOO_LARGE];
        const diagnosis = { status, word: undefined, event: undefined, eventId: undefined, findings };
        report({ diagnosis, ending, delivery: undefined, findings });
        return;
      }
      connection.current = undefined;
      const sent: SentRequest = { ...request, body, earlier: [...earlier] };
      if (body.length > 0) earlier.push(hmacSha256(Buffer.from(secret), body));
      if (earlier.length > MAX_EARLIER_SIGNATURES) earlier.shift();
      const own = await serviceAnswer(request, async () => body, secret);
      const noted = own.outcome === undefined ? undefined : note(sent, own, start, connection);
      const repeats = noted === undefined ? [] : repeatFindings(noted.delivery, noted.attempt);
      const attempt = noted?.delivery.count ?? 0;
      const step: Step = noted === undefined ? { kind: 'ok' } : stepOf(steps, attempt - 1);
      if (own.response.status !== 200) await trailing.settle(body);
      if (trailing.behind(body).length > 0) response.shouldKeepAlive = false;
      const answer = await answerOf(step, own.response, sent, response);
      const ending = await send(message, response, answer, step);
      const rest = trailing.behind(body);
      if (connection.trailing === trailing) connection.trailing = undefined;
      if (rest.length > 0) message.socket.destroySoon();
      if (noted !== undefined) {
        const retryAfterSeconds = Number(answer.headers['retry-after'] ?? 0);
        noted.attempt.end = { how: ending, at: performance.now(), retryAfterSeconds };
      }
      const hasGivenUp = ending === 'gave up' && !closing.signal.aborted;
      const patience = hasGivenUp ? [patienceFinding(performance.now() - start)] : [];
      const diagnosis = await diagnose(sent, own, secret, rest);
      const corrects = attempt === 1 && own.response.status === 200 ? (noted?.delivery.corrects ?? 0) : 0;
      report({
        diagnosis,
        ending,
        delivery: noted && { number: noted.delivery.number, attempt, corrects },
        findings: [...diagnosis.findings, ...repeats, ...patience],
      });
    } catch (error) {
      response.destroy();
      if (current.isReported || closing.signal.aborted) return;
      if (message.complete) onNotice(`Request ${base.number} could not be checked: ${nameOf(error)}`);
      else reportBroken(findingsOfBroken(current));
    }
  }

  function note(
    { body, headers }: SentRequest,
    { outcome, response: { status } }: ServiceAnswer,
    at: number,
    { number: connection, openedAt, requests }: Connection,
  ) {
    return deliveries.note({
      at,
      status,
      eventId: sha256Hex(body),
      body,
      event: outcome?.outcome === 'Accepted' ? (outcome.event as Delivery['event']) : undefined,
      signature: valuesOf(headers, 'x-webhook-signature').join(','),
      connection,
      isReused: requests > 1,
      earliest: requests > 1 ? at : openedAt,
    });
  }

  /** The service's own answer, or that of the step. An answer slower than API Gateway's timeout becomes its 503. */
  async function answerOf(step: Step, own: HttpResponse, sent: SentRequest, response: ServerResponse) {
    if (step.kind === 'failure') {
      const answer = await failureAnswer(sent, sent.body, step.status);
      return { ...answer, headers: { ...answer.headers, ...step.headers } };
    }
    if (step.kind !== 'slow') return own;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, closing.signal]);
    const isTimeout = step.milliseconds > GATEWAY_TIMEOUT_MILLISECONDS;
    const milliseconds = isTimeout ? GATEWAY_TIMEOUT_MILLISECONDS : step.milliseconds;
    await sleep(milliseconds, undefined, { signal }).catch(() => {});
    return isTimeout ? failureAnswer(sent, sent.body, 503) : own;
  }

  const findingsOfBroken = (current: CurrentRequest | undefined, error?: ParseError) =>
    connectionFindings({
      code: error?.code,
      bytes: error?.rawPacket,
      bodyBytes: current?.bytes,
      isWholeBody: current !== undefined && isJson(Buffer.concat(current.kept)),
      limitMilliseconds: requestTimeoutMilliseconds,
    });

  function reportConnection(socket: Duplex, findings: readonly Finding[], current?: CurrentRequest): void {
    const connection = connectionOf(socket);
    if (current === undefined) requestCount += 1;
    onVerdict({
      number: current?.number ?? requestCount,
      at: new Date(),
      method: undefined,
      bytes: current?.bytes ?? 0,
      diagnosis: undefined,
      ending: 'gave up',
      milliseconds: 0,
      connection: connection.number,
      isReused: connection.requests > 1,
      delivery: undefined,
      findings,
    });
  }

  function refuse(error: ParseError, socket: Duplex): void {
    const connection = connectionOf(socket);
    if (connection.trailing?.add(error)) return;
    const { current } = connection;
    const isReset = error.code === 'ECONNRESET';
    const isSilent = (socket as Socket).bytesRead === 0 || (isReset && connection.requests > 0);
    if (socket.writable && !isReset) {
      const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    }
    socket.destroy();
    if (current?.isReported || (current === undefined && isSilent) || closing.signal.aborted) return;
    if (current !== undefined) current.isReported = true;
    reportConnection(socket, findingsOfBroken(current, error), current);
  }

  const { servers, port } = await listen(
    {
      requestTimeout: requestTimeoutMilliseconds,
      headersTimeout: requestTimeoutMilliseconds,
      connectionsCheckingInterval: TIMEOUT_CHECK_MILLISECONDS,
      keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
      requireHostHeader: false,
    },
    (message, response) => void serve(message, response),
    { port: options.port, host: options.host },
  );
  for (const server of servers) {
    server.maxConnections = maxConnections;
    server.on('drop', () => {
      if (performance.now() < nextDropNotice) return;
      nextDropNotice = performance.now() + DROP_NOTICE_MILLISECONDS;
      onNotice(`More than ${maxConnections} connections at the same time: further ones are rejected.`);
    });
    server.on('connection', connectionOf);
    server.on('checkExpectation', (message, response) => void serve(message, response));
    server.on('connect', (_: IncomingMessage, socket: Duplex) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
      reportConnection(socket, [TAKEN_FOR_PROXY]);
    });
    server.on('clientError', refuse);
  }

  return {
    port,
    deliveries: () => deliveries.all(),
    close: async () => {
      closing.abort();
      const closed = servers.map((server) => once(server.close(), 'close'));
      for (const server of servers) server.closeAllConnections();
      await Promise.all(closed);
    },
  };
}

const TOO_MANY_BODIES = wrong({
  kind: 'too-many-bodies',
  what: 'Too many large bodies arrived at the same time for the memory of this checker.',
  remedy: 'Send fewer at the same time here.',
});

const TAKEN_FOR_PROXY = wrong({
  kind: 'method',
  what: 'The method is CONNECT. The sender uses this checker as a proxy.',
  remedy: 'Check the proxy settings of the sender.',
});

/** @returns when the answer is sent, or the client has disconnected */
async function send(
  message: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  step: Step,
): Promise<Ending> {
  if (response.destroyed || message.socket.destroyed) return 'gave up';
  const closed = once(response, 'close');
  if (step.kind === 'cut' && step.when === 'before') {
    message.socket.destroy();
    await closed;
    return 'cut';
  }
  response.writeHead(status, { ...headers, 'content-length': body.length });
  if (step.kind === 'cut') {
    response.write(body.subarray(0, Math.ceil(body.length / 2)), () => message.socket.destroy());
    await closed;
    return 'cut';
  }
  response.end(body);
  await closed;
  return response.writableFinished ? status : 'gave up';
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : 'an error without a name');
