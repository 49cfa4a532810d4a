// Signs the bytes on standard input and posts them as a webhook delivery. Without an address it prints the signature.
//
//   WEBHOOK_SECRET=... node sign-and-post.mjs https://.../api/v1/webhooks/partner < event.json

import { createHmac } from 'node:crypto';
import { buffer } from 'node:stream/consumers';

/** How long to wait for the answer, in milliseconds: API Gateway gives up after 30 seconds. */
const TIMEOUT = 35_000;

/**
 * The value of X-Webhook-Signature.
 * @param {string} secret its UTF-8 bytes are the key
 * @param {Uint8Array} body the very bytes that are sent
 */
export function sign(secret, body) {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/**
 * @param {string} url
 * @param {string} secret
 * @param {Uint8Array} body
 */
export async function post(url, secret, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Webhook-Signature': sign(secret, body) },
    body,
    // A redirect may turn a POST into a GET, whose 200 would mean nothing.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT),
  });
  return { status: response.status, answer: await response.text() };
}

const [url] = process.argv.slice(2);
const secret = process.env.WEBHOOK_SECRET;
if (!secret) {
  console.error('WEBHOOK_SECRET is not set');
  process.exit(1);
}
const body = await buffer(process.stdin);

if (url === undefined) {
  console.log(sign(secret, body));
} else {
  try {
    const { status, answer } = await post(url, secret, body);
    console.log(`${status} ${answer}`);
    process.exitCode = status === 200 ? 0 : 1;
  } catch (error) {
    console.error(`No answer: ${error.cause?.code ?? error.message}`);
    process.exitCode = 1;
  }
}
