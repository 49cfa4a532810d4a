/** Maximum number of changed characters between a word and a suggestion. */
const MAX_CHANGES = 3;

/** Maximum characters of a word for which something is suggested. Names are short. */
const MAX_WORD_LENGTH = 64;

/** Letters and digits alone, in small letters: `shopId` and `shop_id` are the same. */
const plain = (word: string) => word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/**
 * The word that was probably meant: the one with the fewest changes, if these are at most a third of it.
 * @returns undefined if no word is similar
 */
export function nearest<Word extends string>(word: string, words: readonly Word[]): Word | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  const [best] = words
    .map((known) => ({ known, changes: distance(plain(word), plain(known)) }))
    .filter(({ known, changes }) => changes <= Math.min(MAX_CHANGES, Math.floor(known.length / 3)))
    .sort((a, b) => a.changes - b.changes);
  return best?.known;
}

/** ` Did you mean shop.updated?`, or an empty text if no word is similar. */
export function didYouMean(word: string, words: readonly string[]): string {
  const meant = nearest(word, words);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** Insertions, deletions, replacements, and swaps of neighbours: the optimal string alignment distance. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (character === other ? 0 : 1);
      const isSwap = character === b[j - 1] && other === a[i - 1];
      const swapped = isSwap ? (before[j - 1] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
