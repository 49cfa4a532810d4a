import { createHash, randomUUID } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Everything that a synthesis reads, relative to the project's root, and the installed packages: `npm ci` rewrites the
 * installed lock file.
 */
export const MADE_OF = [
  'bin',
  'cdk.json',
  'check-node.js',
  'lambda',
  'lib',
  'tools/local/template/synthesise.ts',
  'node_modules/.package-lock.json',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
];

/** Environment variables that the CDK and its app read. Source: `process.env` in `lib/` and in aws-cdk-lib's core. */
const VARIABLE = /^(CDK|JSII)_/;

interface KeptAssembliesOptions {
  /** Where the last assembly is stored: in a folder that is named by the digest of its sources. */
  readonly folder: string;
  /** Writes a cloud assembly. */
  readonly synthesise: (folder: string, overrides: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Files and folders that it reads. @default those of this project */
  readonly madeOf?: readonly string[];
}

/** The cloud assembly of the last start. If no source has changed since, it equals a new synthesis. */
export class KeptAssemblies {
  readonly #options: KeptAssembliesOptions;

  constructor(options: KeptAssembliesOptions) {
    this.#options = options;
  }

  /** Writes the assembly of the current sources. @throws errors of the synthesis */
  async write(folder: string, overrides: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const digest = this.#digest(overrides);
    const kept = cp(join(this.#options.folder, digest), folder, { recursive: true });
    if (await kept.then(() => true).catch(() => false)) return;
    await this.#options.synthesise(folder, overrides);
    // If a source was saved meanwhile, it is unknown which version was synthesised. If the assembly cannot be stored,
    // only the next start takes longer.
    if (this.#digest(overrides) === digest) await this.#keep(folder, digest).catch(() => {});
  }

  /** Renames, because another start may copy the folder, and must not find half of it. */
  async #keep(assembly: string, digest: string): Promise<void> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true });
    const aside = join(folder, randomUUID());
    for (const name of await readdir(folder)) {
      await rename(join(folder, name), aside);
      await rm(aside, { recursive: true });
    }
    await cp(assembly, aside, { recursive: true });
    await rename(aside, join(folder, digest));
  }

  #digest(overrides: Readonly<Record<string, unknown>>): string {
    const { madeOf = MADE_OF } = this.#options;
    const environment = Object.entries(process.env).filter(([name]) => VARIABLE.test(name));
    const hash = createHash('sha256').update(
      JSON.stringify([process.version, overrides, environment.sort()]),
    );
    const paths = globSync(madeOf.flatMap((path) => [path, `${path}/**`])).sort();
    for (const path of paths) {
      if (statSync(path).isFile()) hash.update(`\0${path}\0`).update(readFileSync(path));
    }
    return hash.digest('hex');
  }
}
