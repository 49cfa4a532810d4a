import { isUtf8 } from 'node:buffer';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { BODY_LIMIT_BYTES, type Header, valuesOf } from 'local-aws/gateway';

/** Swaps the bytes of each pair. A single last byte is dropped. */
const swapped = (bytes: Buffer) => Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();

/** A text as UTF-16 in both byte orders, without a byte order mark. */
export function utf16Of(text: string): Buffer[] {
  const littleEndian = Buffer.from(text, 'utf16le');
  return [littleEndian, swapped(littleEndian)];
}

/** The bytes decoded as UTF-16, in both byte orders. */
export const textsInUtf16 = (bytes: Buffer) =>
  [bytes, swapped(bytes)].map((read) => read.toString('utf16le'));

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

const LIMITS = { maxOutputLength: BODY_LIMIT_BYTES };

const DECOMPRESS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body, LIMITS),
  // Some senders leave out the zlib header (RFC 9110 §8.4.1.2).
  deflate: (body) => attempted(() => inflateSync(body, LIMITS)) ?? inflateRawSync(body, LIMITS),
  br: (body) => brotliDecompressSync(body, LIMITS),
};

function attempted<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/**
 * The compression of a body, by its header or its first bytes. Undefined if it is not compressed. `plain` is
 * undefined if the body cannot be decompressed, or is too large afterwards.
 */
export function compressionOf(
  body: Buffer,
  headers: readonly Header[],
): { name: string; plain: Buffer | undefined } | undefined {
  const coding = valuesOf(headers, 'content-encoding').join(',').trim().toLowerCase();
  // The magic bytes of gzip (RFC 1952 §2.3.1). Deflate has no magic bytes, so deflate is a guess that must give JSON.
  const isGzip = body[0] === 0x1f && body[1] === 0x8b;
  const name = Object.hasOwn(DECOMPRESS, coding) ? coding : isGzip ? 'gzip' : 'deflate';
  const plain = attempted(() => DECOMPRESS[name]?.(body));
  const isGuess = name !== coding && !isGzip;
  if (isGuess && (isUtf8(body) || !/^\s*\{/.test(plain?.toString() ?? ''))) return undefined;
  return { name, plain };
}
