import { realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import {
  type BuildFailure,
  type BuildOptions,
  type BuildResult,
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

/** A function, and where its code goes. */
export interface BundleTarget {
  /** File that exports the handler, from the project's root. */
  readonly entry: string;
  readonly folder: string;
}

/**
 * Bundles functions as they are deployed: with their source maps, which nothing reads before an error is logged. All of them
 * at once, as esbuild then reads what they share once, and a third of the time is enough.
 * @returns one for each, with the warnings of all
 * @throws BuildFailure of esbuild where one does not build
 */
export async function writeBundles(
  targets: readonly BundleTarget[],
  sourceMaps = sourceMapReducer(),
): Promise<Bundle[]> {
  if (targets.length === 0) return [];
  const built = await buildFunctions(
    targets.map(({ entry }) => entry),
    { outdir: OUTDIR, sourcemap: 'external', sourcesContent: false, logLevel: 'silent' },
  );
  // One by one: functions have the same maps of what they import on demand.
  for (const [index, { files }] of built.entries()) {
    const { folder = '' } = targets[index] ?? {};
    await writeFiles(
      files.map(({ path, text }) => ({
        path: join(folder, basename(path)),
        text: path.endsWith('.map') ? sourceMaps.reduce(text, resolve(OUTDIR)) : text,
      })),
    );
  }
  return built.map(({ warnings, sources }) => ({ warnings, sources }));
}

/**
 * Bundles one function for a debugger: readable, with source maps that lead to the sources.
 * @param entry file that exports the handler, from the project's root
 * @param folder that the files are written to
 * @throws BuildFailure of esbuild where the function does not build
 */
export async function writeReadableBundle(entry: string, folder: string): Promise<Bundle> {
  const { files, ...bundle } = await buildFunction(entry, {
    minify: false,
    outdir: folder,
    sourcemap: 'linked',
    logLevel: 'silent',
  });
  await writeFiles(files);
  return bundle;
}

/** As {@link buildFunctions}, of one. */
export async function buildFunction(entry: string, options: BuildOptions): Promise<BuiltFunction> {
  const [built] = await buildFunctions([entry], options);
  // Stryker disable next-line all: tells the compiler what the line above has made sure of.
  if (built === undefined) throw new Error('unreachable: one for each entry');
  return built;
}

/** The name of the file that exports the handler. */
const ENTRY = 'index';

interface BuiltFunction extends Bundle {
  readonly files: readonly Pick<OutputFile, 'path' | 'text'>[];
}

/**
 * Builds functions: each as one file, and all that it imports on demand as one file each, with a copy of what both need. With
 * esbuild's `splitting` both would share it, and a start would read of the SDK what only the S3 client calls.
 * @param options that differ from {@link BUNDLE_OPTIONS}
 * @returns one for each entry, with the warnings of all
 * @throws BuildFailure of esbuild where one does not build
 */
export async function buildFunctions(
  entries: readonly string[],
  options: BuildOptions,
): Promise<BuiltFunction[]> {
  const onDemand = new Map<string, string>();
  const plugins = [...(options.plugins ?? []), leaveOnDemand(onDemand)];
  const warnings: Message[] = [];
  const inputs: Metafile['inputs'] = {};
  /** Builds a file of each source, by its name. */
  const buildFiles = async (entryPoints: Record<string, string>): Promise<Map<string, BuiltFile>> => {
    const common = { ...BUNDLE_OPTIONS, ...options, plugins };
    const result = await build({ ...common, entryPoints, metafile: true, write: false });
    warnings.push(...result.warnings);
    Object.assign(inputs, result.metafile.inputs);
    return new Map(Object.keys(entryPoints).map((name) => [name, builtFile(name, result)]));
  };

  const names = entries.length === 1 ? [ENTRY] : entries.map((_, index) => `${ENTRY}-${index}`);
  const starts = await buildFiles(
    Object.fromEntries(names.map((name, index) => [name, entries[index] ?? ''])),
  );
  const later = new Map<string, BuiltFile>();
  const missing = () =>
    [...starts.values(), ...later.values()]
      .flatMap(({ imports }) => imports)
      .filter((name) => !later.has(name));
  for (let names = missing(); names.length > 0; names = missing()) {
    const files = await buildFiles(
      Object.fromEntries(names.map((name) => [name, onDemand.get(name) ?? name])),
    );
    for (const [name, file] of files) later.set(name, file);
  }

  return [...starts].map(([name, start], index) => {
    const imported = new Set(start.imports);
    for (const one of imported) for (const further of later.get(one)?.imports ?? []) imported.add(further);
    return {
      files: [
        ...start.files.map(({ path, text }) => ({ path: path.replace(`${name}.mjs`, `${ENTRY}.mjs`), text })),
        ...[...imported].flatMap((one) => later.get(one)?.files ?? []),
      ],
      warnings,
      sources: ownSources(
        [entries[index] ?? '', ...[...imported].map((one) => onDemand.get(one) ?? '')],
        inputs,
      ),
    };
  });
}

/** A file that was built, its map, and the names of what it imports on demand. */
interface BuiltFile {
  readonly files: readonly OutputFile[];
  readonly imports: readonly string[];
}

function builtFile(
  name: string,
  { outputFiles, metafile }: BuildResult<{ metafile: true; write: false }>,
): BuiltFile {
  const [, output] =
    Object.entries(metafile.outputs).find(([path]) => basename(path) === `${name}.mjs`) ?? [];
  return {
    files: outputFiles.filter(({ path }) => [`${name}.mjs`, `${name}.mjs.map`].includes(basename(path))),
    // And not what only code imports that was left out.
    imports: (output?.imports ?? [])
      .filter(({ kind, path }) => kind === 'dynamic-import' && path.startsWith('./'))
      .map(({ path }) => basename(path, '.mjs')),
  };
}

/** The functions' own sources that files are made of. */
function ownSources(files: readonly string[], inputs: Metafile['inputs']): string[] {
  const seen = new Set(files.map((file) => relative('.', file)));
  for (const file of seen) {
    for (const { path, external } of inputs[file]?.imports ?? []) if (!external) seen.add(path);
  }
  return [...seen].filter((file) => file.startsWith(`${SOURCES}/`));
}

/** Leaves imports on demand as they are, of files beside the one that imports. @param found gets their sources, by their names */
const leaveOnDemand = (found: Map<string, string>): Plugin => ({
  name: 'on-demand',
  setup: ({ onResolve, resolve }) => {
    onResolve({ filter: ON_DEMAND }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === leaveOnDemand) return undefined;
      const { errors, path: source } = await resolve(path, {
        kind,
        importer,
        resolveDir,
        pluginData: leaveOnDemand,
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

export async function writeFiles(files: readonly Pick<OutputFile, 'path' | 'text'>[]): Promise<void> {
  for (const { path, text } of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

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
