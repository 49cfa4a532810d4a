import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type ConsoleUrl, consoleRedirect } from '../console-redirect.ts';
import { listen } from '../listen.ts';
import type { InspectedMessage, StackObserver } from '../observation.ts';
import { createAuthorization, type Principal } from './authorization.ts';
import { createAlarms, type MetricAlarm } from './cloudwatch/alarms.ts';
import { createDynamodb } from './dynamodb/dynamodb.ts';
import { AwsError } from './errors.ts';
import { ConnectionLostError, type InjectedFaults } from './faults.ts';
import { createFauxqs } from './fauxqs.ts';
import { createFirehose } from './firehose/firehose.ts';
import { bodyOf, isOwnHost, KEEP_ALIVE_MS, MAX_BODY_BYTES, write } from './http-server.ts';
import { createEventSourceMappings, type EventSourceMapping } from './lambda/event-source-mappings.ts';
import { createLogs } from './logs/logs.ts';
import { credentialOf, parseRequest, protocolOf } from './request.ts';
import { type AwsResponse, documentResponse, errorResponse, withChecksum } from './response.ts';
import { createS3 } from './s3/s3.ts';
import { createSecretsManager } from './secrets-manager/secrets-manager.ts';
import {
  ACCOUNT_ID,
  type AwsHttpRequest,
  type AwsRequest,
  type Operations,
  SERVICES,
  type Service,
} from './services.ts';
import { createSns, publishedNotification } from './sns/sns.ts';
import { createSqs } from './sqs/sqs.ts';

export interface AwsEndpointOptions {
  /** 0 for any free port. */
  port: number;
  /** @default the loopback addresses of IPv4 and, if the machine has it, IPv6 */
  host?: string;
  /** Region of all resources, for clients of any region. */
  region: string;
  /** Faults to inject, for tests. @default none */
  faults?: InjectedFaults;
  /** Called with problems that no caller gets as an error. @default none */
  onProblem?: (message: string) => void;
  /** Called with items and notifications that roles, but not operators, write and publish. @default none */
  observer?: Pick<StackObserver, 'onItemChange' | 'onNotification'>;
  /** Where a browser that opens the port is redirected. @default nowhere */
  consoleUrl?: ConsoleUrl;
}

export interface AwsEndpoint {
  /** `http://localhost:<port>` */
  readonly url: string;
  /**
   * Registers roles. A caller whose access key belongs to no role is an operator, who may do everything.
   * @throws Error for a policy condition that is not supported
   */
  addPrincipals(principals: Principal[]): void;
  /** Creates a log group of CloudWatch Logs. */
  createLogGroup(name: string): void;
  /** Adds a line to a log group. @param at time of writing, epoch milliseconds. @default now */
  writeLog(group: string, message: string, at?: number): void;
  /** Creates an alarm of CloudWatch. */
  putAlarm(definition: MetricAlarm): void;
  /** Registers an enabled event source with Lambda's API, which can disable and enable it. */
  addEventSourceMapping(source: EventSourceMapping): void;
  /** Returns the messages of a queue without receiving them, oldest first. @throws Error if the queue does not exist */
  inspectQueue(queueUrl: string): Promise<InspectedMessage[]>;
  /** Ends long polls and connections and frees the port. */
  close(): Promise<void>;
}

const PLAIN_TEXT = { 'content-type': 'text/plain' };
const FOREIGN_HOST =
  'The AWS endpoint only answers the hosts localhost, *.localhost, host.docker.internal and IP addresses\n';

/** On close, time for answers to be sent before their connections are cut. */
const CLOSE_GRACE_MS = 500;

/**
 * Starts the AWS endpoint of the local stack: SQS, SNS, S3, DynamoDB, Secrets Manager, Firehose, CloudWatch Logs,
 * CloudWatch's alarms, Lambda's event source mappings and STS on one port. It serves any client, with any secret key
 * and for any region.
 * @throws Error EADDRINUSE of Node.js
 */
export async function startAwsEndpoint({
  port,
  host,
  region,
  faults,
  onProblem = () => {},
  observer,
  consoleUrl = () => undefined,
}: AwsEndpointOptions): Promise<AwsEndpoint> {
  let actualPort = port;
  const publicHost = () => `localhost:${actualPort}`;
  const secrets = createSecretsManager(region);
  const authorization = createAuthorization({ region, secretArn: secrets.arnOf });
  const logs = createLogs(region);
  const dynamodb = createDynamodb(
    region,
    observer &&
      ((change, accessKeyId) => {
        if (authorization.isRole(accessKeyId)) observer.onItemChange(change);
      }),
  );
  const fauxqs = await createFauxqs({
    region,
    publicHost,
    maxBodyBytes: MAX_BODY_BYTES,
  });
  const sqs = createSqs({ fauxqs, region, publicHost });
  const sns = createSns(fauxqs);
  const s3 = createS3(fauxqs);
  const alarms = createAlarms(region, ({ topicArn, subject, text }) =>
    sns.answer({
      parameters: { Action: 'Publish', TopicArn: topicArn, Subject: subject, Message: text },
    }),
  );
  const mappings = createEventSourceMappings(region);
  const firehose = createFirehose({
    region,
    isAllowed: authorization.isAllowed,
    async writeObject(roleArn, bucket, key, body, isGzip) {
      const permission = { action: 's3:PutObject', resource: `arn:aws:s3:::${bucket}/${key}` };
      authorization.authorizeRole(roleArn, 's3', permission);
      await s3.putObject(bucket, key, body, isGzip);
    },
    onProblem,
  });

  const operations: Record<Exclude<Service, 'sns' | 's3'>, Operations> = {
    sqs: sqs.operations,
    dynamodb,
    secretsmanager: secrets.operations,
    logs: logs.operations,
    firehose: firehose.operations,
    monitoring: alarms.operations,
    lambda: mappings.operations,
    sts: {
      GetCallerIdentity: (_parameters, accessKeyId) => ({
        Arn: authorization.callerArn(accessKeyId),
        UserId: ACCOUNT_ID,
        Account: ACCOUNT_ID,
      }),
    },
  };

  async function carryOut(request: AwsRequest): Promise<AwsResponse> {
    const { service, operation, parameters, accessKeyId } = request;
    if (service === 's3') return s3.answer(request.http);
    if (service === 'sns') {
      const response = await sns.answer(request);
      if (
        observer &&
        operation === 'Publish' &&
        response.status === 200 &&
        authorization.isRole(accessKeyId)
      ) {
        observer.onNotification(publishedNotification(parameters));
      }
      return response;
    }
    const offered = operations[service];
    const run = Object.hasOwn(offered, operation) ? offered[operation] : undefined;
    if (run === undefined) {
      throw new AwsError(
        'UnknownOperationException',
        `The local AWS endpoint does not offer ${SERVICES[service].title}'s ${operation}, only ${Object.keys(offered).join(', ')}.`,
      );
    }
    return documentResponse(request, await run(parameters, accessKeyId));
  }

  const closing = new AbortController();

  async function answer(http: AwsHttpRequest): Promise<AwsResponse> {
    const service = credentialOf(http)?.service;
    try {
      const request = parseRequest(http);
      authorization.authorize(request);
      const byRole = authorization.isRole(request.accessKeyId);
      return faults === undefined
        ? await carryOut(request)
        : await faults.disturb(request, carryOut, { byRole, closing: closing.signal });
    } catch (error) {
      if (error instanceof ConnectionLostError) throw error;
      const known = error instanceof AwsError ? error : internalFailure(error);
      return errorResponse(protocolOf(http, service), service, known);
    }
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = incoming;
    const body = await bodyOf(incoming);
    const http = { method, url, headers, body: body ?? Buffer.alloc(0) };
    const response = body === undefined ? tooLarge(http) : (otherThanAws(incoming) ?? (await answer(http)));
    // Otherwise an idle connection, or the rest of a large body, would delay close().
    if (closing.signal.aborted || body === undefined) outgoing.setHeader('connection', 'close');
    const isDynamodb = credentialOf(http)?.service === 'dynamodb';
    write(outgoing, isDynamodb ? withChecksum(response) : response);
  }

  /** The answer to requests that do not come from an AWS client. */
  function otherThanAws(incoming: IncomingMessage): AwsResponse | undefined {
    const { url, headers } = incoming;
    if (!isOwnHost(headers.host)) return { status: 421, headers: PLAIN_TEXT, body: FOREIGN_HOST };
    if (url === '/health' && headers.authorization === undefined) {
      return { status: 200, headers: { 'content-type': 'application/json' }, body: '{"status":"ok"}' };
    }
    const location = consoleRedirect(incoming, consoleUrl);
    return location === undefined ? undefined : { status: 302, headers: { location }, body: '' };
  }

  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  };
  let listeners: Server[] = [];
  try {
    const listening = await listen({ keepAliveTimeout: KEEP_ALIVE_MS }, onRequest, { port, host });
    listeners = listening.servers;
    actualPort = listening.port;
  } catch (error) {
    await fauxqs.close();
    throw error;
  }

  return {
    url: `http://${publicHost()}`,
    addPrincipals: authorization.addPrincipals,
    createLogGroup: logs.create,
    writeLog: logs.write,
    putAlarm: alarms.put,
    addEventSourceMapping: mappings.add,
    inspectQueue: sqs.inspectQueue,

    async close() {
      closing.abort();
      const closed = listeners.map((server) => once(server.close(), 'close'));
      await firehose.close();
      sqs.close();
      await fauxqs.close();
      const cut = setTimeout(() => {
        for (const server of listeners) server.closeAllConnections();
      }, CLOSE_GRACE_MS);
      await Promise.all(closed);
      clearTimeout(cut);
    },
  };
}

function tooLarge(http: AwsHttpRequest): AwsResponse {
  const service = credentialOf(http)?.service;
  const message = `The local AWS endpoint takes at most ${MAX_BODY_BYTES} bytes in one request.`;
  const error = new AwsError('EntityTooLarge', message, { status: service === 's3' ? 400 : 413 });
  return errorResponse(protocolOf(http, service), service, error);
}

function internalFailure(error: unknown): AwsError {
  const message = error instanceof Error ? error.message : String(error);
  return new AwsError('InternalFailure', `The local AWS endpoint failed: ${message}`, { status: 500 });
}
