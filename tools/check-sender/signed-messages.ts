import { isUtf8 } from 'node:buffer';
import { type HttpRequest, valuesOf } from 'local-aws/gateway';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { cesu8, compressionOf, textsInUtf16, utf16Of } from './encodings.ts';
import { type Finding, finding } from './finding.ts';
import { type JsonNode, jsonForms, memberOf, parseJson, pythonForm, writeJson } from './json-node.ts';
import {
  type SignedBytes,
  type SigningVariant,
  sha256,
  type VariantTable,
  variantsIn,
} from './signing-variants.ts';

/** A request that the checker received, with the bytes of its body. */
export interface SentRequest extends HttpRequest {
  readonly body: Buffer;
  /** Whether the body exceeds the limit. `body` is then empty. @default false */
  readonly isTooLarge?: boolean;
  /** HMACs of earlier bodies, made with the secret. @default none */
  readonly earlier?: readonly Buffer[];
}

/** Target in the request line: path and query string. */
export const targetOf = ({ path, query }: HttpRequest) => (query === '' ? path : `${path}?${query}`);

/**
 * Maximum bytes of a body for which all variants are tried. For a larger body, only cheap variants are tried, because
 * all variants would take minutes.
 */
const MAX_BYTES_FOR_ALL_VARIANTS = 1024 * 1024;
/** Maximum number of timestamps to try. Each timestamp costs a dozen HMACs of the body. */
const MAX_TIMESTAMPS = 10;

interface BodyViews {
  readonly body: Buffer;
  /** The body with one character per byte. */
  readonly latin1: string;
  /** The body decoded as UTF-8. */
  readonly text: string;
}

type MessageMaker = (views: BodyViews) => Iterable<SignedBytes>;

/** Makes a change of a text in which each character stands for a byte. */
const bytes =
  (change: (latin1: string) => string[]): MessageMaker =>
  ({ latin1 }) =>
    change(latin1).map((changed) => Buffer.from(changed, 'latin1'));

/**
 * Texts that a sender may have signed instead of the body, by their finding. None of the texts needs a body of JSON.
 */
const MESSAGES: VariantTable<MessageMaker> = {
  'newline-not-signed': bytes((body) => [body.replace(/\r?\n$/, '')]),
  'newline-signed': bytes((body) => [`${body}\n`, `${body}\r\n`]),
  trimmed: bytes((body) => [body.trim()]),
  'line-breaks/lf': bytes((body) => [body.replaceAll('\r\n', '\n')]),
  'line-breaks/crlf': bytes((body) => [body.replaceAll(/\r?\n/g, '\r\n')]),
  'line-breaks/none': bytes((body) => [body.replaceAll(/\r?\n/g, '')]),
  'line-breaks/lost': bytes(withLineBreaks),
  reformatted: bytes(reindented),
  // U+FEFF, the byte order mark, in UTF-8.
  'byte-order-mark/removed': bytes((body) => [body.replace(/^\xEF\xBB\xBF/, '')]),
  'byte-order-mark/added': bytes((body) => [`\xEF\xBB\xBF${body}`]),
  'cut-at-nul': bytes((body) => [body.replace(/\0.*/s, '')]),
  'latin-1': ({ text }) => [Buffer.from(text, 'latin1')],
  'latin-1/decoded': ({ latin1 }) => [latin1],
  ascii: ({ text }) => [text.replaceAll(/[\u0080-\uFFFF]/g, '?')],
  'utf-16': ({ text }) => [text, `\uFEFF${text}`].flatMap(utf16Of),
  'body-not-utf-8/decoded': ({ text }) => [text],
  surrogates: ({ text }) => [cesu8(text)],
  'normalised/nfc': ({ text }) => [text.normalize('NFC')],
  'normalised/nfd': ({ text }) => [text.normalize('NFD')],
  // The first brace of JSON in UTF-16 has a zero byte beside it.
  'body-utf-16/signed': ({ body }) =>
    body.includes(0) ? textsInUtf16(body).flatMap((text) => [text, text.replace(/^\uFEFF/, '')]) : [],
  'signed-a-digest/bytes': ({ body }) => [sha256(body)],
  'signed-a-digest/hex': ({ body }) => [sha256(body).toString('hex')],
  'signed-a-digest/base64': ({ body }) => [sha256(body).toString('base64')],
  'signed-a-digest/body-base64': ({ body }) => [body.toString('base64')],
  'signed-a-digest/body-hex': ({ body }) => [body.toString('hex')],
  'signed-nothing': () => [''],
  'signed-path': () => PATHS.flatMap((path) => [path, `${path}\n`]),
};

/** A string, white space that may have followed a line break, or the last brace. */
const INDENTED = /"[^"\\]*(?:\\.[^"\\]*)*"?|[ \t]{2,}|\t|\}$/g;

/** Texts from which JSON may have been made by removing the line breaks, but not the indentation. */
function withLineBreaks(body: string): string[] {
  if (/[\r\n]/.test(body)) return [];
  return ['\n', '\r\n'].flatMap((lineBreak) => {
    const text = body.replaceAll(INDENTED, (part) => (part.startsWith('"') ? part : `${lineBreak}${part}`));
    return [`${text}${lineBreak}`, text];
  });
}

function reindented(body: string): string[] {
  return [
    // Without the lookbehind, a long run of spaces would take quadratic time.
    body.replaceAll(/(?<![ \t])[ \t]+$/gm, ''),
    ...['  ', '    '].flatMap((blanks) => [
      body.replaceAll(/^\t+/gm, (tabs) => blanks.repeat(tabs.length)),
      body.replaceAll(/^ +/gm, (indent) => indent.replaceAll(blanks, '\t')),
    ]),
  ];
}

/** Common names of files that contain an event. */
const FILES = [...eventNames.map((name) => name.replaceAll(/[._]/g, '-')), ...eventNames].concat(
  'body data event events file hook input message payload request sample test webhook'.split(' '),
);

const PATHS = ['', './', '@', '@./', '/tmp/', '@/tmp/'].flatMap((folder) =>
  FILES.flatMap((name) => ['', '.json', '.txt'].map((end) => `${folder}${name}${end}`)),
);

/**
 * Texts that a sender may have signed instead of the body, the most likely first. They are generated one by
 * one, because each may need as much memory as the body.
 * @param timestamps found in the value of the signature header
 */
export function* signedMessages(
  request: SentRequest,
  timestamps: readonly string[],
): Generator<SigningVariant> {
  const { body } = request;
  // Skips repeated texts: many libraries write the same JSON.
  const seen = new Set<SignedBytes>(isUtf8(body) ? [body.toString()] : []);
  for (const [mistake, messages] of candidates(request, timestamps)) {
    for (const message of messages) {
      if (typeof message === 'string' ? seen.has(message) : body.equals(message)) continue;
      if (typeof message === 'string') seen.add(message);
      yield { mistake, change: { message } };
    }
  }
}

function* candidates(
  request: SentRequest,
  inSignature: readonly string[],
): Generator<[mistake: Finding, messages: Iterable<SignedBytes>]> {
  const { body, headers } = request;
  const text = body.toString();
  const views = { body, latin1: body.toString('latin1'), text };
  for (const [mistake, make] of variantsIn(MESSAGES)) yield [mistake, make(views)];
  const { name, plain } = compressionOf(body, headers) ?? {};
  if (name && plain) yield [finding('compressed/afterwards', { name }), [plain]];
  if (body.length > MAX_BYTES_FOR_ALL_VARIANTS) return;
  const tree = parseJson(text.replace(/^\uFEFF/, ''));
  if (tree !== undefined) yield* otherJson(tree);
  // Some libraries send an object as form fields by default, and the signed text is JSON.
  const fields = tree === undefined && /^[\w.[\]%-]+=/.test(text) ? new URLSearchParams(text).values() : [];
  yield [finding('form-encoded/value'), fields];
  yield [finding('html-escaped/signed'), htmlEscaped(text)];
  yield [finding('html-escaped/unsigned'), [htmlUnescaped(text)]];
  const inPayload = memberOf(tree, 'timestamp')?.value ?? [];
  yield [finding('signed-with-timestamp'), withTimestamp(request, [inPayload, inSignature].flat())];
  yield [finding('signed-with-address'), withAddress(request)];
}

/** The JSON of the body, or of a part of it, as other code would write it. */
function* otherJson(tree: JsonNode): Generator<[mistake: Finding, messages: Iterable<SignedBytes>]> {
  if (tree.kind === 'string') yield [finding('json-twice/sent'), [tree.value]];
  const written = writtenForms(tree);
  for (const [writer, text] of written) yield [finding('json-reserialised', { writer }), [text, `${text}\n`]];
  yield [finding('signed-python'), [writeJson(tree, pythonForm)]];
  const data = memberOf(tree, 'data');
  if (data) yield [finding('signed-data-only'), [data.text, ...writtenForms(data).map(([, text]) => text)]];
  yield [finding('json-twice/both'), written.slice(0, 2).map(([, text]) => JSON.stringify(text))];
}

/** JSON as each library writes it. Only `JSON.stringify` changes the digits of a number. */
const writtenForms = (tree: JsonNode): [writer: string, text: string][] => [
  ['JSON.stringify', JSON.stringify(JSON.parse(tree.text))],
  ...jsonForms.map(({ writer, form }): [string, string] => [writer, writeJson(tree, form)]),
];

/**
 * What functions that escape HTML write for an apostrophe: the apostrophe itself, or an entity. The third text is
 * PHP's, the fourth Python's.
 */
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

/** Headers with a time that other services sign together with the body. */
const TIMESTAMP_HEADER =
  /^(?:x-(?:(?:webhook|signature|request|slack-request)-)?timestamp|webhook-timestamp|date)$/i;

function* withTimestamp({ headers, body }: SentRequest, others: readonly string[]): Generator<SignedBytes> {
  const values = (name: string) => valuesOf(headers, name);
  const [id] = [...values('webhook-id'), ...values('svix-id')];
  const inHeaders = headers.filter(([name]) => TIMESTAMP_HEADER.test(name)).map(([, value]) => value);
  const times = new Set([...others, ...inHeaders]);
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
  const starts = ['', `${method} `, method, `${method}\n`];
  const beginnings = addresses.flatMap((address) => starts.map((start) => start + address));
  for (const beginning of new Set([...beginnings, method])) {
    for (const sign of ['', '\n', '.', ':', ' ', '|', '\n\n']) {
      yield Buffer.concat([Buffer.from(`${beginning}${sign}`), body]);
    }
    yield beginning;
  }
}
