import { createHash, createHmac } from 'node:crypto';
import { lookup } from 'node:dns';
import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';

export const TEST_SECRET = 'test-webhook-secret';

export interface Delivery {
  /** @default the hex HMAC-SHA256 of the body with the secret */
  readonly signature?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly secret?: string;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Timeout of an answer in milliseconds. API Gateway's own limit is 30 s. */
const ANSWER_LIMIT = 35_000;

export class Partner {
  readonly #url: string;
  readonly #secret: string;

  constructor(url: string | undefined, secret = TEST_SECRET) {
    this.#url = url ?? '';
    this.#secret = secret;
  }

  /** @param body an object is sent as JSON, a text or bytes unchanged */
  post(body: unknown, delivery: Delivery = {}): Promise<Answer> {
    const { secret = this.#secret } = delivery;
    const signature = 'signature' in delivery ? delivery.signature : signBody(body, secret);
    return send(this.#url, 'POST', toBytes(body), {
      'content-type': 'application/json',
      ...(signature !== undefined && { 'x-webhook-signature': signature }),
      ...delivery.headers,
    });
  }

  /** Requests another resource of the same API, without a body. */
  request(method: string, path: string): Promise<Answer> {
    return send(new URL(path, this.#url).href, method, Buffer.alloc(0), {});
  }

  sign(body: unknown, encoding: 'hex' | 'base64' = 'hex'): string {
    return signBody(body, this.#secret, encoding);
  }
}

export function signBody(body: unknown, secret = TEST_SECRET, encoding: 'hex' | 'base64' = 'hex'): string {
  return createHmac('sha256', secret).update(toBytes(body)).digest(encoding);
}

/** The event's id: the lower-case hex SHA-256 of the body (decision D7). */
export function eventIdOf(body: unknown): string {
  return createHash('sha256').update(toBytes(body)).digest('hex');
}

export function toBytes(body: unknown): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/**
 * One request on its own connection. Does not use `fetch`, because Node.js does not resolve names below `.localhost` to
 * this computer (RFC 6761 §6.3), as curl and browsers do.
 */
async function send(
  url: string,
  method: string,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const { request } = url.startsWith('https:') ? https : http;
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method,
        headers: { ...headers, 'content-length': body.length },
        agent: false,
        timeout: ANSWER_LIMIT,
        lookup: (name, options, callback) =>
          lookup(name.endsWith('.localhost') ? 'localhost' : name, options, callback),
      },
      resolve,
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`No answer within ${ANSWER_LIMIT} ms`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers['content-type'],
    headers: response.headers,
    body: JSON.parse(await text(response)) as Record<string, unknown>,
  };
}
