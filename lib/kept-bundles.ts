import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BUNDLE_OPTIONS } from './bundle.ts';
import { filesDigest } from './files-digest.ts';

/**
 * Folder in which bundles are kept from one synthesis to the next, for whoever synthesises the same code many times: the
 * tests and `.ci/run`. Of packages the lock file is compared, and not what is installed.
 */
const FOLDER = 'PARTNER_WEBHOOKS_KEPT_BUNDLES';

/** What bundles are made of, and what makes them, from the project's root. */
const MADE_OF = [
  'lambda',
  'lib/bundle.ts',
  'lib/function-bundles.ts',
  'lib/function-names.ts',
  'lib/source-map.ts',
  'package-lock.json',
  'tsconfig.json',
];

/** Bundles of the code as it is, where somebody wants them kept. */
export class KeptBundles {
  readonly #folder: string;
  readonly #digest: string;

  static find(environment = process.env): KeptBundles | undefined {
    const folder = environment[FOLDER];
    if (!folder) return undefined;
    const digest = digestOfSources();
    return new KeptBundles(join(folder, digest), digest);
  }

  private constructor(folder: string, digest: string) {
    this.#folder = folder;
    this.#digest = digest;
  }

  /** @returns whether there were any, and are now in the folder, too */
  async copyTo(folder: string): Promise<boolean> {
    if (!existsSync(this.#folder)) return false;
    await cp(this.#folder, folder, { recursive: true });
    return true;
  }

  /** Keeps what is in a folder, if the code is still what it was. Several syntheses may do so at once. */
  async keep(names: readonly string[], from: string): Promise<void> {
    // Saved while it was bundled: which of both was bundled, nobody knows.
    if (digestOfSources() !== this.#digest) return;
    await mkdir(dirname(this.#folder), { recursive: true });
    const unfinished = await mkdtemp(`${this.#folder}-`);
    for (const name of names) await cp(join(from, name), join(unfinished, name), { recursive: true });
    // Where another one was faster, its bundles are the same.
    await rename(unfinished, this.#folder).catch(() => rm(unfinished, { recursive: true }));
  }
}

const digestOfSources = () => filesDigest(MADE_OF, BUNDLE_OPTIONS);
