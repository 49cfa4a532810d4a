import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Files and folders as they are at one moment, to be put back as they were. */
export class KeptFiles {
  readonly #places: readonly string[];
  readonly #contents: ReadonlyMap<string, Buffer>;

  /** @param places files, and folders with all that is in them; some may not be there yet */
  constructor(places: readonly string[]) {
    this.#places = places;
    this.#contents = new Map(places.flatMap(filesAt).map((file) => [file, readFileSync(file)]));
  }

  putBack(): void {
    for (const file of this.#places.flatMap(filesAt)) if (!this.#contents.has(file)) rmSync(file);
    for (const [file, content] of this.#contents) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
  }
}

function filesAt(place: string): string[] {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isDirectory() ? readdirSync(place).flatMap((name) => filesAt(join(place, name))) : [place];
}
