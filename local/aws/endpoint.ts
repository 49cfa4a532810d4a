import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type ConsoleUrl, consoleRedirect } from '../console-redirect.ts';
import { listen } from '../listen.ts';
import type { InspectedMessage, StackObserver } from '../observation.ts';
import { accessDenied } from './access-denied.ts';
import { compilePolicy, type Policy, type PolicyStatement } from './authorization.ts';
import { AwsError } from './aws-error.ts';
import { type AlarmDefinition, createAlarms } from './cloudwatch/alarms.ts';
import { alarmsQueryResponse } from './cloudwatch/alarms-query.ts';
import { createDatabase } from './dynamodb/database.ts';
import { ConnectionLostError, type Faults } from './faults.ts';
import { createFirehose } from './firehose/firehose.ts';
import { bodyOf, KEEP_ALIVE_MS, MAX_BODY_BYTES, write } from './http-server.ts';
import type { KeptState } from './kept/kept-state.ts';
import { createEventSourceMappings, type EventSourceMapping } from './lambda/event-source-mappings.ts';
import { createLogs } from './logs/logs.ts';
import { isOwnHost } from './own-host.ts';
import type { Stack } from './permissions.ts';
import {
  type AwsRequest,
  credentialOf,
  type HttpRequest,
  parseRequest,
  protocolOf,
  type Service,
} from './request.ts';
import {
  type AwsResponse,
  errorResponse,
  JSON_1_0,
  JSON_1_1,
  jsonResponse,
  withChecksum,
} from './response.ts';
import { createObjectWriter } from './s3/object-writer.ts';
import { createSecretsManager } from './secrets-manager/secrets-manager.ts';
import { publishedNotification } from './sns/published-notification.ts';
import { createMessaging } from './sqs/messaging.ts';
import { callerIdentity } from './sts/caller-identity.ts';

/** A role that calls with an access key of its own. */
export interface Principal {
  /** The role's logical id. */
  name: string;
  accessKeyId: string;
  /** By which services that act for it know it. @default they do not know it */
  arn?: string;
  /** Its identity-based policies. */
  statements: PolicyStatement[];
}

export interface AwsEndpointOptions {
  /** 0 for any free one. */
  port: number;
  /** @default the loopback addresses, of IPv4 and of IPv6 where there is one */
  host?: string;
  /** Region of all resources, whichever region a client is configured for. */
  region: string;
  accountId: '000000000000';
  /** What goes wrong, for tests. @default nothing */
  faults?: Faults;
  /** What was kept of another run, and where this one is kept. @default nothing is kept */
  kept?: KeptState | undefined;
  /** Told of what goes wrong where no caller is told. @default none */
  onProblem?: (message: string) => void;
  /** Told of what roles write and publish; of operators nothing. @default none */
  observer?: Pick<StackObserver, 'onRow' | 'onNotification'>;
  /** Where a browser is led that opens the port's first page. @default nowhere */
  consoleUrl?: ConsoleUrl;
}

export interface AwsEndpoint {
  /** `http://localhost:<port>` */
  readonly url: string;
  /**
   * Makes roles known. A caller with an access key that belongs to none is an operator, who may do all.
   * @throws Error for a policy condition that is not supported
   */
  addPrincipals(principals: Principal[]): void;
  /** Makes a log group of CloudWatch Logs. */
  createLogGroup(name: string): void;
  /** Adds a line to one. @param at when it was written, epoch milliseconds. @default now */
  writeLog(group: string, message: string, at?: number): void;
  /** Makes an alarm of CloudWatch. */
  putAlarm(definition: AlarmDefinition): void;
  removeAlarm(name: string): void;
  /** Makes an event source known to Lambda's API, which turns it off and on. @returns what removes it */
  addEventSourceMapping(source: EventSourceMapping): () => void;
  /**
   * Looks at the messages of a queue without receiving them, those that were sent first coming first.
   * @throws Error where there is no such queue
   */
  inspectQueue(queueUrl: string): Promise<InspectedMessage[]>;
  /** Ends long polls and connections and frees the port. */
  close(): Promise<void>;
}

/** One step on a request's way. It answers, or lets the request pass on to the next one. */
type Stage = (request: AwsRequest) => AwsResponse | undefined | Promise<AwsResponse | undefined>;

const PLAIN_TEXT = { 'content-type': 'text/plain' };
const FOREIGN_HOST =
  'The AWS endpoint answers to localhost, what is below it, addresses and host.docker.internal, and to no other Host\n';

/** What answers on close get to leave, before their connections are cut. */
const CLOSE_GRACE_MS = 500;

/**
 * Starts the one AWS endpoint of the local stack: SQS, SNS, S3, DynamoDB, Secrets Manager, Firehose, CloudWatch Logs,
 * the alarms of CloudWatch, the event source mappings of Lambda and STS on one port, for any client, with any secret
 * key and for any region.
 * @throws Error EADDRINUSE as Node.js gives it
 */
export async function startAwsEndpoint({
  port,
  host,
  region,
  accountId,
  faults,
  kept,
  onProblem = () => {},
  observer,
  consoleUrl = () => undefined,
}: AwsEndpointOptions): Promise<AwsEndpoint> {
  const roles = new Map<string, { name: string; policy: Policy }>();
  const accessKeys = new Map<string, string>();
  const secrets = createSecretsManager({ region, accountId, kept });
  const logs = createLogs({ region, accountId, kept });
  const database = await createDatabase({
    region,
    accountId,
    kept,
    onRow:
      observer &&
      ((change, accessKeyId) => {
        if (roles.has(accessKeyId)) observer.onRow(change);
      }),
  });
  const stack: Stack = { region, accountId, secretArn: secrets.arnOf };
  let actualPort = port;
  const publicHost = () => `localhost:${actualPort}`;
  const messaging = await createMessaging({ region, publicHost, maxBodyBytes: MAX_BODY_BYTES, kept });
  const alarms = createAlarms({
    region,
    accountId,
    publish: ({ topicArn, subject, text }) =>
      messaging.sns({
        parameters: { Action: 'Publish', TopicArn: topicArn, Subject: subject, Message: text },
      }),
    kept,
  });
  const mappings = createEventSourceMappings({ region, accountId, kept });

  const firehose = createFirehose({
    region,
    accountId,
    writeObject: createObjectWriter({
      s3: messaging.s3,
      permit(roleArn, permission) {
        const accessKeyId = accessKeys.get(roleArn);
        if (accessKeyId === undefined) throw new Error(`Firehose is unable to assume role ${roleArn}`);
        authorize({ service: 's3', accessKeyId, permissions: [permission] });
      },
    }),
    onProblem,
    kept,
  });

  const services: Record<Service, (request: AwsRequest) => AwsResponse | Promise<AwsResponse>> = {
    sqs: messaging.sqs,
    sns: publishOrOther,
    s3: messaging.s3,
    dynamodb: database.answer,
    secretsmanager: ({ operation, parameters }) =>
      jsonResponse(secrets.answer(operation, parameters), JSON_1_1),
    logs: ({ operation, parameters }) => jsonResponse(logs.answer(operation, parameters), JSON_1_1),
    firehose({ operation, parameters, accessKeyId }) {
      const policy = roles.get(accessKeyId)?.policy;
      const document = firehose.answer(
        operation,
        parameters,
        ({ action, resource }) => policy === undefined || policy(action, resource) === 'allowed',
      );
      return jsonResponse(document, JSON_1_1);
    },
    async monitoring({ operation, parameters, protocol }) {
      const document = await alarms.answer(operation, parameters);
      return protocol === 'json'
        ? jsonResponse(document, JSON_1_0)
        : alarmsQueryResponse(operation, document);
    },
    lambda: ({ operation, parameters }) => mappings.answer(operation, parameters),
    sts: ({ operation, accessKeyId }) => callerIdentity(operation, accountId, callerArn(accessKeyId)),
  };

  async function publishOrOther({ operation, parameters, accessKeyId }: AwsRequest): Promise<AwsResponse> {
    const response = await messaging.sns({ parameters });
    if (observer && operation === 'Publish' && response.status === 200 && roles.has(accessKeyId)) {
      observer.onNotification(publishedNotification(parameters));
    }
    return response;
  }

  function callerArn(accessKeyId: string): string {
    const role = roles.get(accessKeyId);
    if (role === undefined) return `arn:aws:iam::${accountId}:user/operator`;
    return `arn:aws:sts::${accountId}:assumed-role/${role.name}/local`;
  }

  function authorize({
    service,
    accessKeyId,
    permissions,
  }: Pick<AwsRequest, 'service' | 'accessKeyId' | 'permissions'>): undefined {
    const role = roles.get(accessKeyId);
    if (role === undefined || service === 'sts') return;
    for (const permission of permissions) {
      const decision = role.policy(permission.action, permission.resource);
      if (decision !== 'allowed') throw accessDenied(service, callerArn(accessKeyId), permission, decision);
    }
  }

  const closing = new AbortController();
  const carryOut = (request: AwsRequest) => services[request.service](request);
  const disturbOrCarryOut: Stage = (request) =>
    faults?.disturb(request, carryOut, {
      byRole: roles.has(request.accessKeyId),
      closing: closing.signal,
    }) ?? carryOut(request);
  const stages: Stage[] = [authorize, disturbOrCarryOut];

  async function answer(http: HttpRequest): Promise<AwsResponse> {
    const response = await answerOrRefuse(http);
    return credentialOf(http)?.service === 'dynamodb' ? withChecksum(response) : response;
  }

  async function answerOrRefuse(http: HttpRequest): Promise<AwsResponse> {
    try {
      const request = parseRequest(http, stack);
      for (const stage of stages) {
        const response = await stage(request);
        if (response !== undefined) return response;
      }
      throw new Error(`Nothing answered ${request.service}:${request.operation}.`);
    } catch (error) {
      if (error instanceof ConnectionLostError) throw error;
      const service = credentialOf(http)?.service;
      const known = error instanceof AwsError ? error : internalFailure(error);
      return errorResponse(protocolOf(http, service), service, known);
    }
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await bodyOf(incoming);
    const response =
      body === undefined
        ? tooLarge(incoming)
        : (notOfAws(incoming) ??
          (await answer({
            method: incoming.method ?? 'GET',
            url: incoming.url ?? '/',
            headers: incoming.headers,
            body,
          })));
    // Otherwise the connection, idle again, would hold close() up; or the rest of a large body would.
    if (closing.signal.aborted || body === undefined) outgoing.setHeader('connection', 'close');
    write(outgoing, response);
  }

  /** The answer to what no client of AWS asks. */
  function notOfAws(incoming: IncomingMessage): AwsResponse | undefined {
    if (!isOwnHost(incoming.headers.host)) return { status: 421, headers: PLAIN_TEXT, body: FOREIGN_HOST };
    if (isHealthCheck(incoming)) return jsonResponse({ status: 'ok' }, 'application/json');
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
    await messaging.close();
    throw error;
  }

  return {
    url: `http://${publicHost()}`,

    addPrincipals(principals) {
      const compiled = principals.map(({ name, accessKeyId, statements }) => {
        return [accessKeyId, { name, policy: compilePolicy(statements) }] as const;
      });
      for (const [accessKeyId, role] of compiled) roles.set(accessKeyId, role);
      for (const { arn, accessKeyId } of principals) if (arn !== undefined) accessKeys.set(arn, accessKeyId);
    },

    createLogGroup: logs.create,
    writeLog: logs.write,
    putAlarm: alarms.put,
    removeAlarm: alarms.remove,
    addEventSourceMapping: mappings.add,
    inspectQueue: messaging.inspectQueue,

    async close() {
      closing.abort();
      const closed = listeners.map((server) => once(server.close(), 'close'));
      await firehose.close();
      await messaging.close();
      const cut = setTimeout(() => {
        for (const server of listeners) server.closeAllConnections();
      }, CLOSE_GRACE_MS);
      await Promise.all(closed);
      clearTimeout(cut);
    },
  };
}

function tooLarge(incoming: IncomingMessage): AwsResponse {
  const http = { method: '', url: incoming.url ?? '/', headers: incoming.headers, body: Buffer.alloc(0) };
  const service = credentialOf(http)?.service;
  const limit = `The local AWS endpoint takes at most ${MAX_BODY_BYTES} bytes in one request.`;
  return errorResponse(
    protocolOf(http, service),
    service,
    new AwsError('EntityTooLarge', limit, { status: service === 's3' ? 400 : 413 }),
  );
}

function isHealthCheck({ url, headers }: IncomingMessage): boolean {
  return url === '/health' && headers.authorization === undefined;
}

function internalFailure(error: unknown): AwsError {
  const message = error instanceof Error ? error.message : String(error);
  return new AwsError('InternalFailure', `The local AWS endpoint failed: ${message}`, { status: 500 });
}
