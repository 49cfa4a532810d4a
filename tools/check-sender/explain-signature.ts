import { createHash, createHmac } from 'node:crypto';
import { type Header, valuesOf } from 'local-aws/http-message';
import { LOCAL_SECRET } from '../../events/signing.ts';
import { decodeSignature, PREFIX } from '../../lambda/receiver/signature.ts';
import { type Finding, wrong } from './finding.ts';
import { reserialised } from './json-writers.ts';
import { NO_VALUE, PLACEHOLDER } from './payload-findings.ts';

export interface SignedRequest {
  readonly headers: readonly Header[];
  /** Query string without the question mark. */
  readonly query: string;
  readonly body: Buffer;
}

type Bytes = string | Uint8Array;

/** A mistake, and what it makes of the right input. */
type MistakeRow<Input extends unknown[], Made> = readonly [
  kind: string,
  what: string,
  make: (...input: Input) => readonly Made[],
];

const HEADER = 'X-Webhook-Signature';
/** The setting with the secret, in our guide and samples. */
const SETTING = 'WEBHOOK_SECRET';
const SIGNATURE_BYTES = 32;
/** Maximum characters of a header to decode. A longer value cannot be a signature. */
const MAX_VALUE_LENGTH = 1_024;
/** Maximum bytes of a body that is tried as other JSON, and with a wrong key and wrong bytes: a thousand HMACs of it. */
const MAX_BYTES_FOR_FORMS = 128 * 1024;

const SEND_DIGEST = `Send only the 32 bytes, as 64 hex digits or base64. The prefix ${PREFIX} is allowed.`;
const USE_SECRET =
  'Use the UTF-8 bytes of the whole current secret. Do not trim, quote, decode or change it.';
const USE_HMAC = 'Compute HMAC-SHA256, with the secret as the key and the body as the message.';
const SIGN_SENT_BYTES = 'Serialise once, to UTF-8. Sign exactly these bytes, and send exactly these bytes.';

const HEX = /^(?:[0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{11,}={0,2}$/;

const after = (value: string, pattern: RegExp) => pattern.exec(value)?.[1] ?? '';
const withoutPrefix = (value: string) => (value.startsWith(PREFIX) ? value.slice(PREFIX.length) : value);
const decoded = (value: string) => Buffer.from(value, HEX.test(value) ? 'hex' : 'base64');

/** Texts around a signature that the service does not accept. Each row removes one. */
const WRAPPINGS: readonly MistakeRow<[value: string], string>[] = [
  ['signature-white-space', 'contains white space', (value) => [value.trim(), value.replaceAll(' ', '+')]],
  [
    'signature-prefix',
    `has another prefix than one ${PREFIX} in lower case`,
    (value) => [
      after(value, /^(?:hmac[-_]?sha-?256|hmac|sha-?\d{1,3}|md5|v\d|sig|signature)\s*[=:]\s*(\S+)$/i),
    ],
  ],
  ['signature-scheme', 'begins with an extra word', (value) => [after(value, /^(?:[\w-]+)\s+(\S+)$/)]],
  ['signature-quoted', 'is in quotation marks', (value) => [after(value, /^b?["'](.*)["']$/)]],
];

/** Keys that the sender may have made from the secret. */
const KEYS: readonly MistakeRow<[secret: string, earlier: readonly string[]], Bytes>[] = [
  ['key-previous', 'an earlier secret, which is no longer accepted', (_, earlier) => earlier],
  ['key-trimmed', 'the secret without the white space around it', (secret) => [secret.trim()]],
  [
    'key-white-space',
    'the secret with a line break, space or zero byte before or after it',
    (secret) => ['\n', '\r\n', ' ', '\t', '\0'].flatMap((space) => [secret + space, space + secret]),
  ],
  ['key-quoted', 'the secret in quotation marks', (secret) => [`"${secret}"`, `'${secret}'`]],
  [
    'key-decoded',
    'the secret decoded from hex or base64',
    (secret) => [decoded(secret), Buffer.from(secret.replace(/^whsec_/, ''), 'base64')],
  ],
  ['key-missing', 'empty, or a text such as undefined', () => ['', 'undefined', 'null', 'None']],
  [
    'key-name',
    'the name of a setting, such as $WEBHOOK_SECRET, instead of its value',
    () => [SETTING, `$${SETTING}`, `\${${SETTING}}`, `{{${SETTING}}}`, `%${SETTING}%`],
  ],
  ['key-local', 'the secret of the local stack', () => [LOCAL_SECRET]],
];

/** Bytes that the sender may have signed instead of the body. */
const MESSAGES: readonly MistakeRow<[body: Buffer, text: string], Bytes>[] = [
  [
    'line-feed',
    'the body with or without a final line break, other than it was sent',
    (body) => [latin1(body, /\r?\n$/, ''), latin1(body, /$/, '\n'), latin1(body, /$/, '\r\n')],
  ],
  ['trimmed', 'the body without the white space around it', (body) => [latin1(body, /^\s+|\s+$/g, '')]],
  [
    'line-breaks',
    'the body with other line breaks than it was sent with',
    (body) => ['\n', '\r\n', ''].map((lineBreak) => latin1(body, /\r?\n/g, lineBreak)),
  ],
  ['signed-nothing', 'an empty text instead of the body', () => ['']],
  [
    'byte-order-mark',
    'the body with or without its byte order mark (EF BB BF)',
    (_, text) => [`\uFEFF${text}`, text.replace(/^\uFEFF/, '')],
  ],
  [
    'charset',
    'the text in another encoding than it was sent in',
    (body, text) => [
      Buffer.from(text, 'latin1'),
      body.toString('latin1'),
      text.replaceAll(/[\u0080-\uFFFF]/g, '?'),
      Buffer.from(text, 'utf16le'),
      Buffer.from(text, 'utf16le').swap16(),
      body.toString('utf16le'),
      text,
    ],
  ],
];

/** The bytes of a body with other text in one place. Latin-1 has a character for each byte, so the others stay. */
const latin1 = (body: Buffer, pattern: RegExp, replacement: string) =>
  Buffer.from(body.toString('latin1').replace(pattern, replacement), 'latin1');

const hmac = (key: Bytes, message: Bytes, hash = 'sha256') => createHmac(hash, key).update(message).digest();

const sha256 = (...parts: readonly Bytes[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

/** Computations that senders may have used instead of HMAC-SHA256. */
const DIGESTS: readonly MistakeRow<[secret: string, body: Buffer], Buffer>[] = [
  [
    'other-hash',
    'an HMAC with another hash than SHA-256',
    (secret, body) => ['sha1', 'sha512', 'md5'].map((hash) => hmac(secret, body, hash)),
  ],
  [
    'other-hash',
    'a plain SHA-256',
    (secret, body) => [sha256(body), sha256(secret, body), sha256(body, secret)],
  ],
];

/**
 * Explains why the service refuses a signature: searches for a computation with the same result.
 * @param secrets the current one first. Others are earlier secrets
 * @returns the mistakes, the cause first; nothing if the signature is right
 */
export function explainSignature(request: SignedRequest, secrets: readonly string[]): Finding[] {
  const values = valuesOf(request.headers, HEADER.toLowerCase());
  const value = values[0]?.slice(0, MAX_VALUE_LENGTH);
  if (value === undefined) return findElsewhere(request, secrets);
  if (values.length > 1) {
    return [wrong('signature-twice', `${HEADER} was sent ${values.length} times.`, 'Send the header once.')];
  }
  if (value.trim() === '' || NO_VALUE.test(value) || PLACEHOLDER.test(value)) {
    const what = `${HEADER} is empty, or contains a text such as undefined.`;
    return [
      wrong('signature-no-value', what, 'Send the hex digest as text, and compute it before you send.'),
    ];
  }
  return explainValue(request, secrets, value) ?? [unexplained(request, value)];
}

function unexplained({ body }: SignedRequest, value: string): Finding {
  if (decodeSignature(value) === undefined) {
    return wrong(
      'signature-malformed',
      `${HEADER} is not a signature: neither hex nor base64 of 32 bytes.`,
      SEND_DIGEST,
    );
  }
  return wrong(
    'signature-other',
    'The signature is made from other bytes or with another secret. No known mistake explains it.',
    `Compare the secrets first. Then compare the SHA-256 of the bytes that you sign with that of the ${body.length.toLocaleString('en')} bytes that arrived: the event id.`,
  );
}

/** Searches for the signature in other headers and in the query string. */
function findElsewhere(request: SignedRequest, secrets: readonly string[]): Finding[] {
  const places = [...request.headers, ...new URLSearchParams(request.query)];
  for (const [, value] of places) {
    const mistakes = explainValue(request, secrets, value.slice(0, MAX_VALUE_LENGTH));
    if (mistakes === undefined) continue;
    const what = `${HEADER} is missing; the signature is in another header or in the query string.`;
    return [wrong('signature-elsewhere', what, `Send it in ${HEADER}.`), ...mistakes];
  }
  return [wrong('signature-missing', `${HEADER} is missing.`, `${USE_HMAC} Send it in that header.`)];
}

/** @returns undefined if nothing explains the value; nothing if it is right */
function explainValue(
  request: SignedRequest,
  secrets: readonly string[],
  value: string,
): Finding[] | undefined {
  const texts = [value, value.replace(/^[\w-]+[ =:]+/, ''), Buffer.from(value, 'base64').toString()];
  if (texts.some((text) => secrets.includes(text))) {
    const remedy = `Send the HMAC-SHA256 of the body. Never send the secret, and change it now.`;
    return [wrong('secret-sent', 'The value is the secret itself.', remedy)];
  }
  const readings = [...readingsOf(value)];
  for (const [digest, mistakes] of computations(request, secrets)) {
    const [, ofReading] = readings.find(([read]) => read.equals(digest)) ?? [];
    if (ofReading !== undefined) return [...mistakes, ...ofReading];
  }
  return undefined;
}

type DigestWithMistakes = readonly [digest: Buffer, mistakes: Finding[]];

/** All ways to decode a value. The service's own way is first. */
function* readingsOf(value: string): Generator<DigestWithMistakes> {
  const own = withoutPrefix(value);
  const what = 'The signature is correct, but the service cannot read this form of it, such as its padding.';
  const spelling = decodeSignature(value) ? [] : [wrong('signature-spelling', what, SEND_DIGEST)];
  for (const digest of digestsIn(own)) {
    // A digest of another length has another mistake already.
    yield [digest, digest.length === SIGNATURE_BYTES ? spelling : []];
  }
  for (const [inner, mistake] of variants(WRAPPINGS, 'The value of the header', SEND_DIGEST, own)) {
    if (inner !== own) for (const digest of digestsIn(withoutPrefix(inner))) yield [digest, [mistake]];
  }
}

function digestsIn(text: string): Buffer[] {
  return [
    ...(HEX.test(text) ? [Buffer.from(text, 'hex')] : []),
    ...(BASE64.test(text) ? [Buffer.from(text, 'base64')] : []),
  ];
}

/** All computations that the sender may have made: without a mistake, then with one, then with a wrong key and wrong bytes. */
function* computations({ body }: SignedRequest, secrets: readonly string[]): Generator<DigestWithMistakes> {
  const [secret = '', ...earlier] = secrets;
  yield [hmac(secret, body), []];
  const keys = [...variants(KEYS, 'The key is', USE_SECRET, secret, earlier)];
  for (const [key, mistake] of keys) yield [hmac(key, body), [mistake]];
  for (const [digest, mistake] of variants(DIGESTS, 'The signature is', USE_HMAC, secret, body))
    yield [digest, [mistake]];
  for (const [message, mistake] of signedMessages(body)) yield [hmac(secret, message), [mistake]];
  if (body.length > MAX_BYTES_FOR_FORMS) return;
  for (const [message, wrongBytes] of signedMessages(body)) {
    for (const [key, wrongKey] of keys) yield [hmac(key, message), [wrongBytes, wrongKey]];
  }
}

function* signedMessages(body: Buffer): Generator<readonly [Bytes, Finding]> {
  const text = body.toString();
  yield* variants(MESSAGES, 'The signature is over', SIGN_SENT_BYTES, body, text);
  if (body.length > MAX_BYTES_FOR_FORMS) return;
  for (const [writer, other] of reserialised(text)) {
    const what = `The signature is over JSON that was serialised again, as ${writer} does, instead of the bytes that were sent.`;
    yield [other, wrong('json-reserialised', what, SIGN_SENT_BYTES)];
  }
}

function* variants<Input extends unknown[], Made>(
  rows: readonly MistakeRow<Input, Made>[],
  subject: string,
  remedy: string,
  ...input: Input
): Generator<readonly [Made, Finding]> {
  for (const [kind, what, make] of rows) {
    for (const made of make(...input)) yield [made, wrong(kind, `${subject} ${what}.`, remedy)];
  }
}
