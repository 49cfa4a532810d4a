import { isUtf8 } from 'node:buffer';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { type HttpRequest, valuesOf } from '../../../local/gateway/http-message.ts';
import { cesu8, compressionOf, textsInUtf16, utf16Of } from './encodings.ts';
import { type JsonNode, jsonForms, memberOf, parseJson, pythonForm, writeJson } from './json-node.ts';
import {
  type SignedBytes,
  type SigningVariant,
  sha256,
  type VariantTable,
  variantsIn,
} from './signing-variants.ts';

/** A request with the bytes of its body. */
export interface SentRequest extends HttpRequest {
  readonly body: Buffer;
  /** Whether the body is too large to be kept, and so is empty here. @default false */
  readonly isTooLarge?: boolean;
  /** HMACs of the previous bodies, with the secret. @default none */
  readonly earlier?: readonly Buffer[];
}

/** The target in the request line: path and query string. */
export const targetOf = ({ path, query }: HttpRequest) => (query === '' ? path : `${path}?${query}`);

/** Characters above which only cheap variants are tried, so that a verdict does not take minutes. */
const MAX_LENGTH_FOR_ALL_VARIANTS = 1024 * 1024;

/** Maximum number of timestamps tried: each costs a dozen HMACs of the body. */
const MAX_TIMESTAMPS = 10;

/** U+FEFF in UTF-8, a character for each byte. */
const BOM = '\xEF\xBB\xBF';

interface BodyViews {
  readonly body: Buffer;
  /** A character for each byte. */
  readonly latin1: string;
  /** Read as UTF-8. */
  readonly text: string;
}

type MessageMaker = (views: BodyViews) => Iterable<SignedBytes>;

/** A change to bytes, with a character for each. */
const bytes =
  (change: (latin1: string) => string[]): MessageMaker =>
  ({ latin1 }) =>
    change(latin1).map((changed) => Buffer.from(changed, 'latin1'));

/** Texts that may have been signed instead of any body. The words complete "The signature is over …". */
const MESSAGES: VariantTable<MessageMaker> = {
  'newline-not-signed': {
    'the body without its final line break': bytes((body) => [body.replace(/\r?\n$/, '')]),
  },
  'newline-signed': {
    'the body with a final line break that was not sent': bytes((body) => [`${body}\n`, `${body}\r\n`]),
  },
  trimmed: { 'the body without its leading and trailing white space': bytes((body) => [body.trim()]) },
  'line-breaks': {
    'the body with LF line breaks, but it was sent with CR LF': bytes((body) => [
      body.replaceAll('\r\n', '\n'),
    ]),
    'the body with CR LF line breaks, but it was sent with LF': bytes((body) => [
      body.replaceAll(/\r?\n/g, '\r\n'),
    ]),
    'the body without its line breaks': bytes((body) => [body.replaceAll(/\r?\n/g, '')]),
    'the text with line breaks, but it was sent without them, as curl -d @file does': bytes(withLineBreaks),
  },
  reformatted: { 'the text with other white space at the beginnings or ends of lines': bytes(reindented) },
  'byte-order-mark': {
    'the body without its byte order mark (EF BB BF)': bytes((body) => [body.replace(/^\xEF\xBB\xBF/, '')]),
    'the body with a byte order mark (EF BB BF) that was not sent': bytes((body) => [BOM + body]),
  },
  'cut-at-nul': { 'the body up to its first zero byte': bytes((body) => [body.replace(/\0.*/s, '')]) },
  'latin-1': {
    'the text in Latin-1, but it was sent in UTF-8': ({ text }) => [Buffer.from(text, 'latin1')],
    'the body decoded as Latin-1 and encoded as UTF-8: each byte beyond ASCII became two': ({ latin1 }) => [
      latin1,
    ],
  },
  ascii: {
    'the text in ASCII, with a question mark for every other character': ({ text }) => [
      text.replaceAll(/[\u0080-\uFFFF]/g, '?'),
    ],
  },
  'utf-16': {
    'the text in UTF-16, but it was sent in UTF-8': ({ text }) => [
      ...utf16Of(text),
      ...utf16Of(`\uFEFF${text}`),
    ],
  },
  'body-not-utf-8/decoded': { 'the body decoded as UTF-8, although it is not UTF-8': ({ text }) => [text] },
  surrogates: {
    'the text in CESU-8, in which an emoji has six bytes instead of four': ({ text }) => [cesu8(text)],
  },
  normalised: {
    'the text in Unicode form NFC, but it was sent in another form': ({ text }) => [text.normalize('NFC')],
    'the text in Unicode form NFD, but it was sent in another form': ({ text }) => [text.normalize('NFD')],
  },
  'body-utf-16/signed': {
    // In UTF-16, the braces of JSON have a zero byte.
    'the text in UTF-8, but it was sent in UTF-16': ({ body }) =>
      body.includes(0) ? textsInUtf16(body).flatMap((text) => [text, text.replace(/^\uFEFF/, '')]) : [],
  },
  'signed-a-digest': {
    'the SHA-256 of the body instead of the body': ({ body }) => [sha256(body)],
    'the SHA-256 of the body in hex instead of the body': ({ body }) => [sha256(body).toString('hex')],
    'the SHA-256 of the body in base64 instead of the body': ({ body }) => [sha256(body).toString('base64')],
    'the base64 of the body instead of the body': ({ body }) => [body.toString('base64')],
    'the hex digits of the body instead of the body': ({ body }) => [body.toString('hex')],
  },
  'signed-nothing': { 'an empty text instead of the body': () => [''] },
  'signed-path': {
    'the name of a file instead of its content': () => PATHS.flatMap((path) => [path, `${path}\n`]),
  },
};

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

function reindented(body: string): string[] {
  return [
    // Without the lookbehind, a long run of spaces takes quadratic time.
    body.replaceAll(/(?<![ \t])[ \t]+$/gm, ''),
    ...['  ', '    '].flatMap((blanks) => [
      body.replaceAll(/^\t+/gm, (tabs) => blanks.repeat(tabs.length)),
      body.replaceAll(/^ +/gm, (indent) => indent.replaceAll(blanks, '\t')),
    ]),
  ];
}

/** Common names of a file with an event. */
const FILES = [...eventNames.map((name) => name.replaceAll(/[._]/g, '-')), ...eventNames].concat(
  'body data event events file hook input message payload request sample test webhook'.split(' '),
);

const PATHS = ['', './', '@', '@./', '/tmp/', '@/tmp/'].flatMap((folder) =>
  FILES.flatMap((name) => ['', '.json', '.txt'].map((end) => `${folder}${name}${end}`)),
);

/**
 * Texts that may have been signed instead of the body, most likely first. They are generated one by one, because each
 * may need as much memory as the body.
 * @param timestamps found in the signature value itself
 */
export function* signedMessages(
  request: SentRequest,
  timestamps: readonly string[],
): Generator<SigningVariant> {
  const { body } = request;
  const views = { body, latin1: body.toString('latin1'), text: body.toString() };
  // Many libraries write the same JSON.
  const seen = new Set<SignedBytes>(isUtf8(body) ? [views.text] : []);
  for (const table of [MESSAGES, derivedMessages(request, views.text, timestamps)]) {
    for (const [mistake, make] of variantsIn(table)) {
      for (const message of make(views)) {
        if (typeof message === 'string' ? seen.has(message) : body.equals(message)) continue;
        if (typeof message === 'string') seen.add(message);
        yield { mistake, change: { message } };
      }
    }
  }
}

/** Messages that depend on more than the bytes of the body. */
function derivedMessages(
  request: SentRequest,
  text: string,
  inSignature: readonly string[],
): VariantTable<MessageMaker> {
  const { name, plain } = compressionOf(request.body, request.headers) ?? {};
  const uncompressed = plain === undefined ? [] : [plain];
  const compressed = {
    [`the uncompressed body, which was compressed (${name}) afterwards`]: () => uncompressed,
  };
  if (text.length > MAX_LENGTH_FOR_ALL_VARIANTS) return { 'compressed/afterwards': compressed };
  const json = text.replace(/^\uFEFF/, '');
  const tree = parseJson(json);
  const timestamp = memberOf(tree, 'timestamp');
  const inPayload = timestamp === undefined ? [] : [timestamp.value];
  return {
    'compressed/afterwards': compressed,
    ...(tree === undefined ? formMessages(text) : jsonMessages(tree)),
    'html-escaped/signed': {
      'the text with HTML entities, but it was sent without them': () => htmlEscaped(text),
      'the text without HTML entities, but it was sent with them': () => [htmlUnescaped(text)],
    },
    'signed-with-timestamp': {
      'a timestamp and the body together, as other services require': () =>
        withTimestamp(request, [...inPayload, ...inSignature]),
    },
    'signed-with-address': { 'the method or the URL and the body together': () => withAddress(request) },
  };
}

/** By default, libraries send an object as form fields and not as JSON. */
const formMessages = (text: string): VariantTable<MessageMaker> => ({
  'form-encoded/value': {
    'the value of a form field, but the body is the whole form': () =>
      /^[\w.[\]%-]+=/.test(text) ? new URLSearchParams(text).values() : [],
  },
});

/** The body's JSON, or a part of it, as other code writes it. */
function jsonMessages(tree: JsonNode): VariantTable<MessageMaker> {
  const written = writtenForms(tree);
  const data = memberOf(tree, 'data');
  return {
    'json-twice/sent': {
      'the JSON, but the body is this JSON serialised again, as a string in quotation marks': () =>
        tree.kind === 'string' ? [tree.value] : [],
    },
    'json-reserialised': Object.fromEntries(
      written.map(([writer, text]) => [
        `JSON that was serialised again, as ${writer} does, instead of the bytes that were sent`,
        () => [text, `${text}\n`],
      ]),
    ),
    'signed-python': {
      "Python's notation of a dictionary, from str(…), instead of JSON": () => [writeJson(tree, pythonForm)],
    },
    'signed-data-only': {
      'only data instead of the whole body': () =>
        data === undefined ? [] : [data.text, ...writtenForms(data).map(([, text]) => text)],
    },
    'json-twice/both': {
      'the JSON serialised again, as a string in quotation marks': () =>
        written.slice(0, 2).map(([, text]) => JSON.stringify(text)),
    },
  };
}

/** JSON as libraries write it. Only `JSON.stringify` changes the digits of a number. */
const writtenForms = (tree: JsonNode): [writer: string, text: string][] => [
  ['JSON.stringify', JSON.stringify(JSON.parse(tree.text))],
  ...jsonForms.map(({ writer, form }): [string, string] => [writer, writeJson(tree, form)]),
];

/** What functions for HTML write for a single quotation mark: most, PHP's, Python's. The first leaves it as it is. */
const APOSTROPHES = ["'", '&#39;', '&#039;', '&#x27;', '&apos;'];

function htmlEscaped(text: string): string[] {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return ['"', '&quot;', '&#34;'].flatMap((quote) =>
    APOSTROPHES.map((apostrophe) => escaped.replaceAll('"', quote).replaceAll("'", apostrophe)),
  );
}

const htmlUnescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll(/&(?:quot|#34);/g, '"')
    .replaceAll(/&(?:apos|#0?39|#x27);/g, "'")
    .replaceAll('&amp;', '&');

/** Headers with a time that other senders sign together with the body. */
const TIMESTAMP_HEADERS =
  'x-timestamp x-webhook-timestamp x-signature-timestamp x-request-timestamp x-slack-request-timestamp webhook-timestamp date'.split(
    ' ',
  );

function* withTimestamp({ headers, body }: SentRequest, others: readonly string[]): Generator<SignedBytes> {
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

function* withAddress(request: SentRequest): Generator<SignedBytes> {
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
