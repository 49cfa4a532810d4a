import { realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import {
  type BuildFailure,
  type BuildOptions,
  build,
  formatMessages,
  type Message,
  type Metafile,
} from 'esbuild';
import { SourceMapReducer } from './source-map.ts';

/** How the functions are bundled. `npm run bench -- bundles` shows what each is worth. */
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

/** A function that does not build. The message is for whoever has to mend it: each mistake with its line. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
}

export interface Bundle {
  readonly warnings: readonly Message[];
  /** The functions' own sources that it was made of, from the project's root: `lambda/hash.ts`. */
  readonly sources: readonly string[];
}

/** Reduces source maps of this project. Several bundles may share one: sources are read once. */
export const sourceMapReducer = () => new SourceMapReducer(realpathSync(SOURCES));

/**
 * Bundles one function as it is deployed: with its source maps, which nothing reads before an error is logged.
 * @param entry file that exports the handler, from the project's root
 * @param folder that the files are written to
 * @throws BuildFailure of esbuild where the function does not build
 */
export async function writeBundle(
  entry: string,
  folder: string,
  sourceMaps = sourceMapReducer(),
): Promise<Bundle> {
  const { outputFiles, warnings, metafile } = await build({
    ...BUNDLE_OPTIONS,
    entryPoints: { index: entry },
    outdir: OUTDIR,
    write: false,
    metafile: true,
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
  return { warnings, sources: ownSources(metafile) };
}

/**
 * Bundles one function for a debugger: readable, with source maps that lead to the sources.
 * @param entry file that exports the handler, from the project's root
 * @param folder that the files are written to
 * @throws BuildFailure of esbuild where the function does not build
 */
export async function writeReadableBundle(entry: string, folder: string): Promise<Bundle> {
  const { warnings, metafile } = await build({
    ...BUNDLE_OPTIONS,
    minify: false,
    entryPoints: { index: entry },
    outdir: folder,
    metafile: true,
    sourcemap: 'linked',
    logLevel: 'silent',
  });
  return { warnings, sources: ownSources(metafile) };
}

const ownSources = ({ inputs }: Metafile) =>
  Object.keys(inputs).filter((file) => file.startsWith(`${SOURCES}/`));

/** @throws the reason of a build that failed, where it is not that the code does not build */
export function mistakesIn(reason: Error | BuildFailure): readonly Message[] {
  if ('errors' in reason) return reason.errors;
  throw reason;
}

/** Messages of esbuild for people. Each once, as several functions may share the file that it is about. */
export async function messageText(kind: 'error' | 'warning', messages: readonly Message[]): Promise<string> {
  const pointing = messages.map((message) => ({
    ...message,
    // Notes without a place in the source are advice on esbuild's options.
    notes: message.notes.filter(({ location }) => location !== null),
  }));
  const texts = await formatMessages(pointing, { kind });
  return [...new Set(texts.map((text) => text.trim()))].join('\n\n');
}
