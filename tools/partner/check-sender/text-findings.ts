import { isUtf8 } from 'node:buffer';
import { catalogue } from '../../../lambda/events/catalogue.ts';
import { EVENT_MEGABYTES } from '../../../lambda/limits.ts';
import { type Finding, fine, risky, wrong } from './finding.ts';
import { type JsonNode, memberOf, nodesIn } from './json-node.ts';
import { NO_VALUE, PLACEHOLDER } from './signature-values.ts';

/** Bytes above which an event is near the service's limit, as docs/partner.md says. */
const NEAR_LIMIT_BYTES = 4 * 1024 * 1024;

/** Findings about the payload as a whole, and about any text or number in it. @param tree undefined if it is not JSON */
export function* textFindings(body: Buffer, tree: JsonNode | undefined): Generator<Finding> {
  if (body.length > NEAR_LIMIT_BYTES) {
    const size = body.length.toLocaleString('en');
    const what = `The body has ${size} bytes. Above about ${EVENT_MEGABYTES} MB it is rejected with 413.`;
    const remedy = 'Send only what identifies the change, not data that can be fetched.';
    yield risky('body-near-limit', what, remedy);
  }
  if (tree === undefined) return;
  const nodes = nodesIn(tree);
  if (nodes.some((node) => hasKeyTwice(node))) {
    const what = 'An object in the JSON has the same key twice. Only the last value is used.';
    yield risky('key-twice', what, 'Use each key once.');
  }
  if (nodes.some((node) => node.kind === 'literal' && isInexact(node.text))) {
    const what = 'The JSON has an integer of 2^53 or above. Most parsers round it, so we do not use it.';
    yield risky('number-too-large', what, 'Send such a number as a string.');
  }
  const [id] = idsWithoutValue(tree);
  if (id !== undefined) {
    const what = `data.${id} is a text such as null or undefined, which programs write for a missing value.`;
    const remedy = 'Send the id, or omit the field. A missing value must not become a text.';
    yield wrong('id-without-value', what, remedy);
  }
  const texts = nodes.flatMap((node) => (node.kind === 'string' ? [node.value] : []));
  const placeholders = texts.filter((text) => PLACEHOLDER.test(text));
  if (placeholders.length > 0) {
    // A person may have written one within a longer text.
    const isWhole = placeholders.some((text) => PLACEHOLDER.exec(text)?.[0] === text);
    const what = 'A text contains a placeholder that was not replaced, such as {{girl_id}}.';
    const remedy = 'Fill in the template before you sign it. Check the names of its variables.';
    yield (isWhole ? wrong : risky)('placeholder', what, remedy);
  }
  if (texts.some((text) => HTML_ENTITY.test(text))) {
    const what =
      'A text contains HTML entities, such as &amp; or &eacute;. They are stored and shown like this.';
    yield risky('html-entities', what, 'Send plain text. Do not escape it for HTML.');
  }
  if (texts.some(isMojibake)) yield MOJIBAKE;
  if (body.subarray(0, 3).equals(Buffer.from('\uFEFF'))) {
    yield fine('bom', 'The body begins with a byte order mark. It is removed.');
  }
}

const MOJIBAKE = risky(
  'mojibake',
  'A text was probably decoded with a wrong charset before it was sent: CafÃ© or Caf\uFFFD instead of Café.',
  'Read the text as UTF-8 from its file, database or form. The signature cannot show this.',
);

const hasKeyTwice = ({ children }: JsonNode) => new Set(children.map(([key]) => key)).size < children.length;

const isInexact = (digits: string) => /^-?\d+$/.test(digits) && !Number.isSafeInteger(Number(digits));

const ID_FIELDS = new Set(
  Object.values(catalogue).flatMap(({ data }) =>
    Object.keys(data.shape).filter((name) => name.endsWith('_id')),
  ),
);

const idsWithoutValue = (tree: JsonNode) =>
  [...ID_FIELDS].filter((name) => {
    const id = memberOf(memberOf(tree, 'data'), name);
    return id?.kind === 'string' && NO_VALUE.test(id.value);
  });

const HTML_ENTITY = /&(?:[a-z][a-z\d]{1,9}|#\d{1,7}|#x[\da-f]{1,6});/i;

/** The bytes of characters of Windows-1252, which contains Latin-1. */
const BYTES_OF_1252 = new Map(
  Array.from(new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))).map(
    (character, byte) => [character, byte],
  ),
);

/** Whether all characters of a text are bytes of UTF-8, or one was replaced because it could not be decoded. */
function isMojibake(text: string): boolean {
  if (text.includes('\uFFFD')) return true;
  if (!/[^\0-\x7F]/.test(text)) return false;
  // Latin-1 has control characters where Windows-1252 has others.
  const bytes = Array.from(text, (character) => {
    const code = character.charCodeAt(0);
    return BYTES_OF_1252.get(character) ?? (code < 0x100 ? code : undefined);
  });
  return bytes.every((byte) => byte !== undefined) && isUtf8(Uint8Array.from(bytes));
}
