import { createHash, randomUUID } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Environment variables that the CDK and its app read. Source: `process.env` in `lib/` and in aws-cdk-lib's core. */
const VARIABLE = /^(CDK|JSII)_/;

interface AssemblyCache {
  /** Folder with the last assembly, in a subfolder that is named by the digest of its sources. */
  readonly cache: string;
  readonly synthesise: (folder: string, overrides: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Files and folders that a synthesis reads. @default those of this project */
  readonly inputs?: readonly string[];
}

/**
 * Writes the assembly of the current sources: that of the last start if no source has changed, or a new one.
 * @throws errors of the synthesis
 */
export async function writeAssembly(
  folder: string,
  overrides: Readonly<Record<string, unknown>>,
  { cache, synthesise, inputs = SYNTHESIS_INPUTS }: AssemblyCache,
): Promise<void> {
  const digest = digestOf(inputs, overrides);
  const stored = cp(join(cache, digest), folder, { recursive: true });
  if (await stored.then(() => true).catch(() => false)) return;
  await synthesise(folder, overrides);
  // Not stored if a source was saved meanwhile. If storing fails, only the next start takes longer.
  if (digestOf(inputs, overrides) === digest) await store(folder, cache, digest).catch(() => {});
}

/** Stores the assembly by a rename, so that another start never copies half of it. */
async function store(assembly: string, cache: string, digest: string): Promise<void> {
  const temporary = join(cache, randomUUID());
  await rm(cache, { recursive: true, force: true });
  await cp(assembly, temporary, { recursive: true });
  await rename(temporary, join(cache, digest));
}

function digestOf(inputs: readonly string[], overrides: Readonly<Record<string, unknown>>): string {
  const environment = Object.entries(process.env).filter(([name]) => VARIABLE.test(name));
  const hash = createHash('sha256').update(JSON.stringify([process.version, overrides, environment.sort()]));
  const paths = globSync(inputs.flatMap((path) => [path, `${path}/**`])).sort();
  for (const path of paths) {
    if (statSync(path).isFile()) hash.update(`\0${path}\0`).update(readFileSync(path));
  }
  return hash.digest('hex');
}

/**
 * Everything that a synthesis reads, relative to the project's root. Installed packages are represented by
 * the lock file in `node_modules`, which `npm ci` rewrites.
 */
export const SYNTHESIS_INPUTS = [
  'bin',
  'cdk.json',
  'lambda',
  'lib',
  'node_modules/.package-lock.json',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
];
