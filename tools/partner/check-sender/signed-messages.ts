import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { type HttpRequest, valuesOf } from '../../../local/gateway/http-message.ts';
import { isGzip, SEND_JSON_ALONE, SEND_JSON_ITSELF } from './body-format.ts';
import type { Mistake } from './finding.ts';
import { type JsonNode, jsonForms, memberOf, parseJson, pythonForm, writeJson } from './json.ts';

/** A request with the bytes of its body. */
export interface SentRequest extends HttpRequest {
  readonly body: Buffer;
  /** HMACs of the bodies that came before it, under the secret. @default none */
  readonly earlier?: readonly Buffer[];
}

/** The target in the request line: path and query string. */
export const targetOf = ({ path, query }: HttpRequest) => (query === '' ? path : `${path}?${query}`);

/** A value that somebody may have taken for the right one, and the mistake that leads to it. */
export interface Variant {
  readonly mistake: Mistake;
  readonly bytes: Uint8Array;
}

/** Bytes of a body above which only cheap variants are tried, so that a verdict takes no minute. */
const MAX_BYTES_FOR_ALL_VARIANTS = 1024 * 1024;

/** What a compressed body may grow to: API Gateway's quota on a body. */
const MAX_INFLATED_BYTES = 10 * 1024 * 1024;

const SIGN_WHAT_IS_SENT =
  'Make the text of the body once; sign exactly these bytes, and send exactly these bytes.';
const ENCODE_ONCE = 'Turn the text into bytes once, as UTF-8; sign these bytes, and send these bytes.';

/** What to do, if it is not to turn the text into bytes once. */
const REMEDIES: Readonly<Record<string, string>> = {
  'newline-not-signed': SIGN_WHAT_IS_SENT,
  'newline-signed': SIGN_WHAT_IS_SENT,
  trimmed: SIGN_WHAT_IS_SENT,
  'line-breaks': 'Send the file as bytes, not as text: curl needs --data-binary instead of -d.',
  'byte-order-mark': 'Write UTF-8 without a byte order mark, both for signing and for sending.',
  compressed: 'Send it uncompressed: the service verifies what arrives, and decompresses nothing.',
  'signed-a-digest': 'Give the bytes of the body themselves to the HMAC: it does the hashing.',
  'signed-nothing':
    'Sign the body after it was made, or before the stream that holds it was read to its end.',
  'json-twice': SEND_JSON_ITSELF,
  'json-written-twice': 'Serialise once: sign and send the text that the first call gives.',
  'json-reserialised': SIGN_WHAT_IS_SENT,
  'signed-python':
    'Make the body by json.dumps(…) once; sign exactly these bytes, and send exactly these bytes.',
  'signed-data-only': 'Sign all bytes of the body, from the first brace to the last.',
  'form-encoded': SEND_JSON_ALONE,
  'signed-with-timestamp': 'Sign the body alone. Its age is in the payload, by its own timestamp.',
  'signed-with-address': 'Sign the body alone: neither method, path nor host belongs to what is signed.',
};

/** Headers in which senders carry the time that they sign with the body. */
const TIMESTAMP_HEADERS = [
  'x-timestamp',
  'x-webhook-timestamp',
  'x-signature-timestamp',
  'x-request-timestamp',
  'x-slack-request-timestamp',
  'webhook-timestamp',
  'date',
];

/** U+FEFF in UTF-8, a character for each byte. */
const BOM = '\xEF\xBB\xBF';

/** Java and Python write a byte order mark before UTF-16, .NET none. */
export const UTF_16 = [
  {
    name: 'UTF-16',
    encode: (text: string) => Buffer.from(text, 'utf16le'),
    decode: (bytes: Buffer) => bytes.toString('utf16le'),
  },
  {
    name: 'UTF-16 (big endian)',
    encode: (text: string) => Buffer.from(text, 'utf16le').swap16(),
    // Only an even number of bytes can be swapped.
    decode: (bytes: Buffer) =>
      Buffer.from(bytes.subarray(0, bytes.length & ~1))
        .swap16()
        .toString('utf16le'),
  },
];

type Bytes = string | Uint8Array;

/** What may have been signed instead of the body. `over` completes "The signature is over …". Texts are signed as UTF-8. */
type Row<Body, Message = Bytes> = readonly [
  kind: string,
  over: string,
  messages: (body: Body) => readonly Message[],
];

/** Changes to the bytes, with a character for each byte. */
const BYTE_CHANGES: readonly Row<string, string>[] = [
  [
    'newline-not-signed',
    'the body without the line break that ends it',
    (body) => [body.replace(/\r?\n$/, '')],
  ],
  [
    'newline-signed',
    'the body and a line break after it, which was not sent',
    (body) => [`${body}\n`, `${body}\r\n`],
  ],
  ['trimmed', 'the body without the white space around it', (body) => [body.trim()]],
  [
    'line-breaks',
    'the body with line breaks LF, and it was sent with CR LF',
    (body) => [body.replaceAll('\r\n', '\n')],
  ],
  [
    'line-breaks',
    'the body with line breaks CR LF, and it was sent with LF',
    (body) => [body.replaceAll(/\r?\n/g, '\r\n')],
  ],
  ['line-breaks', 'the body without its line breaks', (body) => [body.replaceAll(/\r?\n/g, '')]],
  [
    'byte-order-mark',
    'what follows the byte order mark (EF BB BF) of the body',
    (body) => [body.replace(/^\xEF\xBB\xBF/, '')],
  ],
  [
    'byte-order-mark',
    'the body with a byte order mark (EF BB BF) before it, which was not sent',
    (body) => [`${BOM}${body}`],
  ],
  ['cut-at-nul', 'the body up to its first zero byte', (body) => [body.replace(/\0.*/s, '')]],
];

/** Other encodings of the text. */
const ENCODINGS: readonly Row<string>[] = [
  ['latin-1', 'the text in Latin-1, and it was sent in UTF-8', (text) => [Buffer.from(text, 'latin1')]],
  [
    'ascii',
    'the text in ASCII, each other character replaced by a question mark',
    (text) => [text.replaceAll(/[\u0080-\uFFFF]/g, '?')],
  ],
  ...UTF_16.map(
    ({ name, encode }): Row<string> => [
      'utf-16',
      `the text in ${name}, and it was sent in UTF-8`,
      (text) => [encode(text), encode(`\uFEFF${text}`)],
    ],
  ),
  ['body-not-utf-8', 'what remains of the body when it is read as UTF-8, which it is not', (text) => [text]],
  [
    'surrogates',
    'the text in CESU-8: each emoji is six bytes in it, and four in UTF-8',
    (text) => [cesu8(text)],
  ],
  ...(['NFC', 'NFD'] as const).map(
    (form): Row<string> => [
      'normalised',
      `the text in Unicode form ${form}, and it was sent in another`,
      (text) => [text.normalize(form)],
    ],
  ),
];

/** What is made of the body as a whole. */
const WHOLE_BODY: readonly Row<Buffer>[] = [
  [
    'latin-1',
    'the body read as Latin-1 and written as UTF-8 again: each byte beyond ASCII became two',
    (body) => [body.toString('latin1')],
  ],
  // The braces of JSON have a zero byte in UTF-16.
  ...UTF_16.map(
    ({ name, decode }): Row<Buffer> => [
      'body-utf-16',
      `the text in UTF-8, and it was sent in ${name}`,
      (body) => (body.includes(0) ? [decode(body), decode(body).replace(/^\uFEFF/, '')] : []),
    ],
  ),
  ['signed-a-digest', 'the SHA-256 of the body, not over the body', (body) => [sha256(body)]],
  [
    'signed-a-digest',
    'the SHA-256 in hex of the body, not over the body',
    (body) => [sha256(body).toString('hex')],
  ],
  [
    'signed-a-digest',
    'the SHA-256 in base64 of the body, not over the body',
    (body) => [sha256(body).toString('base64')],
  ],
  ['signed-a-digest', 'the base64 of the body, not over the body', (body) => [body.toString('base64')]],
  ['signed-a-digest', 'the hex digits of the body, not over the body', (body) => [body.toString('hex')]],
  ['signed-nothing', 'an empty text, not over the body', () => ['']],
];

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

/**
 * What may have been signed instead of the body, the likeliest first.
 * @param timestamps that stood in the signature itself
 */
export function signedMessages(request: SentRequest, timestamps: readonly string[]): Variant[] {
  const { body } = request;
  const text = body.toString();
  const isSmall = body.length <= MAX_BYTES_FOR_ALL_VARIANTS;
  const latin1 = body.toString('latin1');
  const rows: Messages[] = [
    ...BYTE_CHANGES.map(
      ([kind, over, change]) =>
        [kind, over, change(latin1).map((bytes) => Buffer.from(bytes, 'latin1'))] as const,
    ),
    ...ENCODINGS.map(([kind, over, encode]) => [kind, over, encode(text)] as const),
    ...WHOLE_BODY.map(([kind, over, messages]) => [kind, over, messages(body)] as const),
    [
      'compressed',
      `the body before compression: it was compressed (${compressionOf(request)}) after it was signed`,
      inflated(request),
    ],
    ...(isSmall ? variantsOfSmall(request, text.replace(/^\uFEFF/, ''), timestamps) : []),
  ];
  // Many libraries write the same JSON.
  const seen = new Set<Bytes>();
  return rows.flatMap(([kind, over, messages]) => {
    const remedy = REMEDIES[kind] ?? ENCODE_ONCE;
    const mistake = { kind: kind.replace('-written', ''), what: `The signature is over ${over}.`, remedy };
    return messages
      .filter((message) => !seen.has(message) && seen.add(message))
      .map((message) => ({ mistake, bytes: Buffer.from(message) }))
      .filter(({ bytes }) => !bytes.equals(body));
  });
}

type Messages = readonly [kind: string, over: string, messages: readonly Bytes[]];

/** What costs too much for a large body: other JSON, and the body joined with something. */
function variantsOfSmall(request: SentRequest, text: string, inSignature: readonly string[]): Messages[] {
  const tree = parseJson(text);
  const timestamp = memberOf(tree, 'timestamp');
  const inPayload =
    timestamp === undefined ? '' : text.slice(timestamp.start, timestamp.end).replaceAll('"', '');
  return [
    ...(tree === undefined ? formFields(text) : otherJson(text, tree)),
    ...joined(request, [...inSignature, ...(inPayload === '' ? [] : [inPayload])]),
  ];
}

/** The body's JSON, or a part of it, as other code writes it. */
function otherJson(text: string, tree: JsonNode): Messages[] {
  const written = writtenForms(text, tree);
  const data = memberOf(tree, 'data');
  const dataText = data === undefined ? '' : text.slice(data.start, data.end);
  return [
    [
      'json-twice',
      'the JSON, and the body is that JSON written once more, as a JSON text in quotation marks',
      tree.kind === 'string' ? [tree.value] : [],
    ],
    ...['', '\n'].flatMap((end) =>
      written.map(([writer, json]): Messages => {
        const over = `re-serialised JSON, as ${writer} writes it, not over the bytes that were sent`;
        return ['json-reserialised', over, [`${json}${end}`]];
      }),
    ),
    [
      'signed-python',
      "Python's own notation of a dictionary, as str(…) gives it, not over JSON",
      [writeJson(tree, pythonForm)],
    ],
    [
      'signed-data-only',
      'data alone, not over the whole body',
      data === undefined ? [] : [dataText, ...writtenForms(dataText, data).map(([, json]) => json)],
    ],
    [
      'json-written-twice',
      'the JSON written once more as a JSON text, in quotation marks',
      written.slice(0, 2).map(([, json]) => JSON.stringify(json)),
    ],
  ];
}

/** JSON as libraries write it. `JSON.stringify` alone writes other digits of a number. */
const writtenForms = (text: string, tree: JsonNode): [writer: string, written: string][] => [
  ['JSON.stringify', JSON.stringify(JSON.parse(text))],
  ...jsonForms.map(([writer, form]): [string, string] => [writer, writeJson(tree, form)]),
];

/** Libraries send an object as a form's fields unless they are told to write JSON. */
function formFields(text: string): Messages[] {
  if (!/^[\w.[\]%-]+=/.test(text)) return [];
  const values = [...new URLSearchParams(text).values()];
  return [['form-encoded', "the value of one of a form's fields, and the body is the form", values]];
}

/** The body together with a timestamp or the address, as other services ask for. */
function joined(request: SentRequest, others: readonly string[]): Messages[] {
  const { headers, method, path, body } = request;
  const values = (name: string) => valuesOf(headers, name);
  const before = (text: string) => Buffer.concat([Buffer.from(text), body]);
  const after = (text: string) => Buffer.concat([body, Buffer.from(text)]);
  const [id] = [...values('webhook-id'), ...values('svix-id')];
  const withTime = [...new Set([...TIMESTAMP_HEADERS.flatMap(values), ...others])].flatMap((time) => [
    ...['.', ':', '', '\n', '|', ','].flatMap((sign) => [before(`${time}${sign}`), after(`${sign}${time}`)]),
    before(`v0:${time}:`),
    ...(id === undefined ? [] : [before(`${id}.${time}.`)]),
  ]);
  const target = targetOf(request);
  const [host = ''] = values('host');
  const addresses = [path, target, `http://${host}${target}`, `https://${host}${target}`];
  const beginnings = addresses.flatMap((address) => [
    address,
    ...[' ', '', '\n'].map((sign) => `${method}${sign}${address}`),
  ]);
  const withAddress = [...new Set([...beginnings, method])].flatMap((beginning) => [
    ...['', '\n', '.', ':', ' ', '|', '\n\n'].map((sign) => before(`${beginning}${sign}`)),
    beginning,
  ]);
  return [
    ['signed-with-timestamp', 'a timestamp and the body together, as other services ask for', withTime],
    ['signed-with-address', 'the method or the address and the body together', withAddress],
  ];
}

/** Each half of a surrogate pair as three bytes (CESU-8): old Java and MySQL write it. */
function cesu8(text: string): Buffer {
  return Buffer.concat(
    text.split(/([\uD800-\uDFFF])/).map((part) => {
      const unit = part.charCodeAt(0);
      if (part.length !== 1 || unit < 0xd800 || unit > 0xdfff) return Buffer.from(part);
      return Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]);
    }),
  );
}

const INFLATE: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body, { maxOutputLength: MAX_INFLATED_BYTES }),
  deflate: (body) => inflateSync(body, { maxOutputLength: MAX_INFLATED_BYTES }),
  br: (body) => brotliDecompressSync(body, { maxOutputLength: MAX_INFLATED_BYTES }),
};

/** How a body is compressed, by its header or its first bytes. */
export function compressionOf({ headers, body }: Pick<SentRequest, 'headers' | 'body'>): string | undefined {
  const named = valuesOf(headers, 'content-encoding').join(',').trim().toLowerCase();
  if (Object.hasOwn(INFLATE, named)) return named;
  return isGzip(body) ? 'gzip' : undefined;
}

/** @returns nothing if it is not compressed, not as its header says, or too large */
export function inflated(request: Pick<SentRequest, 'headers' | 'body'>): Buffer[] {
  try {
    const inflate = INFLATE[compressionOf(request) ?? ''];
    return inflate === undefined ? [] : [inflate(request.body)];
  } catch {
    return [];
  }
}
