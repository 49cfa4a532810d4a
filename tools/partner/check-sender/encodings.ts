import { isUtf8 } from 'node:buffer';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { GATEWAY_BODY_MEGABYTES } from '../../../lambda/limits.ts';
import { type Header, valuesOf } from '../../../local/gateway/http-message.ts';

/** Maximum size of a decompressed body: API Gateway's quota for a body. */
const MAX_INFLATED_BYTES = GATEWAY_BODY_MEGABYTES * 1024 * 1024;

/** Java and Python write a byte order mark before UTF-16, .NET writes none. */
export const UTF_16 = [
  {
    name: 'UTF-16',
    encode: (text: string) => Buffer.from(text, 'utf16le'),
    decode: (bytes: Buffer) => bytes.toString('utf16le'),
  },
  {
    name: 'UTF-16 (big endian)',
    encode: (text: string) => Buffer.from(text, 'utf16le').swap16(),
    // Bytes can only be swapped in pairs.
    decode: (bytes: Buffer) =>
      Buffer.from(bytes.subarray(0, bytes.length & ~1))
        .swap16()
        .toString('utf16le'),
  },
];

/** The magic bytes of gzip (RFC 1952 §2.3.1). */
const isGzip = (body: Buffer) => body[0] === 0x1f && body[1] === 0x8b;

interface Sent {
  readonly headers: readonly Header[];
  readonly body: Buffer;
}

/** Encodes each half of a surrogate pair as three bytes (CESU-8), as old Java and MySQL do. */
export function cesu8(text: string): Buffer {
  return Buffer.concat(
    text.split(/([\uD800-\uDFFF])/).map((part) => {
      const unit = part.charCodeAt(0);
      if (part.length !== 1 || unit < 0xd800 || unit > 0xdfff) return Buffer.from(part);
      return Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]);
    }),
  );
}

const LIMITS = { maxOutputLength: MAX_INFLATED_BYTES };

const INFLATE: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body, LIMITS),
  deflate: inflate,
  br: (body) => brotliDecompressSync(body, LIMITS),
};

/** Some senders omit the zlib header (RFC 9110 §8.4.1.2). */
function inflate(body: Buffer): Buffer {
  try {
    return inflateSync(body, LIMITS);
  } catch {
    return inflateRawSync(body, LIMITS);
  }
}

/** The compression of a body, by its header or its bytes. */
export function compressionOf({ headers, body }: Sent): string | undefined {
  const named = valuesOf(headers, 'content-encoding').join(',').trim().toLowerCase();
  if (Object.hasOwn(INFLATE, named)) return named;
  if (isGzip(body)) return 'gzip';
  return !isUtf8(body) && isDeflated(body) ? 'deflate' : undefined;
}

/** Deflate has no magic bytes, and other bytes can be read as it. */
function isDeflated(body: Buffer): boolean {
  try {
    return /^\s*\{/.test(inflate(body).toString());
  } catch {
    return false;
  }
}

/** @returns nothing if the body is not compressed, not compressed as its header says, or too large */
export function inflated(request: Sent): Buffer[] {
  try {
    const decompress = INFLATE[compressionOf(request) ?? ''];
    return decompress === undefined ? [] : [decompress(request.body)];
  } catch {
    return [];
  }
}
