/** The text that was looked for last: a search asks for the same one of every payload. */
let last: { readonly text: string; readonly needles: readonly string[] } = { text: '', needles: [''] };

/** In lower case: a text as it is, and as JSON may have it, with escapes for what is not ASCII. */
export function needlesOf(text: string): readonly string[] {
  if (last.text === text) return last.needles;
  const plain = text.toLowerCase();
  const escaped = plain.replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  last = { text, needles: [...new Set([plain, escaped])] };
  return last.needles;
}
