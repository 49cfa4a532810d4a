import { createHash, createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { WEBHOOK_PATH } from '../../../../lambda/events/webhook-path.ts';
import { type Diagnosis, diagnose } from '../../../../tools/partner/check-sender/diagnose.ts';
import { serviceAnswer } from '../../../../tools/partner/check-sender/responses.ts';
import type { SentRequest } from '../../../../tools/partner/check-sender/signed-messages.ts';

/** Hex digits that are base64, too, and letters in both cases: each reading of it is another key. */
export const SECRET = 'A0b1C2d3E4f5A6b7';

export const NOW = new Date('2026-01-31T09:00:00Z');

/** Nothing in it is the same in two notations: white space, slashes, signs beyond ASCII and beyond Latin-1, HTML's. */
export const BODY = `{
 "timestamp": "2026-01-31T09:00:00Z",
 "event":"shop.updated",
 "data": {"shop_id": "shop/1", "name": "Café <A&B> 'ü' 😀 e\u0301 ﬁ", "rating": 1.0, "updated_fields":[ "name" ]}
}\n`;

export const sign = (body: string | Uint8Array, secret: string | Uint8Array = SECRET, hash = 'sha256') =>
  createHmac(hash, secret).update(body).digest();

export const hash = (text: string | Uint8Array, name = 'sha256') => createHash(name).update(text).digest();

export interface Sent {
  readonly body?: string | Uint8Array;
  readonly signature?: string | Uint8Array;
  /** Instead of the usual ones, of which the signature is one. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly httpVersion?: string;
  readonly secret?: string;
}

/** What the checker says of such a request. */
export async function said(sent: Sent): Promise<Diagnosis> {
  const { body = BODY, signature = sign(body), secret = SECRET } = sent;
  const value = typeof signature === 'string' ? signature : Buffer.from(signature).toString('hex');
  const request: SentRequest = {
    method: sent.method ?? 'POST',
    path: sent.path ?? WEBHOOK_PATH,
    query: sent.query ?? '',
    httpVersion: sent.httpVersion ?? '1.1',
    headers: sent.headers ?? [
      ['Host', 'localhost:8080'],
      ['Content-Type', 'application/json'],
      ['X-Webhook-Signature', value],
    ],
    sourceIp: '127.0.0.1',
    port: 8080,
    receivedAt: NOW,
    body: Buffer.from(body),
  };
  return diagnose(request, await serviceAnswer(request, async () => request.body, secret), secret);
}

/** The usual headers, with another one in place of the signature. */
export const withHeader = (name: string, value: string, ...more: [string, string][]): [string, string][] => [
  ['Host', 'localhost:8080'],
  ['Content-Type', 'application/json'],
  [name, value],
  ...more,
];

export const gzipped = (body: string) => gzipSync(body);
