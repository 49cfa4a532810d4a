import { PREFIX } from '../../lambda/receiver/signature.ts';
import type { Finding } from './finding.ts';
import { type VariantTable, variantsIn } from './signing-variants.ts';

/** Digest lengths of common hash functions, in bytes: MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512. */
const DIGEST_LENGTHS = new Set([16, 20, 28, 32, 48, 64]);

const HEX = /^(?:[0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** Maximum number of encodings around a signature, one inside the other. */
const MAX_DEPTH = 4;
/** Minimum characters of a digest: 22 is the base64 of the 16 bytes of MD5, without padding. */
const MIN_DIGEST_TEXT = 22;

const group = (pattern: RegExp) => (value: string) => pattern.exec(value)?.slice(1, 2) ?? [];

/** Decodes a value that is itself an encoded text, because it was encoded twice. */
function encodedText(value: string): string[] {
  return (['hex', 'base64'] as const)
    .filter((encoding) => (encoding === 'hex' ? HEX : BASE64).test(value))
    .map((encoding) => Buffer.from(value, encoding).toString('latin1'))
    .filter((text) => text.length >= MIN_DIGEST_TEXT && (HEX.test(text) || BASE64.test(text)));
}

/** Texts and encodings around a signature that the service does not accept, and how to remove them. */
const WRAPPINGS: VariantTable<(value: string) => string[]> = {
  'signature-encoded-twice': encodedText,
  'signature-white-space': (value) => [value.trim()],
  'signature-prefix/twice': group(/^sha256=(.+)$/),
  'signature-prefix': group(
    /^(?:hmac[-_]?sha-?256|hmac|sha-?(?:1|224|256|384|512)|md5|v0|sig1?|s|signature|digest)\s*[=:]\s*(\S.*)$/i,
  ),
  'signature-prefix/0x': group(/^0x([0-9a-f]+)$/i),
  'signature-quoted': (value) => [...group(/^"(.*)"$/)(value), ...group(/^'(.*)'$/)(value)],
  'signature-quoted/python': group(/^b["'](.*)["']$/),
  'signature-v1': group(/^.*(?:^|[,;])\s*v1[=,]([^,;]+).*$/),
  'signature-openssl': group(/^.*\(stdin\)\s*=\s*(\S+)$/),
  'signature-openssl/stdin': group(/^(\S+)\s+\*?(?:stdin|-)$/),
  'signature-scheme': group(/^(?:hmac|bearer|signature|token|basic|hmac-sha256|sha256)\s+(\S.*)$/i),
  'signature-scheme/colons': group(/^:(\S+):$/),
  'signature-several': (value) => (value.includes(',') ? value.split(',').map((part) => part.trim()) : []),
  'signature-separators': (value) =>
    /^[0-9a-f]{2}([ :-])[0-9a-f]{2}\1/i.test(value) ? [value.replaceAll(/[ :-]/g, '')] : [],
  'signature-url-escapes': percentDecoded,
  'signature-white-space/plus': (value) => [value.replaceAll(' ', '+')],
};

const UNWRAPPINGS = variantsIn(WRAPPINGS);

function percentDecoded(text: string): string[] {
  try {
    return [decodeURIComponent(text)];
  } catch {
    return [];
  }
}

/**
 * One way to decode the value of a signature header. Has a mistake if the service does not decode values in this way.
 */
interface DigestReading {
  readonly digest: Buffer;
  readonly mistake: Finding | undefined;
}

/** All ways to decode a value. The service's own way is first. */
export function readings(value: string): DigestReading[] {
  return unwrapped(value.startsWith(PREFIX) ? value.slice(PREFIX.length) : value, undefined, 0);
}

function unwrapped(value: string, outer: Finding | undefined, depth: number): DigestReading[] {
  if (depth > MAX_DEPTH) return [];
  const digests = [
    ...(HEX.test(value) ? [Buffer.from(value, 'hex')] : []),
    ...(BASE64.test(value) ? [Buffer.from(value, 'base64')] : []),
  ];
  return [
    ...digests
      .filter(({ length }) => DIGEST_LENGTHS.has(length))
      .map((digest) => ({ digest, mistake: outer })),
    ...UNWRAPPINGS.flatMap(([mistake, unwrap]) =>
      unwrap(value).flatMap((inner) =>
        inner === value ? [] : unwrapped(inner, outer ?? mistake, depth + 1),
      ),
    ),
  ];
}

/** Times in a value such as `t=1769850000,v1=…`. */
export const timestampsIn = (value: string) =>
  [...value.matchAll(/(?:^|[,;\s])t=(\d{1,20})/g)].map(([, digits = '']) => digits);

/** Texts that a program writes instead of a value that is missing. */
export const NO_VALUE = /^(?:undefined|null|none|nil|nan|true|false|\[object \w+\]|<buffer.*)$/i;

/** Placeholders of Mustache and Jinja, shells and JavaScript, ERB, Python, and Windows. */
export const PLACEHOLDER =
  /\{\{[^{}]*\}\}|\$\{[\w.]+\}|<%=?[^<>]*%>|^\{[A-Za-z_]\w*\}$|^\$[A-Za-z_]\w*$|^%[A-Za-z_]\w*%$/;

/** Minimum characters of a secret to search for in a text. A text may contain a shorter secret by chance. */
const MIN_SECRET_LENGTH = 8;
const BASE64_WORD = /[A-Za-z0-9+/_-]{11,}/g;
/** Maximum characters of a text to search for base64: longer than any header, shorter than a large body. */
const MAX_TEXT_DECODED = 16 * 1024;

/** Whether a value is the secret itself: plain, in base64, after a word, or as the password of `Basic`. */
export function isSecret(value: string, secret: string): boolean {
  const texts = [value, value.replace(/^[\w-]+[ =:]+/, '')];
  const decoded = texts.map((text) => Buffer.from(text, 'base64').toString());
  const isPassword = /^basic /i.test(value) && decoded.some((text) => text.split(':').includes(secret));
  return isPassword || [...texts, ...decoded].includes(secret);
}

/** Whether a text contains the secret, plain or in base64. */
export function containsSecret(text: string, secret: string): boolean {
  if (secret.length < MIN_SECRET_LENGTH) return false;
  if (text.includes(secret)) return true;
  if (text.length > MAX_TEXT_DECODED) return false;
  return [...text.matchAll(BASE64_WORD)].some(([word]) =>
    Buffer.from(word, 'base64').toString().includes(secret),
  );
}
