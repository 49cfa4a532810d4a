import { type Finding, wrong } from '../finding.ts';

type Sign = readonly [
  looksLike: (text: string, body: Buffer) => boolean,
  kind: string,
  what: string,
  remedy: string,
];

/** Bytes of a body that show what it is: its beginning and its end. */
const LOOKED_AT_BYTES = 64 * 1024;
const END_BYTES = 1024;

const JSON_ALONE = 'Send the JSON itself as the body, with Content-Type: application/json.';
const SERIALISER = 'Let a JSON library write it, and send what it gives.';

/** What to do about JSON that was serialised twice. */
export const SEND_JSON_AS_IT_IS =
  'Give the HTTP client the JSON as the body, not as a value to serialise: in Python requests, data=text and not json=text.';

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);

/** What a body is that is no text: the first that fits. */
const BINARY_SIGNS: readonly Sign[] = [
  [
    (_, body) =>
      [0xfffe, 0xfeff].includes(body.length < 2 ? 0 : body.readUInt16BE(0)) ||
      (body.length > 3 && (body[1] === 0 || (body[0] === 0 && body[2] === 0))),
    'body-utf-16',
    'The body is UTF-16.',
    'Send UTF-8.',
  ],
  [
    (_, body) => body[0] === 0x1f && body[1] === 0x8b,
    'compressed',
    'The body is compressed (gzip).',
    'Send it uncompressed: the service decompresses nothing.',
  ],
];

/** What a text is that is not JSON: the first that fits. */
const SIGNS: readonly Sign[] = [
  ...BINARY_SIGNS,
  [
    matches(/^--\S+\r?\n[\s\S]*content-disposition/i),
    'multipart',
    'The body is a multipart form.',
    JSON_ALONE,
  ],
  [
    matches(/^[\w.[\]%-]+=[^{}]*(?:&|$)|^[\w.[\]%-]+=%7B/),
    'form-encoded',
    "The body is a form's fields (name=value).",
    JSON_ALONE,
  ],
  [
    matches(/^[\w.[\]%-]+=\s*[{[]/),
    'form-encoded',
    'The body is a name, an equals sign and JSON: a form.',
    JSON_ALONE,
  ],
  [matches(/^%7B/i), 'body-url-escapes', 'The body is JSON with the escapes of a URL.', JSON_ALONE],
  [matches(/^\s*<(?:\?xml|!doctype|[a-z])/i), 'body-xml', 'The body is XML or HTML.', JSON_ALONE],
  [
    matches(/^\s*(?:\[object \w+\]|undefined|None|nil)\s*$/),
    'body-no-value',
    'The body is the text of something that was not serialised.',
    SERIALISER,
  ],
  [
    matches(/^\s*\{\s*'|\b(?:None|True|False)\s*[,}\]]/),
    'body-python',
    "The body is Python's own notation of a dictionary, not JSON.",
    'Use json.dumps(…), not str(…).',
  ],
  [
    matches(/\b(?:NaN|-?Infinity)\s*[,}\]]/),
    'body-nan',
    'The body has NaN or Infinity, which JSON has not.',
    'Leave the field out.',
  ],
  [matches(/=>/), 'body-ruby', 'The body is the notation of a Ruby or PHP array, not JSON.', SERIALISER],
  [matches(/^\s*\{\s*[A-Za-z_]\w*\s*:/), 'body-bare-keys', 'The keys have no quotation marks.', SERIALISER],
  [
    matches(/,\s*[}\]]/),
    'body-trailing-comma',
    'A comma stands before a closing brace or bracket.',
    SERIALISER,
  ],
  [
    matches(/^\s*\{[\s\S]*\}\s*\{/),
    'body-several',
    'The body holds several JSON objects.',
    'Send each event in a request of its own.',
  ],
  [
    matches(/^\s*\{[\s\S]*[^}\s]\s*$/),
    'body-cut',
    'The body begins as an object, and ends before its last brace.',
    'See that Content-Length counts bytes, not characters.',
  ],
];

/** What is wrong with a body that no JSON parser takes. */
export function notJson(detail: string, body: Buffer): Finding {
  if (body.length === 0) {
    return wrong({
      kind: 'body-empty',
      what: 'The body is empty.',
      remedy: 'See that the client is given the JSON as the body of the request.',
    });
  }
  const isUtf8 = detail !== 'must be UTF-8';
  const text = `${body.subarray(0, LOOKED_AT_BYTES)}${body.subarray(LOOKED_AT_BYTES).subarray(-END_BYTES)}`;
  const [, kind, what, remedy] =
    (isUtf8 ? SIGNS : BINARY_SIGNS).find(([looksLike]) => looksLike(text, body)) ?? [];
  if (kind !== undefined && what !== undefined && remedy !== undefined) return wrong({ kind, what, remedy });
  return !isUtf8
    ? wrong({
        kind: 'body-not-utf-8',
        what: 'The body is not UTF-8.',
        remedy: 'Turn the text into bytes as UTF-8; the header charset changes nothing.',
      })
    : wrong({ kind: 'body-not-json', what: 'The body is not JSON.', remedy: SERIALISER });
}
