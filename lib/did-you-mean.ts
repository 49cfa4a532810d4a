/** Maximum number of changed characters between a word and a suggestion. */
const MAX_CHANGES = 3;

/** Maximum characters of a word for which something is suggested. Names are short. */
const MAX_WORD_LENGTH = 64;

/** Letters and digits alone, in small letters: `shopId` and `shop_id` are the same. */
const plain = (word: string) => word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/**
 * The word that was probably meant.
 * @returns undefined if no word is similar
 */
export function nearest<Word extends string>(word: string, words: readonly Word[]): Word | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  const same = words.find((known) => plain(known) === plain(word));
  if (same !== undefined) return same;
  const [best] = words
    .map((known) => ({ known, changes: distance(plain(word), plain(known)) }))
    .filter(
      ({ known, changes }) =>
        changes <= Math.min(MAX_CHANGES, Math.floor(known.length / 3)) ||
        isOneSlip(plain(word), plain(known)),
    )
    .sort((a, b) => a.changes - b.changes);
  return best?.known;
}

/** ` Did you mean shop.updated?`, or an empty text if no word is similar. */
export function didYouMean(word: string, words: readonly string[]): string {
  const meant = nearest(word, words);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** Maximum letters that another ending may add: `post`, `posted`. */
const MAX_ENDING = 2;

/**
 * Whether a name is surely a misspelling of a known one: other case or punctuation, or one letter per word. Two letters
 * make another word: a sender of `girl.updated` may not mean `girl.created`.
 * @param maxChanges per word
 */
export function isSlipOf(name: string, known: string, maxChanges = 1): boolean {
  if (name.length > MAX_WORD_LENGTH) return false;
  if (plain(name) === plain(known)) return true;
  if (maxChanges === 0) return false;
  const words = wordsOf(name);
  const knownWords = wordsOf(known);
  if (words.length !== knownWords.length) return isOneSlip(plain(name), plain(known));
  return words.every((word, index) => isOneSlip(word, knownWords[index] ?? ''));
}

/** The words of a name: `shop.updated`, `ShopUpdated` and `shop-updated` all have `shop` and `updated`. */
const wordsOf = (name: string) =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/**
 * Whether two words differ by one letter too many, too few or different, by two swapped letters, or by their ending.
 */
function isOneSlip(word: string, known: string): boolean {
  if (distance(word, known) <= 1) return true;
  const [short = '', long = ''] = [word, known].sort((a, b) => a.length - b.length);
  if (short.length > 3 && long.startsWith(short) && long.length - short.length <= MAX_ENDING) return true;
  const at = [...word].findIndex((letter, index) => letter !== known[index]);
  return `${word.slice(0, at)}${word[at + 1] ?? ''}${word[at] ?? ''}${word.slice(at + 2)}` === known;
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
