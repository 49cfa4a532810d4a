import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { deserialize, serialize } from 'node:v8';

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
  'local/template/synthesise.ts',
  'node_modules/.package-lock.json',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
];

/** Environment variables that the CDK and its app read. Source: `process.env` in `lib/` and in aws-cdk-lib's core. */
const VARIABLE = /^(CDK|JSII)_/;

/**
 * Enough for the default stage, one with a REST API, and a change that is tried and reverted. Each takes about 9 MB.
 */
const MAX_KEPT = 3;

/** Length of a SHA-256. */
const CHECKSUM_BYTES = 32;

interface KeptAssembliesOptions {
  /** Folder of the cached assemblies. */
  readonly folder: string;
  /** Writes a cloud assembly. */
  readonly synthesise: (folder: string, overrides: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Files and folders that it reads. @default those of this project */
  readonly madeOf?: readonly string[];
}

/**
 * Cache of cloud assemblies from earlier starts, each in one file named by the digest of its sources. If nothing has
 * changed, it equals a new synthesis.
 */
export class KeptAssemblies {
  readonly #options: KeptAssembliesOptions;

  constructor(options: KeptAssembliesOptions) {
    this.#options = options;
  }

  /** Writes the assembly of the current sources. @throws errors of the synthesis */
  async write(folder: string, overrides: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const digest = this.#digest(overrides);
    const file = join(this.#options.folder, digest);
    const kept = await readFile(file)
      .then(unpacked)
      .catch(() => undefined);
    if (kept !== undefined) {
      await Promise.all(Object.entries(kept).map(([path, content]) => writeAt(join(folder, path), content)));
      // Marks it as used, because the least recently used one is removed first. It may already be gone.
      await utimes(file, new Date(), new Date()).catch(() => {});
      return;
    }
    await this.#options.synthesise(folder, overrides);
    // A source was saved meanwhile, so it is unknown which version was synthesised.
    if (this.#digest(overrides) !== digest) return;
    // If it cannot be stored, only the next start takes longer.
    await this.#keep(file, folder).catch(() => {});
  }

  async #keep(file: string, folder: string): Promise<void> {
    await mkdir(dirname(file), { recursive: true });
    // Rename is atomic, in case another start runs at the same time.
    const unfinished = `${file}.${randomUUID()}`;
    await writeFile(unfinished, await packed(folder));
    await rename(unfinished, file);
    const files = await Promise.all(
      (await readdir(dirname(file))).map(async (name) => {
        const path = join(dirname(file), name);
        return { path, at: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
      }),
    );
    const old = files.sort((a, b) => b.at - a.at).slice(MAX_KEPT);
    await Promise.all(old.map(({ path }) => rm(path, { force: true })));
  }

  #digest(overrides: Readonly<Record<string, unknown>>): string {
    const environment = Object.entries(process.env).filter(([name]) => VARIABLE.test(name));
    return filesDigest(this.#options.madeOf ?? MADE_OF, [process.version, overrides, environment.sort()]);
  }
}

/** All files of a folder, after their checksum. */
async function packed(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [relative(folder, path), await readFile(path)] as const;
    });
  const content = serialize(Object.fromEntries(await Promise.all(files)));
  return Buffer.concat([checksum(content), content]);
}

/** @returns undefined if the checksum is wrong */
function unpacked(file: Buffer): Readonly<Record<string, Uint8Array>> | undefined {
  const content = file.subarray(CHECKSUM_BYTES);
  return checksum(content).equals(file.subarray(0, CHECKSUM_BYTES)) ? deserialize(content) : undefined;
}

async function writeAt(path: string, content: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

const checksum = (content: Uint8Array) => createHash('sha256').update(content).digest();

/**
 * Digest of the names and content of files, and of all files in folders. Follows symbolic links. A missing file changes
 * the digest, too.
 * @param besides further data to include
 */
export function filesDigest(paths: readonly string[], besides: unknown): string {
  const files = paths.flatMap((path) => filesIn(path)).sort();
  const hash = createHash('sha256').update(JSON.stringify(besides));
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

/** @param above the folders on the path to it: a link to one of them leads to nothing new */
function filesIn(path: string, above: readonly string[] = []): string[] {
  if (!existsSync(path)) return [];
  const kind = statSync(path);
  if (!kind.isDirectory()) return kind.isFile() ? [path] : [];
  const real = realpathSync(path);
  if (above.includes(real)) return [];
  return readdirSync(path).flatMap((name) => filesIn(join(path, name), [...above, real]));
}
