import { createHash } from 'node:crypto';

/** Characters of base64 of a key's hash: 72 bits, so that of a million objects no two are taken for one. */
const LENGTH = 12;

/**
 * Objects that are done, by the hash of their keys: a window of 60 days has some 35,000, or 500,000 where Firehose
 * collects for a minute only. What comes late is whatever is not in it, wherever its key sorts.
 */
export class DoneObjects {
  readonly #hashes = new Set<string>();

  /** @param text as {@link text} gave it */
  constructor(text = '') {
    for (let start = 0; start < text.length; start += LENGTH) {
      this.#hashes.add(text.slice(start, start + LENGTH));
    }
  }

  get size(): number {
    return this.#hashes.size;
  }

  has(key: string): boolean {
    return this.#hashes.has(hashed(key));
  }

  add(key: string): void {
    this.#hashes.add(hashed(key));
  }

  text(): string {
    return [...this.#hashes].join('');
  }
}

const hashed = (key: string) => createHash('sha256').update(key).digest('base64url').slice(0, LENGTH);
