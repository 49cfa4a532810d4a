/** The text that was looked for last: a search asks for the same one of every payload. */
let last: { readonly text: string; readonly needles: readonly string[] } = { text: '', needles: [''] };

const ASCII_CONTROL_OR_BEYOND = /[^\x20-\x7e]/g;

const unicode = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const short = (character: string) => JSON.stringify(character).slice(1, -1);

/**
 * In lower case: a text as it is, and as JSON may have it. A serializer escapes in one way throughout: what it must
 * (RFC 8259, section 7), what is not ASCII, `/` (PHP's default), each by a backslash or by its number.
 */
export function needlesOf(text: string): readonly string[] {
  if (last.text === text) return last.needles;
  const plain = text.toLowerCase();
  const quoted = [plain.replace(/["\\\b\f\n\r\t]/g, short), plain.replace(/["\\]/g, unicode)];
  const slashed = quoted.flatMap((one) => [
    one,
    one.replaceAll('/', '\\/'),
    one.replaceAll('/', unicode('/')),
  ]);
  const escaped = slashed.map((one) => one.replace(ASCII_CONTROL_OR_BEYOND, unicode));
  last = { text, needles: [...new Set([plain, ...slashed, ...escaped])] };
  return last.needles;
}
