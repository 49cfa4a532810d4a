import { httpApiEvent } from 'local-aws/payload-format-2';
import { SAMPLE_REQUEST_ID } from '../../events/samples.ts';
import { signatureOf } from '../../events/signing.ts';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import { SIGNATURE_HEADER } from '../../lambda/receiver/signature.ts';
import { CommandError } from '../terminal/command-error.ts';
import { shownId } from '../terminal/terminal.ts';
import { printable } from '../terminal/text.ts';
import { jsonOf } from './json.ts';

interface SignedPost {
  readonly url: string;
  readonly body: Uint8Array;
  readonly secret: string;
  /** Aborts the wait. Needed because a receiver that is stopped in a debugger answers minutes later. */
  readonly signal?: AbortSignal;
}

export interface SentAnswer {
  readonly status: number;
  /** Parsed JSON, or the text if the body is not JSON. */
  readonly body: unknown;
  /** Request id from the body of the receiver's answer. If API Gateway answered itself, from a header. */
  readonly requestId: string | undefined;
}

/** Headers with a request id in answers by API Gateway itself: HTTP API, REST API. */
const ID_HEADERS = ['apigw-requestid', 'x-amz-apigw-id'];

/**
 * Posts a body as the partner does: signed, as JSON.
 * @throws CommandError if nothing answers; AbortError if the signal is aborted
 * @example const { status, requestId } = await postSigned({ url, body: sampleBody(sample, new Date()), secret });
 */
export async function postSigned(post: SignedPost): Promise<SentAnswer> {
  const { url, signal = null } = post;
  const headers = { 'content-type': 'application/json', 'x-webhook-signature': signatureOf(post) };
  try {
    const response = await fetch(url, { method: 'POST', headers, body: Buffer.from(post.body), signal });
    const text = await response.text();
    const body = jsonOf(text) ?? text;
    const { requestId } = Object(body) as { requestId?: unknown };
    const ids = [requestId, ...ID_HEADERS.map((name) => response.headers.get(name))];
    return { status: response.status, body, requestId: ids.find((id) => typeof id === 'string') };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError(
      `Nothing answers. Is the stack running (npm start), and is the address right? If it is restarting, try again in a few seconds: ${url}`,
    );
  }
}

/** A signed body as an HTTP API passes it to the receiver. */
export const receiverEvent = (body: string, secret: string, receivedAt: Date) =>
  httpApiEvent(
    {
      method: 'POST',
      path: WEBHOOK_PATH,
      headers: [
        ['content-type', 'application/json'],
        [SIGNATURE_HEADER, signatureOf({ body: Buffer.from(body), secret })],
      ],
      body,
      isBase64Encoded: false,
      sourceIp: '127.0.0.1',
      receivedAt,
      requestId: SAMPLE_REQUEST_ID,
    },
    'local',
  );

/** `200 queued  event 1a2b3c4d  request JKJaXmPL`; for an error, its detail. */
export function answerText({ status, body }: Pick<SentAnswer, 'status' | 'body'>): string {
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
