// Signs the bytes on standard input and posts them as a webhook delivery. Without an address it prints the signature.
//
//   WEBHOOK_SECRET=... node sign-and-post.ts https://.../api/v1/webhooks/partner < event.json

import { createHmac } from 'node:crypto';
import { buffer } from 'node:stream/consumers';

/** How long to wait for the answer, in milliseconds: API Gateway gives up after 30 seconds. */
const TIMEOUT = 35_000;

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * The value of X-Webhook-Signature.
 * @param secret its UTF-8 bytes are the key
 * @param body the very bytes that are sent
 */
export function sign(secret: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

export async function post(url: string, secret: string, body: Uint8Array<ArrayBuffer>): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Webhook-Signature': sign(secret, body) },
    body,
    // A redirect may turn a POST into a GET, whose 200 would mean nothing.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT),
  });
  return { status: response.status, text: await response.text() };
}

/** The cause of a failed fetch is more helpful than its message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message;
}

const [url] = process.argv.slice(2);
const secret = process.env.WEBHOOK_SECRET;
if (!secret) {
  console.error('WEBHOOK_SECRET is not set');
  process.exit(1);
}
const body = new Uint8Array(await buffer(process.stdin));

if (url === undefined) {
  console.log(sign(secret, body));
} else {
  try {
    const { status, text } = await post(url, secret, body);
    console.log(`${status} ${text}`);
    process.exitCode = status === 200 ? 0 : 1;
  } catch (error) {
    console.error(`No answer: ${reasonOf(error)}`);
    process.exitCode = 1;
  }
}
