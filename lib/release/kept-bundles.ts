import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  BUNDLE_OPTIONS,
  type Bundle,
  type BundleTarget,
  type sourceMapReducer,
  writeBundles,
} from './bundle.ts';
import { filesDigest } from './files-digest.ts';
import { KEPT_BUNDLES_FOLDER } from './kept-bundles-folder.ts';

/** What makes bundles of sources, from the project's root. Of packages the lock files are compared, and no more. */
const MADE_BY = [
  'lib/release/bundle.ts',
  'lib/release/kept-bundles.ts',
  'lib/release/source-map.ts',
  'node_modules/.package-lock.json',
  'package-lock.json',
  'tsconfig.json',
];

/** Of each function: some states that are tried and taken back. Each is some 600 KB. */
const KEPT = 8;

const SOURCES = 'sources.json';
const BUNDLE = 'bundle';

/**
 * Bundles of one function, each in a folder that is named by the digest of the sources that it was made of: for whoever
 * bundles the same code many times, which is `npm start`, the tests and `.ci/run`. What is deployed is bundled anew.
 */
export class KeptBundles {
  readonly #folder: string;
  /** Of all that could be a source. */
  readonly #before = digestOf(['lambda']);

  /** @returns undefined where nobody wants any kept */
  static find(entry: string, environment = process.env): KeptBundles | undefined {
    const folder = environment[KEPT_BUNDLES_FOLDER];
    return folder ? new KeptBundles(join(folder, filesDigest(MADE_BY, [entry, BUNDLE_OPTIONS]))) : undefined;
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns the sources of the bundle of the code as it is, which is now in the folder, too, if there was one */
  async copyTo(folder: string): Promise<readonly string[] | undefined> {
    for (const digest of await this.#digests()) {
      const kept = join(this.#folder, digest);
      try {
        const sources: string[] = JSON.parse(await readFile(join(kept, SOURCES), 'utf8'));
        if (digestOf(sources) !== digest) continue;
        await cp(join(kept, BUNDLE), folder, { recursive: true });
        // The one that was used last is the last to go.
        await utimes(kept, new Date(), new Date());
        return sources;
      } catch {
        // Another process has let it go meanwhile.
        await rm(folder, { recursive: true, force: true });
      }
    }
    return undefined;
  }

  /** Keeps a bundle that was made since, if the code is still what it was. Several processes may do so at once. */
  async keep(folder: string, sources: readonly string[]): Promise<void> {
    // Saved while it was bundled: which of both was bundled, nobody knows.
    if (digestOf(['lambda']) !== this.#before) return;
    const kept = join(this.#folder, digestOf(sources));
    const unfinished = `${kept}.${randomUUID()}`;
    await mkdir(unfinished, { recursive: true });
    await cp(folder, join(unfinished, BUNDLE), { recursive: true });
    await writeFile(join(unfinished, SOURCES), JSON.stringify(sources));
    // Where another one was faster, its bundle is the same.
    await rename(unfinished, kept).catch(() => rm(unfinished, { recursive: true }));
    const digests = await this.#digests();
    await Promise.all(
      digests.slice(KEPT).map((old) => rm(join(this.#folder, old), { recursive: true, force: true })),
    );
  }

  /** Of what is kept, that which was used last first. */
  async #digests(): Promise<string[]> {
    if (!existsSync(this.#folder)) return [];
    const whole = (await readdir(this.#folder)).filter((name) => !name.includes('.'));
    const used = whole.map(async (digest) => {
      return { digest, at: (await stat(join(this.#folder, digest)).catch(() => undefined))?.mtimeMs ?? 0 };
    });
    return (await Promise.all(used)).sort((a, b) => b.at - a.at).map(({ digest }) => digest);
  }
}

const digestOf = (sources: readonly string[]) => filesDigest(sources, SOURCES);

/** As {@link writeBundles}, but that it takes bundles of the same sources where they are kept. */
export async function writeKeptBundles(
  targets: readonly BundleTarget[],
  sourceMaps: ReturnType<typeof sourceMapReducer>,
): Promise<Bundle[]> {
  const looked = await Promise.all(
    targets.map(async (target) => {
      const kept = KeptBundles.find(target.entry);
      return { target, kept, sources: await kept?.copyTo(target.folder) };
    }),
  );
  const missing = looked.filter(({ sources }) => sources === undefined);
  const built = await writeBundles(
    missing.map(({ target }) => target),
    sourceMaps,
  );
  for (const [index, { target, kept }] of missing.entries()) {
    const bundle = built[index];
    // A warning is to be given again. Where it cannot be kept the next time takes longer, and that is all.
    if (bundle?.warnings.length === 0) await kept?.keep(target.folder, bundle.sources).catch(() => {});
  }
  const rest = built.values();
  return looked.flatMap(({ sources }) =>
    sources === undefined ? (rest.next().value ?? []) : { warnings: [], sources },
  );
}
