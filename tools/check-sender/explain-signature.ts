import { createHash, createHmac } from 'node:crypto';
import { gunzipSync, inflateSync } from 'node:zlib';
import { BODY_LIMIT_BYTES, type Header, valuesOf } from 'local-aws/gateway';
import { LOCAL_SECRET } from '../../events/signing.ts';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import { decodeSignature } from '../../lambda/receiver/signature.ts';
import { type Finding, wrong } from './finding.ts';
import { memberText, pythonText, reserialised } from './json-writers.ts';
import { NO_VALUE, PLACEHOLDER } from './payload-findings.ts';

export interface SignedRequest {
  readonly headers: readonly Header[];
  /** Query string without the question mark. */
  readonly query: string;
  readonly body: Buffer;
}

type Bytes = string | Uint8Array;

/** What a sender may have used instead of the body, the secret or the computation. */
interface SigningVariant {
  readonly mistake: Finding;
  readonly message?: Bytes;
  readonly key?: Bytes;
  readonly digest?: (key: Bytes, message: Bytes) => Buffer;
}

/** One way to decode the value of a header, and the mistake if the service does not decode it in this way. */
interface DigestReading {
  readonly digest: Buffer;
  readonly mistake: Finding | undefined;
}

const HEADER = 'X-Webhook-Signature';
const SIGNATURE_BYTES = 32;
/** Minimum bytes of a truncated signature to recognise. */
const MIN_CUT_BYTES = 8;
/** Maximum characters of a header to decode. A longer value cannot be a signature. */
const MAX_VALUE_LENGTH = 1_024;
/** Maximum bytes of a body that is written in other forms: each costs a copy and an HMAC of the body. */
const MAX_BYTES_FOR_FORMS = 1024 * 1024;
/** Maximum bytes of a body for which pairs of a wrong key and wrong bytes are tried. */
const MAX_BYTES_FOR_PAIRS = 32 * 1024;

const SEND_BYTES = 'Send only the 32 bytes, as 64 hex digits or base64. The prefix sha256= is allowed.';
const USE_SECRET = 'Use the UTF-8 bytes of the whole secret. Do not decode or change it.';
const USE_HMAC = 'Compute HMAC-SHA256, with the secret as the key and the body as the message.';
const SIGN_SENT_BYTES = 'Serialise once. Sign exactly these bytes, and send exactly these bytes.';
const ENCODE_ONCE = 'Encode the text as UTF-8 once. Sign these bytes, and send these bytes.';
const READ_TRIMMED = 'Remove white space when you read the secret from a file or variable.';
const SEND_AS_FILE = 'Send the file as bytes, not as text. With curl, use --data-binary instead of -d.';

/**
 * Explains why the service refuses a signature: searches for a computation with the same result.
 * @param secrets the current one first. Others are earlier secrets
 * @returns the mistakes, the cause first; nothing if the signature is right
 */
export function explainSignature(request: SignedRequest, secrets: readonly string[]): Finding[] {
  const values = valuesOf(request.headers, HEADER.toLowerCase()).map((value) =>
    value.slice(0, MAX_VALUE_LENGTH),
  );
  const [value] = values;
  if (value === undefined) return findElsewhere(request, secrets);
  if (values.length > 1) {
    return [
      wrong(
        'signature-twice',
        `${HEADER} was sent ${values.length} times.`,
        'Send the header once. A client or proxy adds it again.',
      ),
    ];
  }
  if (value.trim() === '') {
    return [
      wrong('signature-empty', `${HEADER} is empty.`, 'Compute the signature before the request is built.'),
    ];
  }
  if (NO_VALUE.test(value) || PLACEHOLDER.test(value)) {
    return [
      wrong(
        'signature-no-value',
        `${HEADER} contains a text such as undefined instead of a signature.`,
        'Send the hex digest as text, not the hash object and not an unset variable.',
      ),
    ];
  }
  return explainValue(request, secrets, value) ?? unexplained(request, value);
}

function unexplained({ body }: SignedRequest, value: string): Finding[] {
  if (decodeSignature(value) === undefined) {
    const what = `${HEADER} has ${value.length} characters that are not a signature. Expected: 64 hex digits, or 43 to 44 characters of base64.`;
    return [wrong('signature-malformed', what, SEND_BYTES)];
  }
  const bytes = body.length.toLocaleString('en');
  return [
    wrong(
      'signature-other',
      'The signature is well formed, but made from other bytes or with another secret. No known mistake explains it.',
      `Compare the secrets first. Then compare the SHA-256 of the bytes that you sign with that of the ${bytes} bytes that arrived: the event id.`,
    ),
  ];
}

/** Searches for the signature in other headers and in the query string. */
function findElsewhere(request: SignedRequest, secrets: readonly string[]): Finding[] {
  const places: [place: string, value: string][] = [
    ...request.headers.map(([name, value]): [string, string] => [knownHeader(name), value]),
    ...[...new URLSearchParams(request.query).values()].map((value): [string, string] => [
      'the query string',
      value,
    ]),
  ];
  for (const [place, value] of places) {
    const mistakes = explainValue(request, secrets, value.slice(0, MAX_VALUE_LENGTH));
    if (mistakes === undefined) continue;
    const what = `${HEADER} is missing; the signature is in ${place}.`;
    return [wrong('signature-elsewhere', what, `Send it in ${HEADER}.`), ...mistakes];
  }
  return [
    wrong(
      'signature-missing',
      `${HEADER} is missing.`,
      'Send the HMAC-SHA256 of the body, with the secret as the key, as 64 hex digits in that header.',
    ),
  ];
}

/** Headers in which other services send the signature. Other names are the sender's own and are not shown. */
const KNOWN_HEADERS =
  'X-Signature X-Signature-256 X-Hub-Signature-256 X-Hub-Signature X-Webhook-Hmac-SHA256 Webhook-Signature Stripe-Signature Signature Authorization'.split(
    ' ',
  );

const knownHeader = (name: string) =>
  KNOWN_HEADERS.find((known) => known.toLowerCase() === name.toLowerCase()) ?? 'another header';

/** @returns undefined if nothing explains the value; nothing if it is right */
function explainValue(
  request: SignedRequest,
  secrets: readonly string[],
  value: string,
): Finding[] | undefined {
  const [secret = ''] = secrets;
  if (
    secrets.some((one) =>
      [value, value.replace(/^[\w-]+[ =:]+/, ''), Buffer.from(value, 'base64').toString()].includes(one),
    )
  ) {
    return [
      wrong(
        'secret-sent',
        'The value is the secret itself.',
        `Send the HMAC-SHA256 of the body in ${HEADER}. Never send the secret, and change it now.`,
      ),
    ];
  }
  const byDigest = new Map(
    readings(value)
      .reverse()
      .map((reading) => [reading.digest.toString('hex'), reading]),
  );
  for (const [digest, mistakes] of computations(request, secrets, value)) {
    const reading = byDigest.get(digest.toString('hex'));
    if (reading !== undefined) {
      const spelling = reading.mistake ?? (decodeSignature(value) ? [] : spellingOf(digest));
      return [...mistakes, ...[spelling].flat()];
    }
  }
  const right = hmac('sha256')(secret, request.body);
  const cut = [...byDigest.values()].find(({ digest }) => isCut(digest, right))?.digest;
  if (cut === undefined) return undefined;
  return [
    wrong(
      'signature-cut',
      `The signature is correct, but cut off after ${cut.length} of its 32 bytes.`,
      SEND_BYTES,
    ),
  ];
}

const isCut = (digest: Buffer, right: Buffer) =>
  digest.length >= MIN_CUT_BYTES &&
  digest.length < SIGNATURE_BYTES &&
  right.subarray(0, digest.length).equals(digest);

/** A digest of another length has another mistake already. */
const spellingOf = (digest: Buffer) =>
  digest.length === SIGNATURE_BYTES
    ? [
        wrong(
          'signature-spelling',
          'The signature is correct, but the service cannot read this form of it. Check the base64 padding.',
          SEND_BYTES,
        ),
      ]
    : [];

const HEX = /^(?:[0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{11,}={0,2}$/;

/** Texts around a signature that the service does not accept, and how to remove them. */
const WRAPPINGS: readonly (readonly [
  kind: string,
  what: string,
  unwrap: (value: string) => string | undefined,
])[] = [
  ['signature-white-space', 'contains white space', (value) => value.trim()],
  [
    'signature-white-space',
    'has spaces instead of the plus signs of base64',
    (value) => value.replaceAll(' ', '+'),
  ],
  ['signature-prefix', 'has the prefix sha256= twice', (value) => after(value, /^sha256=(.+)$/)],
  [
    'signature-prefix',
    'has a prefix other than sha256= (lower case, with an equals sign)',
    (value) =>
      after(value, /^(?:hmac[-_]?sha-?256|hmac|sha-?\d{1,3}|md5|v\d|sig|signature)\s*[=:]\s*(\S+)$/i),
  ],
  [
    'signature-v1',
    'has the form v1=… of other services',
    (value) => after(value, /(?:^|[,;]\s*)v1[=,]([^,;]+)/),
  ],
  ['signature-scheme', 'begins with an extra word', (value) => after(value, /^(?:[\w-]+)\s+(\S+)$/)],
  [
    'signature-openssl',
    'is the whole output line of openssl or sha256sum',
    (value) => after(value, /\(stdin\)\s*=\s*(\S+)$/) ?? after(value, /^(\S+)\s+\*?(?:stdin|-)$/),
  ],
  ['signature-quoted', 'is in quotation marks', (value) => after(value, /^b?["'](.*)["']$/)],
  ['signature-several', 'contains several signatures', (value) => after(value, /^([^,]+),/)],
  [
    'signature-separators',
    'has separators between pairs of hex digits',
    (value) => after(value.replaceAll(/[ :-]/g, ''), /^([0-9a-f]{64})$/i),
  ],
  ['signature-url-escapes', 'is URL-encoded', (value) => attempted(() => decodeURIComponent(value))],
  [
    'signature-encoded-twice',
    'was encoded twice, as hex or base64 of a text',
    (value) =>
      (HEX.test(value) ? Buffer.from(value, 'hex') : Buffer.from(value, 'base64')).toString('latin1'),
  ],
];

const after = (value: string, pattern: RegExp) => pattern.exec(value)?.[1];

function attempted<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** All ways to decode a value. The service's own way is first. */
function readings(value: string): DigestReading[] {
  const own = value.startsWith('sha256=') ? value.slice('sha256='.length) : value;
  const wrapped = WRAPPINGS.flatMap(([kind, what, unwrap]) => {
    const inner = unwrap(own) ?? '';
    const mistake = wrong(kind, `The value of the header ${what}.`, SEND_BYTES);
    return inner === own
      ? []
      : digestsIn(inner.replace(/^sha256=/, '')).map((digest) => ({ digest, mistake }));
  });
  return [...digestsIn(own).map((digest) => ({ digest, mistake: undefined })), ...wrapped];
}

function digestsIn(text: string): Buffer[] {
  return [
    ...(HEX.test(text) ? [Buffer.from(text, 'hex')] : []),
    ...(BASE64.test(text) ? [Buffer.from(text, 'base64')] : []),
  ];
}

/** All computations that the sender may have made: without a mistake, then with one, then with a wrong key and wrong bytes. */
function* computations(
  { body }: SignedRequest,
  secrets: readonly string[],
  value: string,
): Generator<readonly [digest: Buffer, mistakes: Finding[]]> {
  const [secret = ''] = secrets;
  const right = { message: body as Bytes, key: secret as Bytes, digest: hmac('sha256') };
  const computed = (...variants: SigningVariant[]): readonly [Buffer, Finding[]] => {
    const { message, key, digest } = Object.assign({}, right, ...variants) as typeof right;
    return [digest(key, message), variants.map(({ mistake }) => mistake)];
  };
  yield computed();
  const keys = [...keyVariants(secrets)];
  for (const variant of [...keys, ...DIGESTS]) yield computed(variant);
  const messages: SigningVariant[] = [];
  for (const variant of messageVariants(body, value)) {
    yield computed(variant);
    if (body.length <= MAX_BYTES_FOR_PAIRS) messages.push(variant);
  }
  for (const message of messages) for (const key of keys) yield computed(message, key);
}

const hmac = (hash: string) => (key: Bytes, message: Bytes) => createHmac(hash, key).update(message).digest();

/** Keys that the sender may have made from the secret. */
function* keyVariants([secret = '', ...earlier]: readonly string[]): Generator<SigningVariant> {
  const bytes = Buffer.from(secret);
  const made: readonly (readonly [kind: string, what: string, remedy: string, keys: readonly Bytes[]])[] = [
    ['key-previous', 'an earlier secret, which is no longer accepted', 'Use the current secret.', earlier],
    [
      'key-trimmed',
      'the secret without white space around it, but ours has white space',
      'Agree on the secret without the white space.',
      [secret.trim()],
    ],
    [
      'key-white-space',
      'the secret with a line break, space or zero byte after it',
      READ_TRIMMED,
      ['\n', '\r\n', ' ', '\0'].map((end) => secret + end),
    ],
    [
      'key-white-space',
      'the secret after a space or line break',
      READ_TRIMMED,
      [' ', '\t', '\n'].map((start) => start + secret),
    ],
    [
      'key-quoted',
      'the secret in quotation marks',
      'Remove the quotation marks. They are not part of the secret.',
      [`"${secret}"`, `'${secret}'`],
    ],
    [
      'key-hex-decoded',
      'the secret decoded from hex',
      USE_SECRET,
      HEX.test(secret) ? [Buffer.from(secret, 'hex')] : [],
    ],
    [
      'key-base64-decoded',
      'the secret decoded from base64',
      USE_SECRET,
      [Buffer.from(secret.replace(/^whsec_/, ''), 'base64')],
    ],
    ['key-without-prefix', 'the secret without its prefix', USE_SECRET, [secret.replace(/^whsec_/, '')]],
    [
      'key-encoded',
      'the secret encoded as base64 or hex',
      USE_SECRET,
      [bytes.toString('base64'), bytes.toString('hex')],
    ],
    ['key-hashed', 'the SHA-256 of the secret', USE_SECRET, [sha256(bytes), sha256(bytes).toString('hex')]],
    [
      'key-case',
      'the secret in lower or upper case',
      USE_SECRET,
      [secret.toLowerCase(), secret.toUpperCase()],
    ],
    [
      'key-cut',
      'the secret without its first or last characters',
      USE_SECRET,
      [
        secret.slice(0, -1),
        secret.slice(1),
        bytes.subarray(0, 16),
        bytes.subarray(0, 32),
        bytes.subarray(0, 64),
      ],
    ],
    [
      'key-charset',
      'the secret in another encoding than UTF-8',
      USE_SECRET,
      [
        Buffer.from(secret, 'latin1'),
        bytes.toString('latin1'),
        Buffer.from(secret, 'utf16le'),
        secret.normalize('NFC'),
        secret.normalize('NFD'),
      ],
    ],
    ['key-twice', 'the secret twice in a row', 'Set the secret again, once.', [secret + secret]],
    [
      'key-missing',
      'empty, or a text such as undefined',
      'Check that the setting with the secret is read. It has no value.',
      ['', 'undefined', 'null', 'None'],
    ],
    [
      'key-name',
      'the name of a setting, such as $WEBHOOK_SECRET, instead of its value',
      'Use the value of the setting. In single quotation marks, a shell does not replace $NAME.',
      [
        '$WEBHOOK_SECRET',
        `$${'{WEBHOOK_SECRET}'}`,
        '{{WEBHOOK_SECRET}}',
        '%WEBHOOK_SECRET%',
        'WEBHOOK_SECRET',
      ],
    ],
    ['key-local', 'the secret of the local stack', 'Sign with the agreed secret.', [LOCAL_SECRET]],
  ];
  for (const [kind, what, remedy, keys] of made) {
    const mistake = wrong(kind, `The key is ${what}.`, remedy);
    for (const key of keys) if (!Buffer.from(key).equals(bytes)) yield { mistake, key };
  }
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

/** Computations that senders may have used instead of HMAC-SHA256. */
const DIGESTS: readonly SigningVariant[] = [
  ...['sha1', 'sha512', 'sha384', 'md5'].flatMap((hash): SigningVariant[] => {
    const mistake = wrong(
      'other-hash',
      `The signature is HMAC-${hash.toUpperCase()}, not HMAC-SHA256.`,
      USE_HMAC,
    );
    const digest = hmac(hash);
    return [
      { mistake, digest },
      { mistake, digest: (key, message) => digest(key, message).subarray(0, SIGNATURE_BYTES) },
    ];
  }),
  ...[
    (_: Bytes, message: Bytes) => [message],
    (key: Bytes, message: Bytes) => [key, message],
    (key: Bytes, message: Bytes) => [message, key],
  ].map((parts) => ({
    mistake: wrong('plain-hash', 'The signature is a plain SHA-256, not an HMAC.', USE_HMAC),
    digest: (key: Bytes, message: Bytes) =>
      sha256(Buffer.concat(parts(key, message).map((part) => Buffer.from(part)))),
  })),
  {
    mistake: wrong(
      'key-and-body-swapped',
      'The signature is made with the body as the key and the secret as the message.',
      USE_HMAC,
    ),
    digest: (key, message) => hmac('sha256')(message, key),
  },
];

/** Bytes that the sender may have signed instead of the body. */
function* messageVariants(body: Buffer, value: string): Generator<SigningVariant> {
  const text = body.toString();
  const latin1 = body.toString('latin1');
  const of = (kind: string, what: string, remedy: string, ...messages: (Bytes | undefined)[]) =>
    messages
      .filter((message) => message !== undefined)
      .map((message) => ({ mistake: wrong(kind, `The signature is over ${what}.`, remedy), message }));
  const fromLatin1 = (changed: string) => Buffer.from(changed, 'latin1');
  yield* of(
    'newline-not-signed',
    'the body without its final line break',
    SIGN_SENT_BYTES,
    fromLatin1(latin1.replace(/\r?\n$/, '')),
  );
  yield* of(
    'newline-signed',
    'the body with a final line break that was not sent',
    SIGN_SENT_BYTES,
    fromLatin1(`${latin1}\n`),
    fromLatin1(`${latin1}\r\n`),
  );
  yield* of(
    'trimmed',
    'the body without its leading and trailing white space',
    SIGN_SENT_BYTES,
    fromLatin1(latin1.trim()),
  );
  yield* of(
    'line-breaks',
    'the body with other line breaks than it was sent with',
    SEND_AS_FILE,
    fromLatin1(latin1.replaceAll('\r\n', '\n')),
    fromLatin1(latin1.replaceAll(/\r?\n/g, '\r\n')),
    fromLatin1(latin1.replaceAll(/\r?\n/g, '')),
  );
  yield* of('signed-nothing', 'an empty text instead of the body', 'Sign the body after it is complete.', '');
  const [time = ''] = /(?:^|[,;\s])t=(\d{1,20})/.exec(value)?.slice(1) ?? [];
  yield* of(
    'signed-with-timestamp',
    'a timestamp and the body together, as other services require',
    'Sign only the body. It contains its own timestamp.',
    `${time}.${text}`,
  );
  yield* of(
    'signed-with-address',
    'the method or the path and the body together',
    'Sign only the body.',
    ...[WEBHOOK_PATH, `POST${WEBHOOK_PATH}`, `POST\n${WEBHOOK_PATH}\n`].map((start) => `${start}${text}`),
  );
  yield* of(
    'signed-a-digest',
    'a digest or an encoding of the body instead of the body',
    'Pass the bytes of the body to the HMAC function. It does the hashing.',
    sha256(body),
    sha256(body).toString('hex'),
    body.toString('base64'),
    body.toString('hex'),
  );
  yield* of(
    'byte-order-mark',
    'the body with or without its byte order mark (EF BB BF)',
    'Use UTF-8 without a byte order mark.',
    `\uFEFF${text}`,
    text.replace(/^\uFEFF/, ''),
  );
  const plain = attempted(() => gunzipSync(body, LIMITS)) ?? attempted(() => inflateSync(body, LIMITS));
  yield* of(
    'compressed',
    'the uncompressed body, which was compressed afterwards',
    'Send the body uncompressed. The service verifies the bytes that arrive.',
    plain,
  );
  if (body.length > MAX_BYTES_FOR_FORMS) return;
  yield* of(
    'charset',
    'the text in another encoding than it was sent in',
    ENCODE_ONCE,
    Buffer.from(text, 'latin1'),
    latin1,
    text.replaceAll(/[\u0080-\uFFFF]/g, '?'),
    Buffer.from(text, 'utf16le'),
    Buffer.from(text, 'utf16le').swap16(),
    body.toString('utf16le'),
    text,
  );
  yield* of(
    'normalised',
    'the text in another Unicode form than it was sent in',
    ENCODE_ONCE,
    text.normalize('NFC'),
    text.normalize('NFD'),
  );
  for (const [writer, other] of reserialised(text)) {
    yield* of(
      'json-reserialised',
      `JSON that was serialised again, as ${writer} does, instead of the bytes that were sent`,
      SIGN_SENT_BYTES,
      other,
    );
  }
  yield* of(
    'signed-python',
    "Python's notation of a dictionary, from str(…), instead of JSON",
    'Call json.dumps(…) once. Sign and send its result.',
    pythonText(text),
  );
  yield* of(
    'signed-data-only',
    'only data instead of the whole body',
    'Sign all bytes of the body.',
    memberText(text, 'data'),
  );
  const inner = attempted(() => JSON.parse(text) as unknown);
  yield* of(
    'json-twice',
    'the JSON, but the body is this JSON serialised again, or the other way round',
    'Serialise once. Sign and send the result of the first call.',
    typeof inner === 'string' ? inner : undefined,
    JSON.stringify(text),
  );
}

const LIMITS = { maxOutputLength: BODY_LIMIT_BYTES };
