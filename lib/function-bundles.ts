import { realpathSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import { type BuildFailure, type BuildOptions, build, formatMessages, type Message } from 'esbuild';
import { eventNames } from '../lambda/contract/catalogue.ts';
import { kebabCase } from '../lambda/contract/event-names.ts';
import { SourceMapReducer } from './source-map.ts';

/** How the functions are bundled. `bench/start-up.ts` shows what each choice is worth. */
export const BUNDLE_OPTIONS: BuildOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // What is imported on demand stays in a file of its own, which is read on demand.
  splitting: true,
  // The SDK's module builds: esbuild drops what is not used, which it cannot in CommonJS builds.
  mainFields: ['module', 'main'],
  alias: {
    '@aws-sdk/credential-provider-node': './lambda/environment-credentials.ts',
    bowser: './lambda/no-browser.ts',
  },
  outExtension: { '.js': '.mjs' },
  legalComments: 'none',
  logLevel: 'warning',
};

/** The functions' own sources, from the project's root. */
const SOURCES = 'lambda';

/** Where esbuild is told that bundles go: it hashes into their names how a map names the sources from there. */
const OUTDIR = 'bundle';

/** File that exports `handler`, from the project's root, by the function's name. */
const entries: Readonly<Record<string, string>> = {
  receiver: 'lambda/receiver/handler.ts',
  'smoke-test': 'lambda/smoke-test/handler.ts',
  ...Object.fromEntries(
    eventNames.map((event) => [kebabCase(event), `lambda/consumers/${kebabCase(event)}.ts`]),
  ),
};

/** A function that does not build. The message is for whoever has to mend it: each mistake with its line. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
}

/** The functions' code, ready to deploy: a folder of minified files for each, with everything it imports. */
export class FunctionBundles {
  readonly #folder: string;

  /**
   * Bundles all functions at once. `NodejsFunction` starts npx and esbuild for one after the other, which
   * takes most of the time of a synthesis.
   * @param outdir of the cloud assembly
   * @throws BundleError where a function does not build
   */
  static async build(outdir: string): Promise<FunctionBundles> {
    const folder = join(outdir, 'bundles');
    // Files are named by their content: those of an earlier synthesis would be deployed, too.
    await rm(folder, { recursive: true, force: true });
    const sourceMaps = new SourceMapReducer(realpathSync(SOURCES));
    const builds = await Promise.allSettled(
      Object.entries(entries).map(([name, entry]) => writeBundle(entry, join(folder, name), sourceMaps)),
    );
    const errors = builds.flatMap((build) => (build.status === 'rejected' ? errorsOf(build.reason) : []));
    if (errors.length > 0) throw new BundleError(await text('error', errors));
    const warnings = builds.flatMap((build) => (build.status === 'fulfilled' ? build.value : []));
    if (warnings.length > 0) console.error(await text('warning', warnings));
    return new FunctionBundles(folder);
  }

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param name `receiver`, `smoke-test`, or an event in kebab case */
  code(name: string): AssetCode {
    return Code.fromAsset(join(this.#folder, name));
  }
}

/** @throws the reason, where it is not that the code does not build */
function errorsOf(reason: Error | BuildFailure): readonly Message[] {
  if ('errors' in reason) return reason.errors;
  throw reason;
}

/** Each message once, as several functions may share the file that it is about. */
async function text(kind: 'error' | 'warning', messages: readonly Message[]): Promise<string> {
  const pointing = messages.map((message) => ({
    ...message,
    // Notes without a place in the source are advice on esbuild's options.
    notes: message.notes.filter(({ location }) => location !== null),
  }));
  const texts = await formatMessages(pointing, { kind });
  return [...new Set(texts.map((text) => text.trim()))].join('\n\n');
}

/**
 * Bundles one function as it is deployed: with its source maps, which nothing reads before an error is logged.
 * @param entry file that exports the handler, from the project's root
 * @param folder that the files are written to
 * @param sourceMaps that several bundles may share: sources are read once
 * @returns esbuild's warnings
 * @throws BuildFailure of esbuild where the function does not build
 */
export async function writeBundle(
  entry: string,
  folder: string,
  sourceMaps = new SourceMapReducer(realpathSync(SOURCES)),
): Promise<readonly Message[]> {
  const { outputFiles, warnings } = await build({
    ...BUNDLE_OPTIONS,
    entryPoints: { index: entry },
    outdir: OUTDIR,
    write: false,
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'silent',
  });
  await mkdir(folder, { recursive: true });
  await Promise.all(
    outputFiles.map(({ path, text }) =>
      writeFile(
        join(folder, basename(path)),
        path.endsWith('.map') ? sourceMaps.reduce(text, resolve(OUTDIR)) : text,
      ),
    ),
  );
  return warnings;
}
