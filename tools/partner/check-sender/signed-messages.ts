import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { type HttpRequest, valuesOf } from '../../../local/gateway/http-message.ts';
import { DO_NOT_ESCAPE, SEND_JSON_ALONE, SEND_JSON_ITSELF } from './body-format.ts';
import { cesu8, compressionOf, inflated, UTF_16 } from './encodings.ts';
import type { Mistake } from './finding.ts';
import { type JsonNode, jsonForms, memberOf, parseJson, pythonForm, writeJson } from './json.ts';

/** A request with the bytes of its body. */
export interface SentRequest extends HttpRequest {
  readonly body: Buffer;
  /** HMACs of the previous bodies, with the secret. @default none */
  readonly earlier?: readonly Buffer[];
}

/** The target in the request line: path and query string. */
export const targetOf = ({ path, query }: HttpRequest) => (query === '' ? path : `${path}?${query}`);

/** A wrong value that the sender may have used, and the mistake that leads to it. */
export interface Variant {
  readonly mistake: Mistake;
  readonly bytes: Bytes;
}

/** A text stands for its bytes in UTF-8. */
export type Bytes = string | Uint8Array;

/** Bytes of a body above which only cheap variants are tried, so that a verdict does not take minutes. */
const MAX_BYTES_FOR_ALL_VARIANTS = 1024 * 1024;

/** Maximum number of timestamps tried: each costs a dozen HMACs of the body. */
const MAX_TIMESTAMPS = 10;

const SIGN_WHAT_IS_SENT = 'Serialise the body once. Sign exactly these bytes, and send exactly these bytes.';
const ENCODE_ONCE = 'Encode the text as UTF-8 once. Sign these bytes, and send these bytes.';

/** Advice by kind of mistake. By default: convert the text to bytes only once. */
const REMEDIES: Readonly<Record<string, string>> = {
  'newline-not-signed': SIGN_WHAT_IS_SENT,
  'newline-signed': SIGN_WHAT_IS_SENT,
  trimmed: SIGN_WHAT_IS_SENT,
  'line-breaks': 'Send the file as bytes, not as text. With curl, use --data-binary instead of -d.',
  'byte-order-mark': 'Use UTF-8 without a byte order mark, for signing and for sending.',
  reformatted: SIGN_WHAT_IS_SENT,
  'html-escaped': DO_NOT_ESCAPE,
  'signed-path': 'Sign the content of the file, not its name.',
  compressed:
    'Send the body uncompressed. The service verifies the bytes that arrive and does not decompress them.',
  'signed-a-digest': 'Pass the bytes of the body to the HMAC function. It does the hashing.',
  'signed-nothing': 'Sign the body after it is complete, and before its stream has been read to the end.',
  'json-twice': SEND_JSON_ITSELF,
  'json-reserialised': SIGN_WHAT_IS_SENT,
  'signed-python': 'Call json.dumps(…) once. Sign exactly these bytes, and send exactly these bytes.',
  'signed-data-only': 'Sign all bytes of the body, from the first brace to the last.',
  'form-encoded': SEND_JSON_ALONE,
  'signed-with-timestamp': 'Sign only the body. It contains its own timestamp.',
  'signed-with-address': 'Sign only the body, without method, path or host.',
};

/** Headers with a time that other senders sign together with the body. */
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

/** A text that may have been signed instead of the body. `over` completes "The signature is over …". */
type Row<Body, Message = Bytes> = readonly [
  kind: string,
  over: string,
  messages: (body: Body) => readonly Message[],
];

/** Changes to the bytes, with a character for each byte. */
const BYTE_CHANGES: readonly Row<string, string>[] = [
  ['newline-not-signed', 'the body without its final line break', (body) => [body.replace(/\r?\n$/, '')]],
  [
    'newline-signed',
    'the body with a final line break that was not sent',
    (body) => [`${body}\n`, `${body}\r\n`],
  ],
  ['trimmed', 'the body without its leading and trailing white space', (body) => [body.trim()]],
  [
    'line-breaks',
    'the body with LF line breaks, but it was sent with CR LF',
    (body) => [body.replaceAll('\r\n', '\n')],
  ],
  [
    'line-breaks',
    'the body with CR LF line breaks, but it was sent with LF',
    (body) => [body.replaceAll(/\r?\n/g, '\r\n')],
  ],
  ['line-breaks', 'the body without its line breaks', (body) => [body.replaceAll(/\r?\n/g, '')]],
  [
    'line-breaks',
    'the text with line breaks, but it was sent without them, as curl -d @file does',
    withLineBreaks,
  ],
  [
    'reformatted',
    'the text with other white space at the beginnings or ends of lines',
    (body) => [
      // Without the lookbehind, a long run of spaces takes quadratic time.
      body.replaceAll(/(?<![ \t])[ \t]+$/gm, ''),
      ...['  ', '    '].flatMap((blanks) => [
        body.replaceAll(/^\t+/gm, (tabs) => blanks.repeat(tabs.length)),
        body.replaceAll(/^ +/gm, (indent) => indent.replaceAll(blanks, '\t')),
      ]),
    ],
  ],
  [
    'byte-order-mark',
    'the body without its byte order mark (EF BB BF)',
    (body) => [body.replace(/^\xEF\xBB\xBF/, '')],
  ],
  [
    'byte-order-mark',
    'the body with a byte order mark (EF BB BF) that was not sent',
    (body) => [`${BOM}${body}`],
  ],
  ['cut-at-nul', 'the body up to its first zero byte', (body) => [body.replace(/\0.*/s, '')]],
];

/** A string, white space that had a line break before it, or the last brace. */
const INDENTED = /"[^"\\]*(?:\\.[^"\\]*)*"?|[ \t]{2,}|\t|\}$/g;

/** The possible files of JSON that has lost its line breaks, but not its indentation. */
function withLineBreaks(body: string): string[] {
  if (/[\r\n]/.test(body)) return [];
  return ['\n', '\r\n'].flatMap((lineBreak) => {
    const text = body.replaceAll(INDENTED, (part) => (part.startsWith('"') ? part : `${lineBreak}${part}`));
    return [`${text}${lineBreak}`, text];
  });
}

/** Common names of a file with an event. */
const FILES = [...eventNames.map((name) => name.replaceAll(/[._]/g, '-')), ...eventNames].concat(
  'body data event events file hook input message payload request sample test webhook'.split(' '),
);

const PATHS = ['', './', '@', '@./', '/tmp/', '@/tmp/'].flatMap((folder) =>
  FILES.flatMap((name) => ['', '.json', '.txt'].flatMap((end) => [`${folder}${name}${end}`])),
);

/** What functions for HTML write for a single quotation mark: most, PHP's, Python's. The first leaves it as it is. */
const APOSTROPHES = ["'", '&#39;', '&#039;', '&#x27;', '&apos;'];

const htmlEscaped = (text: string) =>
  ['"', '&quot;', '&#34;'].flatMap((quote) =>
    APOSTROPHES.map((apostrophe) =>
      text
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', quote)
        .replaceAll("'", apostrophe),
    ),
  );

const htmlUnescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll(/&(?:quot|#34);/g, '"')
    .replaceAll(/&(?:apos|#0?39|#x27);/g, "'")
    .replaceAll('&amp;', '&');

const ENCODINGS: readonly Row<string>[] = [
  ['latin-1', 'the text in Latin-1, but it was sent in UTF-8', (text) => [Buffer.from(text, 'latin1')]],
  [
    'ascii',
    'the text in ASCII, with a question mark for every other character',
    (text) => [text.replaceAll(/[\u0080-\uFFFF]/g, '?')],
  ],
  ...UTF_16.map(
    ({ name, encode }): Row<string> => [
      'utf-16',
      `the text in ${name}, but it was sent in UTF-8`,
      (text) => [encode(text), encode(`\uFEFF${text}`)],
    ],
  ),
  ['body-not-utf-8', 'the body decoded as UTF-8, although it is not UTF-8', (text) => [text]],
  [
    'surrogates',
    'the text in CESU-8, in which an emoji has six bytes instead of four',
    (text) => [cesu8(text)],
  ],
  ...(['NFC', 'NFD'] as const).map(
    (form): Row<string> => [
      'normalised',
      `the text in Unicode form ${form}, but it was sent in another form`,
      (text) => [text.normalize(form)],
    ],
  ),
];

const WHOLE_BODY: readonly Row<Buffer>[] = [
  [
    'latin-1',
    'the body decoded as Latin-1 and encoded as UTF-8: each byte beyond ASCII became two',
    (body) => [body.toString('latin1')],
  ],
  // In UTF-16, the braces of JSON have a zero byte.
  ...UTF_16.map(
    ({ name, decode }): Row<Buffer> => [
      'body-utf-16',
      `the text in UTF-8, but it was sent in ${name}`,
      (body) => (body.includes(0) ? [decode(body), decode(body).replace(/^\uFEFF/, '')] : []),
    ],
  ),
  ['signed-a-digest', 'the SHA-256 of the body instead of the body', (body) => [sha256(body)]],
  [
    'signed-a-digest',
    'the SHA-256 of the body in hex instead of the body',
    (body) => [sha256(body).toString('hex')],
  ],
  [
    'signed-a-digest',
    'the SHA-256 of the body in base64 instead of the body',
    (body) => [sha256(body).toString('base64')],
  ],
  ['signed-a-digest', 'the base64 of the body instead of the body', (body) => [body.toString('base64')]],
  ['signed-a-digest', 'the hex digits of the body instead of the body', (body) => [body.toString('hex')]],
  ['signed-nothing', 'an empty text instead of the body', () => ['']],
  [
    'signed-path',
    'the name of a file instead of its content',
    () => PATHS.flatMap((path) => [path, `${path}\n`]),
  ],
];

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

/**
 * Texts that may have been signed instead of the body, most likely first. They are generated one by one, because each
 * may need as much memory as the body.
 * @param timestamps found in the signature value itself
 */
export function* signedMessages(
  request: SentRequest,
  timestamps: readonly string[],
): Generator<Variant, undefined> {
  const { body } = request;
  // Many libraries write the same JSON.
  const seen = new Set<Bytes>(isUtf8(body) ? [body.toString()] : []);
  for (const [kind, over, messages, remedy = REMEDIES[kind] ?? ENCODE_ONCE] of candidates(
    request,
    timestamps,
  )) {
    const mistake = { kind, what: `The signature is over ${over}.`, remedy };
    for (const bytes of messages) {
      if (typeof bytes === 'string' ? seen.has(bytes) : body.equals(bytes)) continue;
      if (typeof bytes === 'string') seen.add(bytes);
      yield { mistake, bytes };
    }
  }
  return undefined;
}

type Messages = readonly [kind: string, over: string, messages: Iterable<Bytes>, remedy?: string];

function* candidates(request: SentRequest, inSignature: readonly string[]): Generator<Messages> {
  const { body } = request;
  const latin1 = body.toString('latin1');
  const text = body.toString();
  for (const [kind, over, change] of BYTE_CHANGES) {
    yield [kind, over, change(latin1).map((bytes) => Buffer.from(bytes, 'latin1'))];
  }
  for (const [kind, over, encode] of ENCODINGS) yield [kind, over, encode(text)];
  for (const [kind, over, messages] of WHOLE_BODY) yield [kind, over, messages(body)];
  const compression = compressionOf(request);
  yield [
    'compressed',
    `the uncompressed body, which was compressed (${compression}) afterwards`,
    inflated(request),
  ];
  if (body.length > MAX_BYTES_FOR_ALL_VARIANTS) return;
  const json = text.replace(/^\uFEFF/, '');
  const tree = parseJson(json);
  const timestamp = memberOf(tree, 'timestamp');
  const inPayload =
    timestamp === undefined ? [] : [json.slice(timestamp.start, timestamp.end).replaceAll('"', '')];
  if (tree === undefined) yield* formFields(text);
  else yield* otherJson(json, tree);
  yield ['html-escaped', 'the text with HTML entities, but it was sent without them', htmlEscaped(text)];
  yield ['html-escaped', 'the text without HTML entities, but it was sent with them', [htmlUnescaped(text)]];
  yield [
    'signed-with-timestamp',
    'a timestamp and the body together, as other services require',
    withTimestamp(request, [...inPayload, ...inSignature]),
  ];
  yield ['signed-with-address', 'the method or the URL and the body together', withAddress(request)];
}

/** The body's JSON, or a part of it, as other code writes it. */
function otherJson(text: string, tree: JsonNode): Messages[] {
  const written = writtenForms(text, tree);
  const data = memberOf(tree, 'data');
  const dataText = data === undefined ? '' : text.slice(data.start, data.end);
  return [
    [
      'json-twice',
      'the JSON, but the body is this JSON serialised again, as a string in quotation marks',
      tree.kind === 'string' ? [tree.value] : [],
    ],
    ...['', '\n'].flatMap((end) =>
      written.map(([writer, json]): Messages => {
        const over = `JSON that was serialised again, as ${writer} does, instead of the bytes that were sent`;
        return ['json-reserialised', over, [`${json}${end}`]];
      }),
    ),
    [
      'signed-python',
      "Python's notation of a dictionary, from str(…), instead of JSON",
      [writeJson(tree, pythonForm)],
    ],
    [
      'signed-data-only',
      'only data instead of the whole body',
      data === undefined ? [] : [dataText, ...writtenForms(dataText, data).map(([, json]) => json)],
    ],
    [
      'json-twice',
      'the JSON serialised again, as a string in quotation marks',
      written.slice(0, 2).map(([, json]) => JSON.stringify(json)),
      'Serialise once. Sign and send the result of the first call.',
    ],
  ];
}

/** JSON as libraries write it. Only `JSON.stringify` changes the digits of a number. */
const writtenForms = (text: string, tree: JsonNode): [writer: string, written: string][] => [
  ['JSON.stringify', JSON.stringify(JSON.parse(text))],
  ...jsonForms().map(([writer, form]): [string, string] => [writer, writeJson(tree, form)]),
];

/** By default, libraries send an object as form fields and not as JSON. */
function formFields(text: string): Messages[] {
  if (!/^[\w.[\]%-]+=/.test(text)) return [];
  const values = [...new URLSearchParams(text).values()];
  return [['form-encoded', 'the value of a form field, but the body is the whole form', values]];
}

function* withTimestamp({ headers, body }: SentRequest, others: readonly string[]): Generator<Bytes> {
  const values = (name: string) => valuesOf(headers, name);
  const [id] = [...values('webhook-id'), ...values('svix-id')];
  const times = new Set([...others, ...TIMESTAMP_HEADERS.flatMap(values)]);
  for (const time of [...times].slice(0, MAX_TIMESTAMPS)) {
    for (const sign of ['.', ':', '', '\n', '|', ',']) {
      yield Buffer.concat([Buffer.from(`${time}${sign}`), body]);
      yield Buffer.concat([body, Buffer.from(`${sign}${time}`)]);
    }
    yield Buffer.concat([Buffer.from(`v0:${time}:`), body]);
    if (id !== undefined) yield Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
  }
}

function* withAddress(request: SentRequest): Generator<Bytes> {
  const { headers, method, path, body } = request;
  const target = targetOf(request);
  const [host = ''] = valuesOf(headers, 'host');
  const addresses = [path, target, `http://${host}${target}`, `https://${host}${target}`];
  const beginnings = addresses.flatMap((address) => [
    address,
    ...[' ', '', '\n'].map((sign) => `${method}${sign}${address}`),
  ]);
  for (const beginning of new Set([...beginnings, method])) {
    for (const sign of ['', '\n', '.', ':', ' ', '|', '\n\n']) {
      yield Buffer.concat([Buffer.from(`${beginning}${sign}`), body]);
    }
    yield beginning;
  }
}
