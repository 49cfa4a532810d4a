import { compressionOf } from './encodings.ts';
import { type Finding, wrong } from './finding.ts';
import { outlineOf } from './json-node.ts';

/** Bytes of a large body that are inspected, at its beginning and its end. */
const MAX_BYTES_READ = 64 * 1024;
const END_BYTES = 1024;

export const SEND_JSON_ALONE = 'Send the JSON itself as the body, with Content-Type: application/json.';
const USE_LIBRARY = 'Create the JSON with a library, and send its output.';

/** Advice for JSON that was escaped for HTML. */
export const DO_NOT_ESCAPE = 'Do not escape JSON for HTML. Sign exactly the bytes that you send.';

/** Advice for JSON that was serialised twice. */
export const SEND_JSON_ITSELF =
  'Pass the JSON to the HTTP client as the body, not as a value to serialise. In Python requests: data=text, not json=text.';

type BodyFormat = readonly [pattern: RegExp, kind: string, what: string, remedy?: string];

/** Formats of a text that is not JSON. The first match wins. By default: use a library. */
const TEXT_FORMATS: readonly BodyFormat[] = [
  [/^$/, 'body-empty', 'empty', 'Check that the client gets the JSON as the body of the request.'],
  [/^--\S+\r?\n[\s\S]*content-disposition/i, 'multipart', 'a multipart form', SEND_JSON_ALONE],
  [/^[\w.[\]%-]+=(?:[^{}]*(?:&|$)|%7B)/, 'form-encoded', 'form fields (name=value)', SEND_JSON_ALONE],
  [/^[\w.[\]%-]+=\s*[{[]/, 'form-encoded', 'a form: a name, an equals sign and JSON', SEND_JSON_ALONE],
  [/^%7B/i, 'body-url-escapes', 'URL-encoded JSON', SEND_JSON_ALONE],
  [/^\s*\{\s*&(?:quot|#34|#x22);/i, 'html-escaped', 'JSON with HTML entities, such as &quot;', DO_NOT_ESCAPE],
  [/^\s*<(?:\?xml|!doctype|[a-z])/i, 'body-xml', 'XML or HTML', SEND_JSON_ALONE],
  [
    /^\s*(?:\[object \w+\]|undefined|None|nil)\s*$/,
    'body-no-value',
    'the text of an object that was not serialised',
  ],
];

const PYTHON = /^\{ '|(?:^| )(?:None|True|False) [,}\]]/;

/** Formats that are almost JSON. They are matched against the outline, so that nothing matches inside a string. */
const JSON_LIKE_FORMATS: readonly BodyFormat[] = [
  [PYTHON, 'body-python', "Python's notation of a dictionary, not JSON", 'Use json.dumps(…), not str(…).'],
  [/ (?:NaN|-?Infinity) [,}\]]/, 'body-nan', 'almost JSON, but contains NaN or Infinity', 'Omit the field.'],
  [/=>/, 'body-ruby', 'the notation of a Ruby or PHP array, not JSON'],
  [/^\{ [A-Za-z_]\w* :/, 'body-bare-keys', 'almost JSON, but keys have no quotation marks'],
  [/, [}\]]/, 'body-trailing-comma', 'almost JSON, but has a comma before a closing brace or bracket'],
  [
    /^\{.*\} \{/,
    'body-several',
    'several JSON objects instead of one',
    'Send each event in a separate request.',
  ],
  [
    /^\{(?:.*[^}])?$/,
    'body-cut',
    'a JSON object without its end',
    'Check that Content-Length counts bytes, not characters.',
  ],
];

/** A byte order mark, or a zero byte next to the first character. */
const isUtf16 = (body: Buffer) =>
  (body.length > 1 && [0xfffe, 0xfeff].includes(body.readUInt16BE(0))) ||
  (body.length > 3 && (body[1] === 0 || (body[0] === 0 && body[2] === 0)));

/** The finding for a body that no JSON parser accepts. */
export function notJson(detail: string, body: Buffer): Finding {
  const finding = (kind: string, what: string, remedy = USE_LIBRARY) =>
    wrong(kind, `The body is ${what}.`, remedy);
  if (isUtf16(body)) return finding('body-utf-16', 'UTF-16', 'Send UTF-8.');
  const compression = compressionOf(body, []);
  if (compression !== undefined) {
    const remedy = 'Send the body uncompressed. The service does not decompress.';
    return finding('compressed', `compressed (${compression.name})`, remedy);
  }
  if (detail === 'must be UTF-8') {
    const remedy = 'Encode the text as UTF-8. A charset in the header has no effect.';
    return finding('body-not-utf-8', 'not UTF-8', remedy);
  }
  const text = `${body.subarray(0, MAX_BYTES_READ)}${body.subarray(MAX_BYTES_READ).subarray(-END_BYTES)}`;
  const outline = outlineOf(text);
  const [, kind = 'body-not-json', what = 'not JSON', remedy] =
    TEXT_FORMATS.find(([pattern]) => pattern.test(text)) ??
    JSON_LIKE_FORMATS.find(([pattern]) => pattern.test(outline)) ??
    [];
  return finding(kind, what, remedy);
}
