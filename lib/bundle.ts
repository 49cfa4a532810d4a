import { realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import {
  type BuildFailure,
  type BuildOptions,
  build,
  formatMessages,
  type Message,
  type Metafile,
  type OutputFile,
  type Plugin,
} from 'esbuild';
import { SourceMapReducer } from './source-map.ts';

/** How the functions are bundled. `npm run bench -- bundles` shows what each is worth. */
export const BUNDLE_OPTIONS: BuildOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
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

/** What is imported on demand: files of ours, and what the SDK's clients read streams of events with. */
const ON_DEMAND = /\.ts$|\/event-streams$/;

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
  const { files, ...bundle } = await buildFunction({
    entryPoints: { index: entry },
    outdir: OUTDIR,
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'silent',
  });
  await writeFiles(
    files.map(({ path, text }) => ({
      path: join(folder, basename(path)),
      text: path.endsWith('.map') ? sourceMaps.reduce(text, resolve(OUTDIR)) : text,
    })),
  );
  return bundle;
}

/**
 * Bundles one function for a debugger: readable, with source maps that lead to the sources.
 * @param entry file that exports the handler, from the project's root
 * @param folder that the files are written to
 * @throws BuildFailure of esbuild where the function does not build
 */
export async function writeReadableBundle(entry: string, folder: string): Promise<Bundle> {
  const { files, ...bundle } = await buildFunction({
    minify: false,
    entryPoints: { index: entry },
    outdir: folder,
    sourcemap: 'linked',
    logLevel: 'silent',
  });
  await writeFiles(files);
  return bundle;
}

/**
 * Builds a function as one file, and all that it imports on demand as one file each, with a copy of what both need. With
 * esbuild's `splitting` both would share it, and a start would read of the SDK what only the S3 client calls.
 * @param options that differ from {@link BUNDLE_OPTIONS}
 * @throws BuildFailure of esbuild where it does not build
 */
export async function buildFunction(
  options: BuildOptions,
): Promise<Bundle & { readonly files: readonly OutputFile[] }> {
  const { entryPoints, stdin, plugins = [], ...common } = options;
  const files: OutputFile[] = [];
  const warnings: Message[] = [];
  const sources = new Set<string>();
  /** Source of each file that is imported on demand, by its name. */
  const found = new Map<string, string>();
  const built = new Set<string>();
  let next: BuildOptions = { ...(entryPoints && { entryPoints }), ...(stdin && { stdin }) };
  for (;;) {
    const result = await build({
      ...BUNDLE_OPTIONS,
      ...common,
      ...next,
      plugins: [...plugins, onDemand(found)],
      metafile: true,
      write: false,
    });
    files.push(...result.outputFiles);
    warnings.push(...result.warnings);
    for (const source of ownSources(result.metafile)) sources.add(source);
    const names = importedFiles(result.metafile).filter((name) => !built.has(name));
    if (names.length === 0) return { files, warnings, sources: [...sources] };
    for (const name of names) built.add(name);
    next = { entryPoints: Object.fromEntries(names.map((name) => [name, found.get(name) ?? name])) };
  }
}

/** Leaves imports on demand as they are, of files beside the one that imports. @param found gets their sources, by their names */
const onDemand = (found: Map<string, string>): Plugin => ({
  name: 'on-demand',
  setup: ({ onResolve, resolve }) => {
    onResolve({ filter: ON_DEMAND }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === onDemand) return undefined;
      const { errors, path: source } = await resolve(path, {
        kind,
        importer,
        resolveDir,
        pluginData: onDemand,
      });
      if (errors.length > 0) return { errors };
      const name = basename(path, '.ts');
      const same = found.get(name) ?? source;
      if (same !== source)
        return { errors: [{ text: `Imported on demand, ${source} and ${same} need names of their own` }] };
      found.set(name, source);
      return { path: `./${name}.mjs`, external: true };
    });
  },
});

/** Names of the files that are imported on demand, and not only by code that was left out. */
const importedFiles = ({ outputs }: Metafile) =>
  Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ kind, path }) => kind === 'dynamic-import' && path.startsWith('./'))
    .map(({ path }) => basename(path, '.mjs'));

export async function writeFiles(files: readonly Pick<OutputFile, 'path' | 'text'>[]): Promise<void> {
  for (const { path, text } of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
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
