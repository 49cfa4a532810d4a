import { request as httpRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isOfProxy } from 'local-aws/gateway';
import { signatureOf } from '../../events/signing.ts';
import { CommandError } from '../terminal/command-error.ts';
import { shownId } from '../terminal/terminal.ts';
import { printable } from '../terminal/text.ts';
import { jsonOf } from './history/json.ts';

interface Post {
  readonly url: string;
  readonly body: Uint8Array;
  /** Aborts the wait. Needed because a receiver that is stopped in a debugger answers minutes later. */
  readonly signal?: AbortSignal;
}

interface SignedPost extends Post {
  readonly secret: string;
}

/** A recorded request that can be sent again. */
export interface RepeatableRequest {
  readonly method: string;
  readonly path: string;
  /** In the order in which the sender wrote them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface SentAnswer {
  readonly status: number;
  /** Parsed JSON, or the text if the body is not JSON. */
  readonly body: unknown;
}

interface WebhookAnswer extends SentAnswer {
  /** Request id from the body of the receiver's answer. If API Gateway answered itself, from a header. */
  readonly requestId: string | undefined;
}

/**
 * Posts a body as the partner does: signed, as JSON.
 * @throws CommandError if nothing answers; AbortError if the signal is aborted
 * @example const { status, requestId } = await postSigned({ url, body: sampleBody(sample, new Date()), secret });
 */
export async function postSigned(post: SignedPost): Promise<WebhookAnswer> {
  const { url, body, signal = null } = post;
  const headers = { 'content-type': 'application/json', 'x-webhook-signature': signatureOf(post) };
  try {
    const response = await fetch(url, { method: 'POST', headers, body: Buffer.from(body), signal });
    return answerOf(response.status, await response.text(), (name) => response.headers.get(name));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw nothingAnswers(url);
  }
}

/** Headers that belong to one connection, and are not part of the partner's request. */
const OF_CONNECTION = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Posts a recorded request unchanged, with its own headers and so its own signature. Headers of a tunnel are left out:
 * otherwise the request would look as if it came through the tunnel.
 * @param post `url` is that of the webhook. Its origin is combined with the request's path
 * @throws CommandError if nothing answers; AbortError if the signal is aborted
 */
export async function postRecorded(
  { method, path, headers }: RepeatableRequest,
  { url, body, signal }: Post,
): Promise<WebhookAnswer> {
  const { origin, host } = new URL(url);
  const own = headers.filter(([name]) => !OF_CONNECTION.has(name.toLowerCase()) && !isOfProxy(name));
  const all = [['host', host], ...own, ['content-length', String(body.length)], ['connection', 'close']];
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // Node sends a list of headers unchanged, in order and case.
    const options = { method, headers: all.flat(), ...(signal && { signal }) };
    httpRequest(`${origin}${path}`, options, resolve)
      .on('error', (error: NodeJS.ErrnoException) =>
        reject(error.code === 'ECONNREFUSED' ? nothingAnswers(url) : error),
      )
      .end(body);
  });
  const text = (await buffer(response)).toString();
  return answerOf(response.statusCode ?? 0, text, (name) => response.headers[name]);
}

const nothingAnswers = (url: string) =>
  new CommandError(
    `Nothing answers. Is the stack running (npm start), and is the address right? If it is restarting, try again in a few seconds: ${url}`,
  );

/** Headers with a request id in answers by API Gateway itself: HTTP API, REST API. */
const ID_HEADERS = ['apigw-requestid', 'x-amz-apigw-id'];

function answerOf(status: number, text: string, header: (name: string) => unknown): WebhookAnswer {
  const body = jsonOf(text) ?? text;
  const { requestId } = Object(body) as { requestId?: unknown };
  const ids = [requestId, ...ID_HEADERS.map(header)];
  return { status, body, requestId: ids.find((id) => typeof id === 'string') };
}

/** `200 queued  event 1a2b3c4d  request JKJaXmPL`; for an error, its detail. */
export function answerText({ status, body }: SentAnswer): string {
  const { eventId, requestId } = Object(body) as Record<string, unknown>;
  return [
    `${status} ${printable(answerDetail(body))}`,
    ...(eventId === undefined ? [] : [`event ${shownId(String(eventId))}`]),
    ...(requestId === undefined ? [] : [`request ${shownId(String(requestId))}`]),
  ].join('  ');
}

/** @returns `queued`; for an error, its detail */
export function answerDetail(body: unknown): string {
  if (typeof body !== 'object' || body === null) return String(body);
  const { status: word, detail, message } = body as Record<string, unknown>;
  return String(typeof word === 'string' ? word : (detail ?? message ?? ''));
}
