import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpResponse } from 'local-aws/gateway';
import { listen } from 'local-aws/listen';
import { GATEWAY_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
import type { AnswerStep } from './answer-steps.ts';
import { diagnose } from './diagnose.ts';
import { finding } from './finding.ts';
import { connectionFinding } from './http-findings.ts';
import { patienceFinding, repeatFindings } from './repeats.ts';
import { type ParseError, RequestUnderWay } from './request-under-way.ts';
import { SentDeliveries, type SentDelivery } from './sent-deliveries.ts';
import { failureAnswer, serviceAnswer } from './service-answer.ts';
import type { SentRequest } from './signed-messages.ts';
import { hmacSha256 } from './signing-variants.ts';
import type { Verdict } from './verdict.ts';

/** Time between two checks whether a request has exceeded its timeout. */
const TIMEOUT_CHECK_MILLISECONDS = 500;
/** Time for which an idle connection stays open: longer than most senders wait before a retry. */
const KEEP_ALIVE_MILLISECONDS = 65_000;
/** Maximum number of stored signatures of earlier events, to detect a sender that signs an earlier event. */
const MAX_EARLIER_SIGNATURES = 50;
/** Minimum time between two reports about refused connections. More reports would hide the verdicts. */
const DROP_NOTICE_MILLISECONDS = 60_000;
/** Time after which an HTTP API answers 503, if a function has not answered. */
const GATEWAY_TIMEOUT_MILLISECONDS = GATEWAY_TIMEOUT_SECONDS * 1_000;

interface CheckerOptions {
  readonly secret: string;
  /** Port to listen on; 0 for any free port. */
  readonly port: number;
  /** Address to listen on. @default both loopback addresses */
  readonly host?: string | undefined;
  /** Answers to the requests of each delivery, in order. The last answer repeats. @default the service's answers */
  readonly steps?: readonly AnswerStep[];
  readonly onVerdict: (verdict: Verdict) => void;
  /** Called with a line that is about no single request. */
  readonly onNotice: (line: string) => void;
  /** Timeout of a whole request. @default 30000, as in API Gateway */
  readonly requestTimeoutMilliseconds?: number;
  /** Maximum number of open connections. @default 2000, because a process may open a few thousand files */
  readonly maxConnections?: number;
}

interface SenderConnection {
  readonly number: number;
  /** When the connection was opened: milliseconds of the same clock as in attempts. */
  readonly openedAt: number;
  requests: number;
  /** The request on the connection that is being read or answered. */
  current: RequestUnderWay | undefined;
}

/**
 * Server that answers each request as the service does, or as a simulated step says, and reports a verdict.
 */
export class Checker {
  readonly #options: CheckerOptions;
  readonly #requestTimeout: number;
  readonly #deliveries = new SentDeliveries();
  readonly #connections = new WeakMap<Duplex, SenderConnection>();
  readonly #closing = new AbortController();
  /** HMACs of the bodies of earlier events. */
  readonly #earlier: Buffer[] = [];
  #servers: readonly Server[] = [];
  #requestCount = 0;
  #connectionCount = 0;
  #nextDropNotice = 0;
  port = 0;

  /** @throws Error of Node.js, such as EADDRINUSE if the port is in use */
  static async start(options: CheckerOptions): Promise<Checker> {
    const checker = new Checker(options);
    await checker.#listen();
    return checker;
  }

  private constructor(options: CheckerOptions) {
    this.#options = options;
    this.#requestTimeout = options.requestTimeoutMilliseconds ?? 30_000;
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
    const { port, host, maxConnections = 2_000, onNotice } = this.#options;
    const serve = (message: IncomingMessage, response: ServerResponse) => void this.#serve(message, response);
    const settings = {
      requestTimeout: this.#requestTimeout,
      headersTimeout: this.#requestTimeout,
      connectionsCheckingInterval: TIMEOUT_CHECK_MILLISECONDS,
      keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
      requireHostHeader: false,
    };
    const listening = await listen(settings, serve, { port, host });
    this.port = listening.port;
    this.#servers = listening.servers;
    for (const server of this.#servers) {
      server.maxConnections = maxConnections;
      server.on('drop', () => {
        if (performance.now() < this.#nextDropNotice) return;
        this.#nextDropNotice = performance.now() + DROP_NOTICE_MILLISECONDS;
        onNotice(`More than ${maxConnections} connections at the same time: further ones are rejected.`);
      });
      server.on('connection', (socket: Duplex) => this.#connectionOf(socket));
      server.on('checkExpectation', serve);
      server.on('connect', (_: IncomingMessage, socket: Duplex) => {
        socket.on('error', () => {});
        socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
        this.#report(this.#connectionOf(socket), undefined, { findings: [finding('method/connect')] });
      });
      server.on('clientError', (error: ParseError, socket) => this.#refuse(error, socket as Socket));
    }
  }

  #connectionOf(socket: Duplex): SenderConnection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    this.#connectionCount += 1;
    const number = this.#connectionCount;
    const connection = { number, openedAt: performance.now(), requests: 0, current: undefined };
    this.#connections.set(socket, connection);
    return connection;
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = this.#connectionOf(message.socket);
    connection.requests += 1;
    this.#requestCount += 1;
    const current = new RequestUnderWay(this.#requestCount, message, response);
    connection.current = current;
    try {
      const sent = await current.read();
      const checked = await this.#check({ ...sent, earlier: [...this.#earlier] }, current, connection);
      this.#report(connection, current, { at: sent.receivedAt, method: sent.method, ...checked });
    } catch (error) {
      response.destroy();
      if (current.isReported || this.#closing.signal.aborted) return;
      if (!message.complete) return this.#reportBroken(connection, current);
      const name = error instanceof Error ? error.name : 'an error without a name';
      this.#options.onNotice(`Request ${current.number} could not be checked: ${name}`);
    }
  }

  async #check(
    sent: SentRequest,
    current: RequestUnderWay,
    connection: SenderConnection,
  ): Promise<Partial<Verdict>> {
    const { secret, steps = [] } = this.#options;
    const { start } = current;
    if (sent.body.length > 0) this.#earlier.push(hmacSha256(secret, sent.body));
    if (this.#earlier.length > MAX_EARLIER_SIGNATURES) this.#earlier.shift();
    const own = await serviceAnswer(sent, secret);
    const { status } = own.response;
    const isReused = connection.requests > 1;
    const earliest = isReused ? start : connection.openedAt;
    const recorded = own.outcome && this.#deliveries.record({ at: start, earliest, status, isReused }, sent);
    const repeats = recorded === undefined ? [] : [...repeatFindings(recorded.delivery, recorded.attempt)];
    const attempt = recorded?.delivery.attempts.length ?? 0;
    const step = steps[Math.min(attempt, steps.length) - 1] ?? {};
    const { ending, rest, retryAfterSeconds } = await this.#reply(sent, own.response, step, current);
    if (connection.current === current) connection.current = undefined;
    if (recorded !== undefined)
      recorded.attempt.end = { how: ending, at: performance.now(), retryAfterSeconds };
    const hasGivenUp = ending === 'gave up' && !this.#closing.signal.aborted;
    const patience = hasGivenUp ? [patienceFinding(performance.now() - start)] : [];
    const diagnosis = await diagnose(sent, own, secret, rest);
    const findings = [...diagnosis.findings, ...repeats, ...patience];
    if (recorded === undefined) return { ...diagnosis, ending, findings };
    const { number, corrects } = recorded.delivery;
    const corrected = attempt === 1 && status === 200 ? corrects : 0;
    return { ...diagnosis, ending, findings, delivery: number, attempt, corrects: corrected };
  }

  /** @returns how the request ended, and the bytes after it that are not a request */
  async #reply(sent: SentRequest, own: HttpResponse, step: AnswerStep, current: RequestUnderWay) {
    if (own.status !== 200) await current.waitForRest();
    if (current.restBehind(sent.body).length > 0) current.response.shouldKeepAlive = false;
    const answer = await this.#answerOf(step, own, sent, current.response);
    const ending = await current.answer(answer, step);
    const rest = current.restBehind(sent.body);
    if (rest.length > 0) current.message.socket.destroySoon();
    return { ending, rest, retryAfterSeconds: Number(answer.headers['retry-after'] ?? 0) };
  }

  /**
   * The answer to send: the service's own, or that of the step. An answer that takes longer than API Gateway's timeout
   * becomes a 503.
   */
  async #answerOf(
    { status, headers, delayMilliseconds }: AnswerStep,
    own: HttpResponse,
    sent: SentRequest,
    response: ServerResponse,
  ): Promise<HttpResponse> {
    if (status !== undefined) {
      const answer = await failureAnswer(sent, status);
      return { ...answer, headers: { ...answer.headers, ...headers } };
    }
    if (delayMilliseconds === undefined) return own;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.#closing.signal]);
    const milliseconds = Math.min(delayMilliseconds, GATEWAY_TIMEOUT_MILLISECONDS);
    await sleep(milliseconds, undefined, { signal }).catch(() => {});
    return delayMilliseconds > GATEWAY_TIMEOUT_MILLISECONDS ? failureAnswer(sent, 503) : own;
  }

  #refuse(error: ParseError, socket: Socket): void {
    const connection = this.#connectionOf(socket);
    if (connection.current?.addRest(error)) return;
    const current = connection.current?.isRead === false ? connection.current : undefined;
    const isReset = error.code === 'ECONNRESET';
    const isSilent = socket.bytesRead === 0 || (isReset && connection.requests > 0);
    if (socket.writable && !isReset) {
      const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    }
    socket.destroy();
    if (current?.isReported || (current === undefined && isSilent) || this.#closing.signal.aborted) return;
    if (current !== undefined) current.isReported = true;
    this.#reportBroken(connection, current, error);
  }

  /** Reports an incomplete request, or bytes that are not a request. */
  #reportBroken(connection: SenderConnection, current?: RequestUnderWay, error?: ParseError): void {
    const broken = connectionFinding({
      code: error?.code,
      packet: error?.rawPacket,
      bytes: current?.bytes,
      isWholeBody: current?.isWhole === true,
      seconds: this.#requestTimeout / 1_000,
    });
    this.#report(connection, current, { findings: [broken] });
  }

  #report(
    connection: SenderConnection,
    current: RequestUnderWay | undefined,
    checked: Partial<Verdict>,
  ): void {
    if (current === undefined) this.#requestCount += 1;
    this.#options.onVerdict({
      request: current?.number ?? this.#requestCount,
      at: new Date(),
      bytes: current?.bytes ?? 0,
      ending: 'gave up',
      milliseconds: current === undefined ? 0 : Math.round(performance.now() - current.start),
      connection: connection.number,
      isReused: connection.requests > 1,
      findings: [],
      ...checked,
    });
  }
}
