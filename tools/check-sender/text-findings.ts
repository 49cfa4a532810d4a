import { isUtf8 } from 'node:buffer';
import { catalogue } from '../../lambda/events/catalogue.ts';
import { type Finding, finding } from './finding.ts';
import { type JsonNode, memberOf, nodesIn } from './json-node.ts';
import { NO_VALUE, PLACEHOLDER } from './readings.ts';

/** Bytes from which on an event is near the service's limit. Source: docs/partner.md. */
const NEAR_LIMIT_BYTES = 4 * 1024 * 1024;

/**
 * Findings about the payload as a whole, and about any text or number in it.
 * @param tree the parsed payload; undefined if it is not JSON
 */
export function* textFindings(body: Buffer, tree: JsonNode | undefined): Generator<Finding> {
  if (body.length > NEAR_LIMIT_BYTES) yield finding('body-near-limit', { bytes: body.length });
  if (tree === undefined) return;
  const nodes = nodesIn(tree);
  if (nodes.some(hasKeyTwice)) yield finding('key-twice');
  if (nodes.some(isInexact)) yield finding('number-too-large');
  const [id] = idsWithoutValue(tree);
  if (id !== undefined) yield finding('id-without-value', { id });
  const texts = nodes.filter(({ kind }) => kind === 'string').map(({ value }) => value);
  const placeholders = texts.flatMap((text) => PLACEHOLDER.exec(text) ?? []);
  // A placeholder within a longer text may have been written by a person, so it is only risky.
  const grade = placeholders.some((placeholder) => texts.includes(placeholder)) ? 'wrong' : 'risky';
  if (placeholders.length > 0) yield { ...finding('placeholder'), grade };
  if (texts.some((text) => HTML_ENTITY.test(text))) yield finding('html-entities');
  if (texts.some(isMojibake)) yield finding('mojibake');
  if (body.subarray(0, 3).equals(Buffer.from('\uFEFF'))) yield finding('bom');
}

const hasKeyTwice = ({ children }: JsonNode) => new Set(children.map(([key]) => key)).size < children.length;

const isInexact = ({ kind, text }: JsonNode) =>
  kind === 'literal' && /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text));

const ID_FIELDS = new Set(
  Object.values(catalogue).flatMap(({ data }) =>
    Object.keys(data.entries).filter((name) => name.endsWith('_id')),
  ),
);

const idsWithoutValue = (tree: JsonNode) =>
  [...ID_FIELDS].filter((name) => {
    const id = memberOf(memberOf(tree, 'data'), name);
    return id?.kind === 'string' && NO_VALUE.test(id.value);
  });

const HTML_ENTITY = /&(?:[a-z][a-z\d]{1,9}|#\d{1,7}|#x[\da-f]{1,6});/i;

/**
 * The 256 characters of Windows-1252, each at the position of its byte. They include Latin-1 except some
 * control characters.
 */
const WINDOWS_1252 = new TextDecoder('windows-1252').decode(
  Uint8Array.from({ length: 256 }, (_, byte) => byte),
);

/**
 * Whether a text is UTF-8 that was decoded as Windows-1252, or contains U+FFFD for bytes that could not be
 * decoded.
 */
function isMojibake(text: string): boolean {
  if (text.includes('\uFFFD')) return true;
  if (!/[^\0-\x7F]/.test(text)) return false;
  const byteOf = (character: string) => WINDOWS_1252.indexOf(character);
  const bytes = Array.from(text, (sign) => (byteOf(sign) === -1 ? sign.charCodeAt(0) : byteOf(sign)));
  return bytes.every((byte) => byte < 0x100) && isUtf8(Uint8Array.from(bytes));
}
