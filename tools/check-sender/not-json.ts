import { compressionOf } from './encodings.ts';
import { type Finding, type FindingName, finding } from './finding.ts';
import { outlineOf } from './json-node.ts';

/** Maximum bytes to inspect at the beginning of a large body, and at its end. */
const MAX_BYTES_READ = 64 * 1024;
const END_BYTES = 1024;

type BodyFormat = readonly [pattern: RegExp, name: FindingName];

/** Formats of text that is not JSON, with their tests. The first match wins. */
const TEXT_FORMATS: readonly BodyFormat[] = [
  [/^$/, 'body-empty'],
  [/^--\S+\r?\n[\s\S]*content-disposition/i, 'multipart'],
  [/^[\w.[\]%-]+=(?:[^{}]*(?:&|$)|%7B)/, 'form-encoded'],
  [/^[\w.[\]%-]+=\s*[{[]/, 'form-encoded'],
  [/^%7B/i, 'body-url-escapes'],
  [/^\s*\{\s*&(?:quot|#34|#x22);/i, 'html-escaped'],
  [/^\s*<(?:\?xml|!doctype|[a-z])/i, 'body-xml'],
  [/^\s*(?:\[object \w+\]|undefined|None|nil)\s*$/, 'body-no-value'],
];

/** Formats that resemble JSON. Each format is tested against the text's outline, in which strings are empty. */
const JSON_LIKE_FORMATS: readonly BodyFormat[] = [
  [/^\{ '|(?:^| )(?:None|True|False) [,}\]]/, 'body-python'],
  [/ (?:NaN|-?Infinity) [,}\]]/, 'body-nan'],
  [/=>/, 'body-ruby'],
  [/^\{ [A-Za-z_]\w* :/, 'body-bare-keys'],
  [/, [}\]]/, 'body-trailing-comma'],
  [/^\{.*\} \{/, 'body-several'],
  [/^\{(?:.*[^}])?$/, 'body-cut'],
];

/** Whether a body begins with a byte order mark of UTF-16, or has a zero byte next to its first character. */
const isUtf16 = (body: Buffer) =>
  (body.length > 1 && [0xfffe, 0xfeff].includes(body.readUInt16BE(0))) ||
  (body.length > 3 && (body[1] === 0 || (body[0] === 0 && body[2] === 0)));

/** A finding for a body that is not JSON: it names the format if it is known. */
export function notJson(detail: string, body: Buffer): Finding {
  if (isUtf16(body)) return finding('body-utf-16');
  const compression = compressionOf(body, []);
  if (compression !== undefined) return finding('compressed', { name: compression.name });
  if (detail === 'must be UTF-8') return finding('body-not-utf-8');
  const text = `${body.subarray(0, MAX_BYTES_READ)}${body.subarray(MAX_BYTES_READ).subarray(-END_BYTES)}`;
  const outline = outlineOf(text);
  const [, name = 'body-not-json'] =
    TEXT_FORMATS.find(([pattern]) => pattern.test(text)) ??
    JSON_LIKE_FORMATS.find(([pattern]) => pattern.test(outline)) ??
    [];
  return finding(name);
}
