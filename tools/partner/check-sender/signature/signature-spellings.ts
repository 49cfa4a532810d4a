import type { Mistake } from '../finding.ts';

/** One way to read the value of a signature header. */
export interface Reading {
  readonly digest: Buffer;
  /** Why the service does not read it like that. @default nothing: it does */
  readonly mistake: Mistake | undefined;
}

/** Digests of the hash functions in use, in bytes: MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512. */
const DIGEST_LENGTHS = new Set([16, 20, 28, 32, 48, 64]);

const HEX = /^(?:[0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** How often what was unwrapped is unwrapped again. */
const DEEPEST = 4;

const SPELLING =
  'Send the 32 bytes as 64 hex digits or as base64, and nothing else but maybe sha256= before them.';

type Unwrapping = readonly [pattern: RegExp, kind: string, what: string];

/** Each finds the value as its first group. */
const UNWRAPPINGS: readonly Unwrapping[] = [
  [/^sha256=(.+)$/, 'signature-prefix', 'has the prefix sha256= twice'],
  [/^"(.*)"$/, 'signature-quoted', 'is in quotation marks'],
  [/^'(.*)'$/, 'signature-quoted', 'is in quotation marks'],
  [/^b["'](.*)["']$/, 'signature-quoted', "is Python's b'…': bytes that were not decoded"],
  [/^.*(?:^|[,;])\s*v1[=,]([^,;]+).*$/, 'signature-v1', 'has the form v1=… of other services'],
  [/^.*\(stdin\)\s*=\s*(\S+)$/, 'signature-openssl', 'is the whole line that openssl prints'],
  [/^(\S+)\s+\*?(?:stdin|-)$/, 'signature-openssl', 'is the whole line that openssl or sha256sum prints'],
  [
    /^(?:hmac|bearer|signature|token|basic|hmac-sha256|sha256)\s+(\S.*)$/i,
    'signature-scheme',
    'has a word before it',
  ],
  [
    /^(?:hmac[-_]?sha-?256|hmac|sha-?(?:1|224|256|384|512)|md5|v0|sig1?|s|signature|digest)\s*[=:]\s*(\S.*)$/i,
    'signature-prefix',
    'has another prefix than sha256=, in small letters and with an equals sign',
  ],
  [/^:(\S+):$/, 'signature-scheme', 'stands between colons'],
  [/^0x([0-9a-f]+)$/i, 'signature-prefix', 'has 0x before it'],
];

const PERCENT = /%[0-9a-f]{2}/i;

/** All ways to read a value, the service's own first. */
export function readings(value: string): Reading[] {
  return unwrapped(value, undefined, 0);
}

function unwrapped(value: string, mistake: Mistake | undefined, depth: number): Reading[] {
  if (depth > DEEPEST) return [];
  const inner = (text: string, kind: string, what: string) =>
    unwrapped(
      text,
      mistake ?? { kind, what: `The value of the header ${what}.`, remedy: SPELLING },
      depth + 1,
    );
  const own = value.startsWith('sha256=') && mistake === undefined ? value.slice('sha256='.length) : value;
  const trimmed = own.trim();
  return [
    ...decoded(own, mistake, depth),
    ...(trimmed === own ? [] : inner(trimmed, 'signature-white-space', 'has white space in it')),
    ...UNWRAPPINGS.flatMap(([pattern, kind, what]) => {
      const text = pattern.exec(own)?.[1];
      return text === undefined ? [] : inner(text, kind, what);
    }),
    ...(own.includes(',')
      ? own
          .split(',')
          .flatMap((part) => inner(part.trim(), 'signature-several', 'holds several, joined by commas'))
      : []),
    ...(/^[0-9a-f]{2}([ :-])[0-9a-f]{2}\1/i.test(own)
      ? inner(own.replaceAll(/[ :-]/g, ''), 'signature-separators', 'has a sign between each two hex digits')
      : []),
    ...(PERCENT.test(own)
      ? inner(percentDecoded(own), 'signature-url-escapes', 'has the escapes of a URL')
      : []),
    ...(/^\S+ \S+/.test(own)
      ? inner(own.replaceAll(' ', '+'), 'signature-white-space', 'has blanks where base64 has plus signs')
      : []),
  ];
}

function decoded(value: string, mistake: Mistake | undefined, depth: number): Reading[] {
  const all: Reading[] = [];
  const add = (digest: Buffer, text: (inner: string) => [kind: string, what: string]) => {
    if (DIGEST_LENGTHS.has(digest.length)) all.push({ digest, mistake });
    const inner = digest.toString('latin1');
    if (digest.length < DIGEST_SHOWN || !(HEX.test(inner) || BASE64.test(inner))) return;
    const [kind, what] = text(inner);
    all.push(
      ...unwrapped(inner, { kind, what: `The value of the header is ${what}.`, remedy: SPELLING }, depth + 1),
    );
  };
  if (HEX.test(value)) {
    add(Buffer.from(value, 'hex'), (inner) =>
      HEX.test(inner)
        ? ['signature-encoded-twice', 'the hex of the hex text: it was encoded twice']
        : ['signature-encoded-twice', 'the hex of the base64 text: it was encoded twice'],
    );
  }
  if (BASE64.test(value)) {
    add(Buffer.from(value, 'base64'), (inner) =>
      HEX.test(inner)
        ? ['signature-encoded-twice', 'the base64 of the hex text: it was encoded twice']
        : ['signature-encoded-twice', 'the base64 of the base64 text: it was encoded twice'],
    );
  }
  return all;
}

/** Characters of the shortest text that shows a digest: base64 of the 16 bytes of MD5, without padding. */
const DIGEST_SHOWN = 22;

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** The time in a value such as `t=1769850000,v1=…`. */
export function timestampsIn(value: string): string[] {
  return [...value.matchAll(/(?:^|[,;\s])t=(\d{1,20})/g)].map(([, digits = '']) => digits);
}
