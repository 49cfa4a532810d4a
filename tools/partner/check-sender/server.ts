import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { type HttpResponse, requestOf, valuesOf } from '../../../local/gateway/http-message.ts';
import { BODY_LIMIT_BYTES } from '../../../local/gateway/server.ts';
import { listen } from '../../../local/listen.ts';
import { BodyReader } from './body-reader.ts';
import { brokenOff, connectionFinding } from './connection-findings.ts';
import { Deliveries, type Delivery, type Ending } from './deliveries.ts';
import { type Diagnosis, diagnose, tooLarge } from './diagnose.ts';
import { Excess, excessFinding } from './excess.ts';
import { type Finding, wrong } from './finding.ts';
import { addressFindings } from './http-findings.ts';
import { GATEWAY_LIMIT_MILLISECONDS, type Play, playOf } from './play.ts';
import { patienceFindings, repeatFindings } from './repeats.ts';
import type { SentRequest } from './sent-request.ts';
import { failureAnswer, type ServiceAnswer, serviceAnswer } from './service.ts';
import { hmacSha256 } from './signature/signing-algorithms.ts';
import type { Verdict } from './verdict.ts';

/** How long a request may take until it has come whole, in milliseconds: as long as API Gateway has for all of it. */
const REQUEST_LIMIT_MILLISECONDS = 30_000;

/** How often it is looked for requests that take longer. */
const LOOK_MILLISECONDS = 500;

/** How long a connection is kept for the next request: longer than most senders wait before they repeat. */
const KEPT_ALIVE_MILLISECONDS = 65_000;

/** Connections at a time: a process may open some thousand files. */
const MAX_CONNECTIONS = 2_000;

/** Signatures of earlier events that are remembered: who signs the event before signs one of the last. */
const MOST_EARLIER = 50;

/** How often it is told that there are more, at most: a flood of them would drown the verdicts. */
const DROP_NOTICE_MILLISECONDS = 60_000;

export interface CheckerOptions {
  readonly secret: string;
  /** 0 for any free one. */
  readonly port: number;
  /** @default both loopback addresses */
  readonly host?: string | undefined;
  /** What is done to the requests of each delivery, one after the other. @default all are answered as the service does */
  readonly plays?: readonly Play[];
  readonly onVerdict: (verdict: Verdict) => void;
  /** Told what concerns no request, as one line. */
  readonly onNotice: (line: string) => void;
  /** @default 30000 */
  readonly requestLimitMilliseconds?: number;
  /** @default 2000 */
  readonly mostConnections?: number;
}

export interface Checker {
  readonly port: number;
  readonly deliveries: () => readonly Delivery[];
  close(): Promise<void>;
}

/** What Node.js says of bytes that are no request. */
type ParseError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer; readonly bytesParsed?: number };

interface Connection {
  readonly number: number;
  requests: number;
  current: { readonly number: number; bytes: number; isReported: boolean } | undefined;
  /** Of the request that came last, while it has no verdict yet. */
  excess: Excess | undefined;
}

/** Listens, and answers each request as the service does, or as the play says. @throws as `listen` */
export async function startChecker(options: CheckerOptions): Promise<Checker> {
  const {
    secret,
    plays = [],
    onVerdict,
    onNotice,
    requestLimitMilliseconds = REQUEST_LIMIT_MILLISECONDS,
    mostConnections = MAX_CONNECTIONS,
  } = options;
  const bodies = new BodyReader(BODY_LIMIT_BYTES);
  const deliveries = new Deliveries();
  const connections = new WeakMap<Duplex, Connection>();
  const closing = new AbortController();
  const earlier: Buffer[] = [];
  let requestCount = 0;
  let connectionCount = 0;
  let nextDropNotice = 0;

  /** Of the right signatures of what came, the last ones. */
  function remember(digest: Buffer): void {
    earlier.push(digest);
    if (earlier.length > MOST_EARLIER) earlier.shift();
  }

  function connectionOf(socket: Duplex): Connection {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    connectionCount += 1;
    const connection: Connection = {
      number: connectionCount,
      requests: 0,
      current: undefined,
      excess: undefined,
    };
    connections.set(socket, connection);
    return connection;
  }

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    requestCount += 1;
    const connection = connectionOf(message.socket);
    const isReused = connection.requests > 0;
    connection.requests += 1;
    const current = { number: requestCount, bytes: 0, isReported: false };
    connection.current = current;
    const excess = new Excess(message);
    connection.excess = excess;
    const start = performance.now();
    const request = requestOf(message, options.port);
    const base = {
      number: current.number,
      at: request.receivedAt,
      method: request.method,
      connection: connection.number,
      isReused,
    };
    const tell = (rest: Pick<Verdict, 'diagnosis' | 'ending' | 'delivery' | 'findings'>) =>
      onVerdict({ ...base, bytes: current.bytes, milliseconds: performance.now() - start, ...rest });
    const broken = (finding: Finding) =>
      tell({ diagnosis: undefined, ending: 'gave up', delivery: undefined, findings: [finding] });
    try {
      const body = await bodies.read(message, (bytes) => {
        current.bytes = bytes;
      });
      if (body === 'too many') {
        message.destroy();
        broken(
          wrong({
            kind: 'too-many-bodies',
            what: 'More large bodies came at a time than this checker holds.',
            remedy: 'Send fewer at a time here.',
          }),
        );
        return;
      }
      if (body === 'too large') {
        const { response: own } = await serviceAnswer(request, async () => undefined, secret);
        const ending = await send(message, response, own, { kind: 'ok' });
        const findings =
          own.status === 413
            ? [tooLarge]
            : [...addressFindings({ ...request, body: Buffer.alloc(0) }), tooLarge];
        tell({
          diagnosis: { status: own.status, word: undefined, event: undefined, eventId: '', findings },
          ending,
          delivery: undefined,
          findings,
        });
        return;
      }
      connection.current = undefined;
      const sent: SentRequest = { ...request, body, earlier: [...earlier] };
      if (body.length > 0) remember(hmacSha256(Buffer.from(secret), body));
      const own = await serviceAnswer(request, async () => body, secret);
      const noted = own.outcome === undefined ? undefined : note(sent, own, start, connection, isReused);
      const repeats = noted === undefined ? [] : repeatFindings(noted.delivery, noted.attempt);
      const attempt = noted?.delivery.count ?? 0;
      const play = noted === undefined ? ({ kind: 'ok' } as const) : playOf(plays, attempt - 1);
      const answer = play.kind === 'failure' ? await played(play, sent) : own.response;
      if (own.response.status !== 200) await excess.settle(body);
      if (excess.behind(body).length > 0) response.shouldKeepAlive = false;
      const ending = await send(message, response, await late(play, answer, sent, response), play);
      const rest = excess.behind(body);
      if (connection.excess === excess) connection.excess = undefined;
      if (rest.length > 0) message.socket.destroySoon();
      if (noted !== undefined) {
        const retryAfterSeconds = Number(answer.headers['retry-after'] ?? 0);
        noted.attempt.end = { how: ending, at: performance.now(), retryAfterSeconds };
      }
      const milliseconds = performance.now() - start;
      const diagnosis = await diagnosed(sent, own, rest);
      tell({
        diagnosis,
        ending,
        delivery: noted && {
          number: noted.delivery.number,
          attempt,
          corrects: attempt === 1 && own.response.status === 200 ? noted.delivery.corrects : 0,
        },
        findings: [
          ...diagnosis.findings,
          ...repeats,
          ...(ending === 'gave up' && !closing.signal.aborted ? patienceFindings(milliseconds) : []),
        ],
      });
    } catch (error) {
      response.destroy();
      if (current.isReported || closing.signal.aborted) return;
      if (message.complete) onNotice(`Request ${base.number} could not be judged: ${nameOf(error)}`);
      else broken(brokenOff(current.bytes));
    }
  }

  function note(
    sent: SentRequest,
    { outcome, response: { status } }: ServiceAnswer,
    at: number,
    connection: Connection,
    isReused: boolean,
  ) {
    return deliveries.note({
      at,
      status,
      eventId: sha256Hex(sent.body),
      body: sent.body,
      event: outcome?.outcome === 'Accepted' ? (outcome.event as Delivery['event']) : undefined,
      signature: valuesOf(sent.headers, 'x-webhook-signature').join(','),
      connection: connection.number,
      isReused,
    });
  }

  /** @param rest bytes behind the end of the request: where it is refused, what they and the body together are is judged */
  async function diagnosed(sent: SentRequest, own: ServiceAnswer, rest: Buffer): Promise<Diagnosis> {
    const diagnosis = diagnose(sent, await withOutcome(sent, own), secret);
    if (rest.length === 0) return diagnosis;
    const whole: SentRequest = { ...sent, body: Buffer.concat([sent.body, rest]) };
    const { findings } =
      own.response.status === 200
        ? diagnosis
        : diagnose(
            whole,
            await withOutcome(whole, await serviceAnswer(whole, async () => whole.body, secret)),
            secret,
          );
    const hasLength = valuesOf(sent.headers, 'content-length').length > 0;
    return { ...diagnosis, findings: [excessFinding(hasLength), ...findings] };
  }

  /** Of what went past the receiver: what it would have said besides, so that one answer names all that is wrong. */
  async function withOutcome(sent: SentRequest, own: ServiceAnswer): Promise<ServiceAnswer> {
    if (own.outcome !== undefined || own.response.status !== 404 || sent.body.length === 0) return own;
    const { outcome } = await serviceAnswer(
      { ...sent, method: 'POST', path: WEBHOOK_PATH },
      async () => sent.body,
      secret,
    );
    return { response: own.response, ...(outcome !== undefined && { outcome }) };
  }

  /** Waits where that is played. What takes longer than API Gateway waits for a function becomes its 503. */
  async function late(
    play: Play,
    answer: HttpResponse,
    sent: SentRequest,
    response: ServerResponse,
  ): Promise<HttpResponse> {
    if (play.kind !== 'slow') return answer;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, closing.signal]);
    await sleep(Math.min(play.milliseconds, GATEWAY_LIMIT_MILLISECONDS), undefined, { signal }).catch(
      () => {},
    );
    return play.milliseconds > GATEWAY_LIMIT_MILLISECONDS ? failureAnswer(sent, sent.body, 503) : answer;
  }

  const { servers, port } = await listen(
    {
      requestTimeout: requestLimitMilliseconds,
      headersTimeout: requestLimitMilliseconds,
      connectionsCheckingInterval: LOOK_MILLISECONDS,
      keepAliveTimeout: KEPT_ALIVE_MILLISECONDS,
      requireHostHeader: false,
    },
    (message, response) => void serve(message, response),
    { port: options.port, host: options.host },
  );
  for (const server of servers) {
    server.maxConnections = mostConnections;
    server.on('drop', () => {
      if (performance.now() < nextDropNotice) return;
      nextDropNotice = performance.now() + DROP_NOTICE_MILLISECONDS;
      onNotice(`More than ${mostConnections} connections at a time: the others are turned away.`);
    });
    server.on('connection', connectionOf);
    server.on('checkExpectation', (message, response) => void serve(message, response));
    server.on('connect', (message: IncomingMessage, socket: Duplex) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
      tellBroken(
        socket,
        wrong({
          kind: 'method',
          what: `The method is ${message.method}: this is taken for a proxy.`,
          remedy: 'See the proxy settings of the sender.',
        }),
      );
    });
    server.on('clientError', (error: ParseError, socket: Duplex) => {
      const connection = connectionOf(socket);
      if (connection.excess?.add(error.code ?? '', error.rawPacket, error.bytesParsed)) return;
      const { current } = connection;
      const isSilent =
        (socket as Socket).bytesRead === 0 || (error.code === 'ECONNRESET' && connection.requests > 0);
      if (socket.writable && error.code !== 'ECONNRESET') {
        const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
        socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
      }
      socket.destroy();
      if (current?.isReported || (current === undefined && isSilent) || closing.signal.aborted) return;
      if (current !== undefined) current.isReported = true;
      tellBroken(
        socket,
        connectionFinding({
          code: error.code ?? '',
          bytes: error.rawPacket ?? Buffer.alloc(0),
          bodyBytes: current?.bytes,
          limitMilliseconds: requestLimitMilliseconds,
        }),
        current,
      );
    });
  }

  function tellBroken(socket: Duplex, finding: Finding, current?: Connection['current']): void {
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
      findings: [finding],
    });
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

async function played(
  { status, headers }: Extract<Play, { kind: 'failure' }>,
  sent: SentRequest,
): Promise<HttpResponse> {
  const answer = await failureAnswer(sent, sent.body, status);
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** @returns once the answer is out, or nobody is there any more to take it */
async function send(
  message: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  play: Play,
): Promise<Ending> {
  if (response.destroyed || message.socket.destroyed) return 'gave up';
  const closed = once(response, 'close');
  if (play.kind === 'cut' && play.when === 'before') {
    message.socket.destroy();
    await closed;
    return 'cut';
  }
  response.writeHead(status, { ...headers, 'content-length': body.length });
  if (play.kind === 'cut') {
    response.write(body.subarray(0, Math.ceil(body.length / 2)), () => message.socket.destroy());
    await closed;
    return 'cut';
  }
  response.end(body);
  await closed;
  return response.writableFinished ? status : 'gave up';
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : 'an error without a name');
