/** Changes of one character by which two words may differ and still be meant as one. */
const MOST_CHANGES = 3;

/** Characters of a word above which nothing is near: names are short. */
const LONGEST_WORD = 64;

/** Letters and digits alone, in small letters: `shopId` and `shop_id` are the same. */
const plain = (word: string) => word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/**
 * The word that was probably meant.
 * @returns undefined where none of them is near
 */
export function nearest<Word extends string>(word: string, words: readonly Word[]): Word | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  const same = words.find((known) => plain(known) === plain(word));
  if (same !== undefined) return same;
  const [best] = words
    .map((known) => ({ known, changes: distance(plain(word), plain(known)) }))
    .filter(({ known, changes }) => changes <= Math.min(MOST_CHANGES, Math.floor(known.length / 3)))
    .sort((a, b) => a.changes - b.changes);
  return best?.known;
}

/** Levenshtein's distance: insertions, deletions and replacements. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
