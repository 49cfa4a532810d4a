import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { TEST_SECRET } from '../support/test-stack.ts';
import { bodyBytes } from './bodies.ts';

/** What varies of an API Gateway event; it stands whole in JSON. */
export interface FuzzRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** One of them that comes once more. @default none */
  readonly repeated?: readonly [name: string, value: string];
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

const HEADER = 'x-webhook-signature';

/** All headers of a request, in the order in which they come. */
export function headersOf({ headers, repeated }: Pick<FuzzRequest, 'headers' | 'repeated'>) {
  return [...Object.entries(headers), ...(repeated === undefined ? [] : [repeated])];
}

/** How the bytes travel, and how that goes wrong. */
const transport = fc.oneof(
  { weight: 40, arbitrary: fc.constant('text' as const) },
  { weight: 40, arbitrary: fc.constant('base64' as const) },
  {
    weight: 20,
    arbitrary: fc.constantFrom('base64url', 'flag missing', 'flag too much', 'broken base64', 'no body'),
  },
);
type Transport = typeof transport extends fc.Arbitrary<infer T> ? T : never;

function carried(bytes: Buffer, how: Transport, noise: number): Omit<FuzzRequest, 'headers' | 'repeated'> {
  const base64 = bytes.toString('base64');
  switch (how) {
    case 'text':
      return { body: bytes.toString(), isBase64Encoded: false };
    case 'base64':
      return { body: base64, isBase64Encoded: true };
    case 'base64url':
      return { body: bytes.toString('base64url'), isBase64Encoded: true };
    case 'flag missing':
      return { body: base64, isBase64Encoded: false };
    case 'flag too much':
      return { body: bytes.toString(), isBase64Encoded: true };
    case 'broken base64': {
      const at = noise % (base64.length + 1);
      return {
        body: `${base64.slice(0, at)}${'=\n-*\0é'[noise % 6]}${base64.slice(at)}`,
        isBase64Encoded: true,
      };
    }
    default:
      return { isBase64Encoded: noise % 2 === 0 };
  }
}

/** What is signed: mostly what it should be, or the mistakes of senders and receivers. */
const signedThing = fc.oneof(
  { weight: 12, arbitrary: fc.constant('the body' as const) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'what was meant to be sent',
      'the body as it travels',
      'the body serialised again',
      'nothing',
      'the body with another secret',
      'the body with an empty secret',
    ),
  },
);
type SignedThing = typeof signedThing extends fc.Arbitrary<infer T> ? T : never;

function mac(
  thing: SignedThing,
  meant: Buffer,
  { body = '', isBase64Encoded }: Omit<FuzzRequest, 'headers' | 'repeated'>,
) {
  const received = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  const hmac = (bytes: Uint8Array | string, secret = TEST_SECRET) =>
    createHmac('sha256', secret).update(bytes).digest();
  switch (thing) {
    case 'the body':
      return hmac(received);
    case 'what was meant to be sent':
      return hmac(meant);
    case 'the body as it travels':
      return hmac(body);
    case 'the body serialised again':
      return hmac(reserialised(received));
    case 'nothing':
      return hmac('');
    case 'the body with another secret':
      return hmac(received, `${TEST_SECRET} `);
    default:
      return hmac(received, '');
  }
}

function reserialised(bytes: Buffer): string {
  try {
    return JSON.stringify(JSON.parse(bytes.toString()), null, 1);
  } catch {
    return bytes.toString('latin1');
  }
}

const ENCODINGS: Record<string, (signature: Buffer) => string> = {
  hex: (signature) => signature.toString('hex'),
  'upper-case hex': (signature) => signature.toString('hex').toUpperCase(),
  'mixed hex': (signature) => signature.toString('hex').replace(/[a-c]/g, (digit) => digit.toUpperCase()),
  base64: (signature) => signature.toString('base64'),
  'base64 without padding': (signature) => signature.toString('base64').slice(0, 43),
  base64url: (signature) => `${signature.toString('base64url')}=`,
  'base64url without padding': (signature) => signature.toString('base64url'),
};

const SPOILS: Record<string, (value: string, noise: number) => string> = {
  'one character changed': (value, noise) => {
    const at = noise % value.length;
    return value.slice(0, at) + (value[at] === '0' ? '1' : '0') + value.slice(at + 1);
  },
  // The last of 43 base64 digits has two bits that belong to no byte.
  'last character changed': (value, noise) => value.slice(0, -1) + 'AEIMQUYcgkosw048BCD='[noise % 20],
  shorter: (value, noise) => value.slice(0, noise % value.length),
  longer: (value, noise) => value + '0=a \n\0,;'[noise % 8],
  'white space before': (value) => ` ${value}`,
  'white space after': (value, noise) => value + [' ', '\n', '\r\n', '\t'][noise % 4],
  'two values': (value) => `${value}, ${value}`,
  'two values, one right': (value, noise) => `${'0'.repeat(64)},${noise % 2 ? '' : ' '}${value}`,
  'the other alphabet somewhere': (value) =>
    value.replace(/[+/]/, (character) => (character === '+' ? '-' : '_')),
  quoted: (value) => `"${value}"`,
  'hex of hex': (value) => Buffer.from(value).toString('hex'),
  'full-width digits': (value) =>
    value.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
};

const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const signature = fc.record({
  thing: signedThing,
  encoding: fc.constantFrom(...Object.keys(ENCODINGS)),
  prefix: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('', 'sha256=') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('SHA256=', 'sha1=', 'sha256:', 'sha256=sha256=', 'sha256= ', 'v1='),
    },
  ),
  spoil: rarely(fc.constantFrom(...Object.keys(SPOILS))),
  noise: fc.nat(),
});

const junk = fc.oneof(
  fc.constantFrom('', ' ', 'undefined', 'null', '[object Object]', '0'.repeat(64), 'A'.repeat(43), 'sha256='),
  fc.string({ unit: 'binary', maxLength: 70 }),
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
);

/** The header's name: an HTTP API lower-cases names, so any other is another header; a REST API leaves them. */
const headerName = fc.oneof(
  { weight: 30, arbitrary: fc.constant(HEADER) },
  { weight: 1, arbitrary: fc.constantFrom('X-Webhook-Signature', 'x-signature', `${HEADER} `, 'no header') },
  { weight: 1, arbitrary: fc.constant('__proto__') },
);

const otherHeaders = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom(
        'content-type',
        'content-encoding',
        'x-forwarded-for',
        'host',
        'constructor',
        '__proto__',
      ),
      fc.string({ unit: 'binary', maxLength: 30 }),
    ),
  },
);

/** Under which name the signature comes a second time. */
const repetition = rarely(fc.constantFrom(HEADER, 'X-Webhook-Signature'));

export const fuzzRequest: fc.Arbitrary<FuzzRequest> = fc
  .record({
    bytes: bodyBytes,
    how: transport,
    signature,
    junk: rarely(junk),
    name: headerName,
    others: otherHeaders,
    again: repetition,
    noise: fc.nat(),
  })
  .map(
    ({
      bytes,
      how,
      signature: { thing, encoding, prefix, spoil, noise: place },
      junk: junkValue,
      name,
      others,
      again,
      noise,
    }) => {
      const body = carried(bytes, how, noise);
      const encoded = prefix + ENCODINGS[encoding]?.(mac(thing, bytes, body));
      const value =
        junkValue ?? (spoil === undefined ? encoded : (SPOILS[spoil]?.(encoded, place) ?? encoded));
      // An own `__proto__`, as a JSON parser makes it, never sets a prototype.
      const named = name === '__proto__' ? JSON.stringify({ [HEADER]: value }) : JSON.stringify(value);
      const signatureHeader = name === 'no header' ? {} : JSON.parse(`{${JSON.stringify(name)}:${named}}`);
      return {
        ...body,
        headers: { ...others, ...signatureHeader },
        ...(again !== undefined && { repeated: [again, value] as const }),
      };
    },
  );
