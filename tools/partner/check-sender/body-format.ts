import { isGzip } from './encodings.ts';
import { type Finding, wrong } from './finding.ts';
import { outlineOf } from './json.ts';

/** Bytes of a large body that are inspected, at its beginning and its end. */
const MAX_BYTES_READ = 64 * 1024;
const END_BYTES = 1024;

export const SEND_JSON_ALONE = 'Send the JSON itself as the body, with Content-Type: application/json.';
const USE_LIBRARY = 'Let a JSON library write it, and send what it gives.';

/** Advice for JSON that was serialised twice. */
export const SEND_JSON_ITSELF =
  'Give the HTTP client the JSON as the body, not as a value to serialise: in Python requests, data=text and not json=text.';

type Format = readonly [pattern: RegExp, kind: string, what: string, remedy: string];

/** Formats of a text that is not JSON. The first match wins. */
const TEXT_FORMATS: readonly Format[] = [
  [/^$/, 'body-empty', 'empty', 'See that the client is given the JSON as the body of the request.'],
  [/^--\S+\r?\n[\s\S]*content-disposition/i, 'multipart', 'a multipart form', SEND_JSON_ALONE],
  [/^[\w.[\]%-]+=(?:[^{}]*(?:&|$)|%7B)/, 'form-encoded', "a form's fields (name=value)", SEND_JSON_ALONE],
  [/^[\w.[\]%-]+=\s*[{[]/, 'form-encoded', 'a name, an equals sign and JSON: a form', SEND_JSON_ALONE],
  [/^%7B/i, 'body-url-escapes', 'JSON with the escapes of a URL', SEND_JSON_ALONE],
  [/^\s*<(?:\?xml|!doctype|[a-z])/i, 'body-xml', 'XML or HTML', SEND_JSON_ALONE],
  [
    /^\s*(?:\[object \w+\]|undefined|None|nil)\s*$/,
    'body-no-value',
    'the text of something that was not serialised',
    USE_LIBRARY,
  ],
];

/** Formats that are almost JSON. They are matched against the outline, so that nothing matches inside a string. */
const JSON_LIKE_FORMATS: readonly Format[] = [
  [
    /^\{ '|(?:^| )(?:None|True|False) [,}\]]/,
    'body-python',
    "Python's own notation of a dictionary, not JSON",
    'Use json.dumps(…), not str(…).',
  ],
  [
    / (?:NaN|-?Infinity) [,}\]]/,
    'body-nan',
    'almost JSON, with NaN or Infinity in it',
    'Leave the field out.',
  ],
  [/=>/, 'body-ruby', 'the notation of a Ruby or PHP array, not JSON', USE_LIBRARY],
  [
    /^\{ [A-Za-z_]\w* :/,
    'body-bare-keys',
    'almost JSON, with keys that have no quotation marks',
    USE_LIBRARY,
  ],
  [
    /, [}\]]/,
    'body-trailing-comma',
    'almost JSON, with a comma before a closing brace or bracket',
    USE_LIBRARY,
  ],
  [
    /^\{.*\} \{/,
    'body-several',
    'not one JSON object but several',
    'Send each event in a request of its own.',
  ],
  [
    /^\{(?:.*[^}])?$/,
    'body-cut',
    'an object that ends before its last brace',
    'See that Content-Length counts bytes, not characters.',
  ],
];

/** A byte order mark, or a zero byte next to the first character. */
const isUtf16 = (body: Buffer) =>
  (body.length > 1 && [0xfffe, 0xfeff].includes(body.readUInt16BE(0))) ||
  (body.length > 3 && (body[1] === 0 || (body[0] === 0 && body[2] === 0)));

/** The finding for a body that no JSON parser accepts. */
export function notJson(detail: string, body: Buffer): Finding {
  const finding = (kind: string, what: string, remedy: string) =>
    wrong({ kind, what: `The body is ${what}.`, remedy });
  if (isUtf16(body)) return finding('body-utf-16', 'UTF-16', 'Send UTF-8.');
  if (isGzip(body)) {
    const remedy = 'Send it uncompressed: the service decompresses nothing.';
    return finding('compressed', 'compressed (gzip)', remedy);
  }
  if (detail === 'must be UTF-8') {
    const remedy = 'Turn the text into bytes as UTF-8; the header charset changes nothing.';
    return finding('body-not-utf-8', 'not UTF-8', remedy);
  }
  const text = `${body.subarray(0, MAX_BYTES_READ)}${body.subarray(MAX_BYTES_READ).subarray(-END_BYTES)}`;
  const outline = outlineOf(text);
  const [, kind = 'body-not-json', what = 'not JSON', remedy = USE_LIBRARY] =
    TEXT_FORMATS.find(([pattern]) => pattern.test(text)) ??
    JSON_LIKE_FORMATS.find(([pattern]) => pattern.test(outline)) ??
    [];
  return finding(kind, what, remedy);
}
