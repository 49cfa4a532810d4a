import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isOwnHost } from '../admitted-host.ts';
import { KEEP_ALIVE_MS, listen, readBody } from '../http-server.ts';
import type { StackObserver } from '../observation.ts';
import { createAwsServices } from './create-services.ts';
import { AwsError } from './errors.ts';
import { ConnectionLostError, InjectedFaults } from './faults.ts';
import { MAX_BODY_BYTES } from './fauxqs.ts';
import { checkInput } from './model/check-input.ts';
import { checkGuideRules } from './model/guide-rules.ts';
import { credentialOf, parseRequest, protocolOf } from './request.ts';
import { type AwsResponse, errorResponse, withChecksum } from './response.ts';
import type { AwsHttpRequest, AwsRequest } from './service-forms.ts';

interface AwsEndpointOptions {
  /** Port of the endpoint; 0 for any free port. */
  port: number;
  /** Faults to inject, for tests. @default none */
  faults?: InjectedFaults | undefined;
  /** Called with problems of the endpoint that no caller gets as an error. @default none */
  onProblem?: (message: string) => void;
  /**
   * Called with items that roles write and notifications that roles publish, but not with items and notifications of
   * operators.
   * @default none
   */
  observer?: Pick<StackObserver, 'onItemChange' | 'onNotification'> | undefined;
}

export type AwsEndpoint = Awaited<ReturnType<typeof startAwsEndpoint>>;

const PLAIN_TEXT = { 'content-type': 'text/plain' };
const FOREIGN_HOST =
  'The AWS endpoint only answers the hosts localhost, *.localhost, host.docker.internal and IP addresses\n';

const FOREIGN_PAGE = 'The AWS endpoint answers no page of another host\n';

/** Milliseconds on close in which answers can still be sent, before connections are cut. */
const CLOSE_GRACE_MS = 500;

/**
 * Starts the AWS endpoint of the local stack, one port for all services: SQS, SNS, S3, DynamoDB, Secrets
 * Manager, Firehose, CloudWatch Logs, alarms of CloudWatch, event source mappings of Lambda, STS, and reading
 * stacks from CloudFormation. It accepts any AWS client, any secret key and any region.
 * @throws Error EADDRINUSE of Node.js
 */
export async function startAwsEndpoint({
  port,
  faults = new InjectedFaults(),
  onProblem = () => {},
  observer,
}: AwsEndpointOptions) {
  const started = Promise.withResolvers<void>();
  // No time limits: a blocked process would answer waiting requests with 408, which AWS does not.
  const limits = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS };
  const { servers, port: actualPort } = await listen(
    limits,
    (incoming, outgoing) => {
      // A request can arrive before the services exist, because they need the port's number.
      started.promise.then(() => serve(incoming, outgoing)).catch(() => outgoing.destroy());
    },
    { port },
  );
  const host = `localhost:${actualPort}`;
  const services = createAwsServices(host, onProblem, observer);
  const { authorization } = services;
  const closing = new AbortController();

  /** @param isTooLarge whether the body is missing, because it exceeds the limit */
  async function answer(http: AwsHttpRequest, isTooLarge: boolean): Promise<AwsResponse> {
    const service = credentialOf(http)?.service;
    const failure = (error: unknown) => {
      if (error instanceof ConnectionLostError) throw error;
      const known = error instanceof AwsError ? error : internalFailure(error);
      return errorResponse(protocolOf(http, service), service, known);
    };
    try {
      if (isTooLarge) throw tooLarge(service);
      const request = parseRequest(http);
      authorization.authorize(request);
      checkInput(request);
      checkGuideRules(request);
      const byRole = authorization.isRole(request.accessKeyId);
      const carryOut = (carried: AwsRequest) => services.carryOut(carried).catch(failure);
      return await faults.disturb(request, carryOut, byRole, closing.signal);
    } catch (error) {
      return failure(error);
    }
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = incoming;
    const body = await readBody(incoming, MAX_BODY_BYTES);
    const http = { method, url, headers, body: body ?? Buffer.alloc(0) };
    const response = otherThanAws(incoming) ?? (await answer(http, body === undefined));
    // Keep-alive is off in these cases: an idle connection, or the unread rest of a large body, would delay `close()`.
    if (closing.signal.aborted || body === undefined) outgoing.setHeader('connection', 'close');
    const isDynamodb = credentialOf(http)?.service === 'dynamodb';
    write(outgoing, isDynamodb ? withChecksum(response) : response);
  }

  /** The answer to a page of another host. Undefined for AWS clients. */
  function otherThanAws({ headers }: IncomingMessage): AwsResponse | undefined {
    if (!isOwnHost(headers.host)) return { status: 421, headers: PLAIN_TEXT, body: FOREIGN_HOST };
    if (isForeignPage(headers.origin)) return { status: 403, headers: PLAIN_TEXT, body: FOREIGN_PAGE };
    return undefined;
  }

  started.resolve();
  return {
    /** `http://localhost:<port>` */
    url: `http://${host}`,
    /** Registers roles. A caller whose access key belongs to no role is an operator, who may do everything. */
    addPrincipals: authorization.addPrincipals,
    addStack: services.stacks.add,
    createLogGroup: services.logs.create,
    writeLog: services.logs.write,
    putAlarm: services.alarms.put,
    addEventSourceMapping: services.mappings.add,
    inspectQueue: services.sqs.inspectQueue,

    /** Ends long polls and connections and frees the port. */
    async close(): Promise<void> {
      closing.abort();
      const closed = servers.map((server) => once(server.close(), 'close'));
      await services.close();
      const cut = setTimeout(() => {
        for (const server of servers) server.closeAllConnections();
      }, CLOSE_GRACE_MS);
      await Promise.all(closed);
      clearTimeout(cut);
    },
  };
}

/**
 * A second barrier against a form that a page of another host posts here. The first one: it has no signature.
 * @param origin the header that browsers send with it
 */
function isForeignPage(origin: string | undefined): boolean {
  return origin !== undefined && !(URL.canParse(origin) && isOwnHost(new URL(origin).host));
}

function tooLarge(service: string | undefined): AwsError {
  const message = `The local AWS endpoint takes at most ${MAX_BODY_BYTES} bytes in one request.`;
  return new AwsError('EntityTooLarge', message, { status: service === 's3' ? 400 : 413 });
}

function internalFailure(error: unknown): AwsError {
  const message = error instanceof Error ? error.message : String(error);
  return new AwsError('InternalFailure', `The local AWS endpoint failed: ${message}`, { status: 500 });
}

function write(outgoing: ServerResponse, { status, headers, body, stalledUntil }: AwsResponse): void {
  outgoing.statusCode = status;
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  if (!outgoing.hasHeader('x-amzn-RequestId')) outgoing.setHeader('x-amzn-RequestId', randomUUID());
  if (stalledUntil !== undefined) {
    outgoing.removeHeader('content-length');
    outgoing.flushHeaders();
    if (stalledUntil.aborted) outgoing.destroy();
    else stalledUntil.addEventListener('abort', () => outgoing.destroy(), { once: true });
    return;
  }
  // The answer to HEAD has no body, but it has the length of the object.
  if (!(outgoing.req.method === 'HEAD' && outgoing.hasHeader('content-length'))) {
    outgoing.setHeader('content-length', Buffer.byteLength(body));
  }
  outgoing.end(body);
}
