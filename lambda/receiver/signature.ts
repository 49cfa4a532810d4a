import { createHmac, timingSafeEqual } from 'node:crypto';

/** The request header with the signature, in the lower case of payload format 2.0. */
export const SIGNATURE_HEADER = 'x-webhook-signature';

/** Length of an HMAC-SHA256 in bytes (RFC 4868 §2.6). */
const SIGNATURE_BYTES = 32;

export const PREFIX = 'sha256=';
export const HEX = /^[0-9A-Fa-f]{64}$/;
export const BASE64 = /^(?:[A-Za-z0-9+/]{43}=?|[A-Za-z0-9_-]{43}=?)$/;

/**
 * Decodes the value of `X-Webhook-Signature` (decision D1): hex, base64 or base64url of the 32 bytes,
 * optionally prefixed `sha256=`.
 * @returns undefined if the value is not one well-formed signature
 */
export function decodeSignature(header: string | undefined): Buffer | undefined {
  if (header === undefined) return undefined;
  const value = header.startsWith(PREFIX) ? header.slice(PREFIX.length) : header;
  if (HEX.test(value)) return Buffer.from(value, 'hex');
  // Node's `base64` decodes both alphabets.
  if (BASE64.test(value)) return Buffer.from(value, 'base64');
  return undefined;
}

/** The HMAC-SHA256 of a body, keyed with the secret's UTF-8 bytes (`docs/contract.md`, Authentication). */
function sign(body: Uint8Array, secret: string): Buffer {
  return createHmac('sha256', secret).update(body).digest();
}

/**
 * Whether one of the secrets made the signature. Each comparison takes constant time.
 * @example
 * const signature = decodeSignature(headers['x-webhook-signature']);
 * const isRight = signature !== undefined && verify(body, signature, ['current secret', 'previous secret']);
 */
export function verify(body: Uint8Array, signature: Uint8Array, secrets: readonly string[]): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false;
  return secrets.some((secret) => timingSafeEqual(sign(body, secret), signature));
}
