import { createHmac } from 'node:crypto';

export const TEST_SECRET = 'test-webhook-secret';

export interface Delivery {
  /** @default the hex HMAC-SHA256 of the body with the test secret */
  readonly signature?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly secret?: string;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: Record<string, unknown>;
}

export class Partner {
  readonly #url: string;

  constructor(url: string | undefined) {
    this.#url = url ?? '';
  }

  /** @param body an object is sent as JSON, a text or bytes unchanged */
  async post(body: unknown, delivery: Delivery = {}): Promise<Answer> {
    const bytes = toBytes(body);
    const signature = 'signature' in delivery ? delivery.signature : signBody(bytes, delivery.secret);
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(signature !== undefined && { 'x-webhook-signature': signature }),
        ...delivery.headers,
      },
      body: new Uint8Array(bytes),
    });
    return {
      status: response.status,
      contentType: response.headers.get('content-type'),
      body: (await response.json()) as Record<string, unknown>,
    };
  }
}

export function signBody(body: unknown, secret = TEST_SECRET, encoding: 'hex' | 'base64' = 'hex'): string {
  return createHmac('sha256', secret).update(toBytes(body)).digest(encoding);
}

function toBytes(body: unknown): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
