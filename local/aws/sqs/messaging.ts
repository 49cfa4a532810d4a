import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { buildApp } from 'fauxqs';
import type { InspectedMessage } from '../../observation.ts';
import { AwsError } from '../aws-error.ts';
import { ConditionalWrites } from '../dynamodb/conditional-write.ts';
import { type JsonObject, objectsOf, parseJsonObject, textOf, textsOf } from '../json.ts';
import type { KeptState } from '../kept/kept-state.ts';
import type { AwsRequest } from '../request.ts';
import { type AwsResponse, JSON_1_0, jsonResponse } from '../response.ts';
import { resolveMessageStructure } from '../sns/sns-message-structure.ts';
import { type InspectedQueue, inspectedMessages } from './inspected-messages.ts';
import { createMessageMoves } from './message-move.ts';
import type { SqsCall } from './sqs-call.ts';
import { requireQueryOperation, sqsQueryResponse } from './sqs-query.ts';
import { FORBIDDEN_CHARACTER, faultOfMessage } from './sqs-rules.ts';

interface MessagingOptions {
  region: string;
  /** Host and port under which clients reach the endpoint; known once it listens. */
  publicHost(): string;
  /** Largest body that S3 takes, in bytes. */
  maxBodyBytes: number;
  /** @default nothing is kept */
  kept?: KeptState | undefined;
}

/** SQS, SNS and S3. */
export interface Messaging {
  sqs(request: AwsRequest): Promise<AwsResponse>;
  sns(request: Pick<AwsRequest, 'parameters'>): Promise<AwsResponse>;
  s3(request: Pick<AwsRequest, 'http'>): Promise<AwsResponse>;
  /**
   * Looks at the messages of a queue without receiving them.
   * @throws Error where there is no such queue
   */
  inspectQueue(queueUrl: string): Promise<InspectedMessage[]>;
  /** Ends the long polls and the message moves that are under way. */
  close(): Promise<void>;
}

/** Answers of SQS that carry queue addresses. */
const ANSWERS_WITH_QUEUE_URLS = new Set(['CreateQueue', 'GetQueueUrl', 'ListQueues']);

/** Headers of one connection rather than of the request or the answer. */
const CONNECTION_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'expect', 'date'];

/** An attribute name that no message has: asks SQS for no attributes where the client named none. */
const NO_ATTRIBUTES = ['\0'];

/** Starts fauxqs inside this process, without a port of its own, with its gaps against AWS filled. */
export async function createMessaging({
  region,
  publicHost,
  maxBodyBytes,
  kept,
}: MessagingOptions): Promise<Messaging> {
  await admitAstralCharacters();
  const app = buildApp({ logger: false, defaultRegion: region, ...(kept && { stores: kept.stores }) });
  // fauxqs takes 11 MiB; S3's bodies are those of its catch-all parser.
  app.removeContentTypeParser('*');
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, done) =>
    done(null, body),
  );
  await app.ready();
  const queueHost = new RegExp(`//sqs\\.${region}\\.localhost(:\\d+)?`, 'g');

  /**
   * fauxqs keeps the resources of each region apart by the region in the Authorization header. Without the
   * header all are in the stack's own region, so a client configured for any region finds them.
   */
  async function forward(
    method: string,
    url: string,
    headers: IncomingHttpHeaders,
    payload: string | Buffer,
  ): Promise<AwsResponse> {
    const { authorization, ...others } = headers;
    const answer = await app.inject({
      method,
      url,
      headers: { ...withoutConnection(others), host: publicHost() },
      ...(payload.length > 0 && { payload }),
    });
    return {
      status: answer.statusCode,
      headers: responseHeaders(answer.headers),
      body: answer.rawPayload,
    };
  }

  /** @throws AwsError where the answer is an error, whose codes in the query protocol fauxqs has wrong */
  async function forwardSqs(operation: string, payload: string | Buffer): Promise<AwsResponse> {
    const headers = { 'content-type': JSON_1_0, 'x-amz-target': `AmazonSQS.${operation}` };
    const answer = await forward('POST', '/', headers, payload);
    if (answer.status >= 400) throw sqsError(answer);
    if (!ANSWERS_WITH_QUEUE_URLS.has(operation)) return answer;
    // fauxqs names `sqs.<region>.localhost`, which not every machine resolves, with the port that the queue was made at.
    const body = answer.body.toString().replaceAll(queueHost, `//${publicHost()}`);
    return { ...answer, body };
  }

  const call: SqsCall = async (operation, parameters) => {
    return documentOf(await forwardSqs(operation, JSON.stringify(parameters)));
  };
  const moves = createMessageMoves(call, region);
  const writes = new ConditionalWrites();

  async function answerSqs({ operation, parameters, http, protocol }: AwsRequest): Promise<AwsResponse> {
    const body = protocol === 'json' ? http.body : JSON.stringify(parameters);
    switch (operation) {
      case 'SendMessage': {
        const fault = faultOfMessage(parameters);
        if (fault !== undefined) throw fault;
        return forwardSqs(operation, body);
      }
      case 'SendMessageBatch':
        return sendBatch(parameters, body);
      case 'ReceiveMessage':
        // SQS returns the attributes that were asked for; fauxqs returns all where none was.
        if (textsOf(parameters, 'MessageAttributeNames')?.length) return forwardSqs(operation, body);
        return forwardSqs(operation, JSON.stringify({ ...parameters, MessageAttributeNames: NO_ATTRIBUTES }));
      default: {
        const answer = await moves.answer(operation, parameters);
        return answer === undefined ? forwardSqs(operation, body) : jsonResponse(answer, JSON_1_0);
      }
    }
  }

  async function sendBatch(parameters: JsonObject, body: string | Buffer): Promise<AwsResponse> {
    const failed: JsonObject[] = [];
    const sound = objectsOf(parameters, 'Entries').filter((entry) => {
      const fault = faultOfMessage(entry);
      if (fault === undefined) return true;
      failed.push({ Id: entry.Id, SenderFault: true, Code: fault.code, Message: fault.message });
      return false;
    });
    if (failed.length === 0) return forwardSqs('SendMessageBatch', body);
    if (sound.length === 0) return jsonResponse({ Successful: [], Failed: failed }, JSON_1_0);
    const answer = await call('SendMessageBatch', { ...parameters, Entries: sound });
    return jsonResponse({ ...answer, Failed: [...objectsOf(answer, 'Failed'), ...failed] }, JSON_1_0);
  }

  return {
    async sqs(request) {
      if (request.protocol === 'json') return answerSqs(request);
      requireQueryOperation(request.operation);
      return sqsQueryResponse(request.operation, documentOf(await answerSqs(request)));
    },

    async sns({ parameters }) {
      const form = new URLSearchParams();
      for (const [field, value] of Object.entries(resolveMessageStructure(parameters))) {
        form.set(field, String(value));
      }
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return forward('POST', '/', headers, form.toString());
    },

    s3({ http: { method, url, headers, body } }) {
      const write = () => forward(method, url, headers, body);
      const head = () => forward('HEAD', url, { authorization: headers.authorization }, Buffer.of());
      return method === 'PUT' ? writes.do(headers, head, write) : write();
    },

    async inspectQueue(queueUrl) {
      const name = queueUrl.split('/').at(-1) ?? '';
      const answer = await app.inject({ url: `/_fauxqs/queues/${encodeURIComponent(name)}` });
      if (answer.statusCode !== 200) throw new Error(`There is no queue ${queueUrl}`);
      const queue: InspectedQueue = answer.json();
      return inspectedMessages(queue, Date.now());
    },

    async close() {
      moves.close();
      await app.close();
    },
  };
}

/**
 * fauxqs tests a message for forbidden characters with an expression without the `u` flag, to which both
 * halves of an astral character are surrogates and so forbidden; SQS takes these characters. The
 * expression is not part of fauxqs' interface, so it is repaired where fauxqs itself finds it.
 */
async function admitAstralCharacters(): Promise<void> {
  const address = new URL('sqs/sqsTypes.js', import.meta.resolve('fauxqs'));
  const types: { INVALID_MESSAGE_BODY_CHAR: RegExp } = await import(address.href);
  types.INVALID_MESSAGE_BODY_CHAR.test = (text) => FORBIDDEN_CHARACTER.test(text);
}

function documentOf(answer: AwsResponse): JsonObject {
  return parseJsonObject(answer.body.toString()) ?? {};
}

function sqsError(answer: AwsResponse): AwsError {
  const document = documentOf(answer);
  const code = textOf(document, '__type')?.split('#').at(-1) ?? 'InternalFailure';
  return new AwsError(code, textOf(document, 'message') ?? code, { status: answer.status });
}

function withoutConnection(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.includes(name)));
}

function responseHeaders(headers: OutgoingHttpHeaders): AwsResponse['headers'] {
  const kept: AwsResponse['headers'] = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || CONNECTION_HEADERS.includes(name)) continue;
    kept[name] = Array.isArray(value) ? value : String(value);
  }
  return kept;
}
