import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import {
  type BuildFailure,
  type BuildOptions,
  build,
  formatMessages,
  type Message,
  type Metafile,
  type Plugin,
} from 'esbuild';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';

/** File that exports `handler`, from the project's root, by the function's name. */
export const functionEntries: Readonly<Record<string, string>> = {
  receiver: 'lambda/receiver/handler.ts',
  'smoke-test': 'lambda/smoke-test/handler.ts',
  ...Object.fromEntries(
    eventNames.map((event) => [kebabCase(event), `lambda/events/${kebabCase(event)}/consumer.ts`]),
  ),
};

const BUNDLE_OPTIONS: BuildOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Uses the SDK's ES modules, because esbuild can drop unused code only in these.
  mainFields: ['module', 'main'],
  alias: {
    '@aws-sdk/credential-provider-node': './lambda/environment-credentials.ts',
    bowser: './lambda/no-browser.ts',
  },
  outExtension: { '.js': '.mjs' },
  legalComments: 'none',
  logLevel: 'silent',
};

/** Modules that are imported on demand: our own files, and the SDK's reader of event streams. */
const ON_DEMAND = /\.ts$|\/event-streams$/;

/** Folder of the bundles in a cloud assembly. */
const BUNDLES = 'bundles';

/** File of a cloud assembly that lists the sources of the bundles, for `npm start`. It is not deployed. */
export const BUNDLE_LIST = 'bundles.json';

/** Each function's bundle, by the function's name: `receiver`, `smoke-test`, or an event in kebab case. */
export type BundleList = Readonly<
  Record<string, { readonly entry: string; readonly sources: readonly string[] }>
>;

/** A function does not build. The message lists each error with its line. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
}

export interface BundleTarget {
  /** File that exports the handler, from the project's root. */
  readonly entry: string;
  readonly folder: string;
}

export interface Bundle {
  readonly warnings: readonly Message[];
  /** Our own sources that the function imports, from the project's root: `lambda/hash.ts`. */
  readonly sources: readonly string[];
}

/**
 * Bundles all functions, ready to deploy, into a cloud assembly. The CDK's `NodejsFunction` would start npx and esbuild
 * once for each function, which takes most of the time of a synthesis.
 * @returns the folder with a subfolder per function that has its code
 * @throws BundleError if a function does not build
 */
export async function bundleFunctions(assembly: string): Promise<string> {
  const folder = join(assembly, BUNDLES);
  // Removes the files of an earlier synthesis, which would otherwise be deployed too.
  await rm(folder, { recursive: true, force: true });
  const functions = Object.entries(functionEntries);
  const targets = functions.map(([name, entry]) => ({ entry, folder: join(folder, name) }));
  const bundles = await writeBundles(targets).catch(async (reason) => {
    throw new BundleError(await messageText('error', mistakesIn(reason)));
  });
  const warnings = bundles.flatMap((bundle) => bundle.warnings);
  if (warnings.length > 0) console.error(await messageText('warning', warnings));
  const list: BundleList = Object.fromEntries(
    functions.map(([name, entry], index) => [name, { entry, sources: bundles[index]?.sources ?? [] }]),
  );
  await writeFile(join(assembly, BUNDLE_LIST), JSON.stringify(list));
  return folder;
}

/**
 * Bundles functions as they are deployed, with reduced source maps, which are read only if an error is logged. All
 * functions are bundled in one call: esbuild then reads shared files once, and takes a third of the time.
 * @returns one bundle for each target, with the warnings of all
 * @throws BuildFailure of esbuild if one does not build
 */
export async function writeBundles(targets: readonly BundleTarget[]): Promise<Bundle[]> {
  const bundles = await buildFunctions(targets, { sourcemap: 'external', sourcesContent: false });
  for (const [index, { files }] of bundles.entries()) {
    const reduced = files.map((file) => ({ ...file, map: file.map && reduceSourceMap(file.map) }));
    await writeFiles(targets[index]?.folder ?? '', reduced);
  }
  return bundles;
}

/**
 * Bundles one function with other options than for a deployment.
 * @param options that differ from {@link BUNDLE_OPTIONS}
 * @throws BuildFailure of esbuild if it does not build
 */
export async function writeBundle(target: BundleTarget, options: BuildOptions): Promise<Bundle> {
  const [bundle = { files: [], warnings: [], sources: [] }] = await buildFunctions([target], options);
  await writeFiles(target.folder, bundle.files);
  return bundle;
}

interface BuiltFile {
  /** `index`, or the name of a module that is imported on demand. */
  readonly name: string;
  readonly code: string;
  readonly map: string | undefined;
  /** Our own sources that the file imports, from the project's root. */
  readonly sources: readonly string[];
  /** Names of the files that this file imports on demand. */
  readonly imports: readonly string[];
  /** Warnings of the build that wrote the file. */
  readonly warnings: readonly Message[];
}

async function writeFiles(folder: string, files: readonly BuiltFile[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { name, code, map } of files) {
    await writeFile(join(folder, `${name}.mjs`), code);
    if (map !== undefined) await writeFile(join(folder, `${name}.mjs.map`), map);
  }
}

/**
 * Builds functions: each as one file, and each module imported on demand as another, with its own copy of shared code.
 * With esbuild's `splitting` the files would share that code, and a start would load parts of the SDK that only the S3
 * client uses.
 */
async function buildFunctions(
  targets: readonly BundleTarget[],
  options: BuildOptions,
): Promise<(Bundle & { readonly files: readonly BuiltFile[] })[]> {
  const onDemand = new Map<string, string>();
  const plugins = [...(options.plugins ?? []), leaveOnDemand(onDemand)];
  const starts = await buildFiles(
    targets.map(({ folder, entry }) => [resolve(folder, 'index'), entry]),
    { ...options, plugins },
  );
  const later = new Map<string, BuiltFile>();
  // A module that is imported on demand may import another one on demand.
  while (later.size < onDemand.size) {
    const missing = [...onDemand].filter(([name]) => !later.has(name));
    const built = await buildFiles(
      missing.map(([name, source]) => [resolve(targets[0]?.folder ?? '', name), source]),
      { ...options, plugins },
    );
    for (const file of built) later.set(file.name, file);
  }
  return starts.map((start) => {
    const files = new Set([start]);
    for (const { imports } of files) for (const name of imports) files.add(later.get(name) ?? start);
    return {
      files: [...files],
      warnings: [...files].flatMap((file) => file.warnings),
      sources: [...new Set([...files].flatMap((file) => file.sources))],
    };
  });
}

/** @param files path of each file, without its extension, and its source */
async function buildFiles(
  files: readonly (readonly [path: string, source: string])[],
  options: BuildOptions,
): Promise<BuiltFile[]> {
  const root = resolve('/');
  const { outputFiles, metafile, warnings } = await build({
    ...BUNDLE_OPTIONS,
    ...options,
    // esbuild's own default is the folder in which it was loaded.
    absWorkingDir: process.cwd(),
    entryPoints: Object.fromEntries(files.map(([path, source]) => [relative(root, path), source])),
    outdir: root,
    metafile: true,
    write: false,
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [resolve(path), output]));
  return files.map(([path, source]) => {
    const { imports = [] } = outputs.get(`${path}.mjs`) ?? {};
    return {
      name: basename(path),
      code: texts.get(`${path}.mjs`) ?? '',
      map: texts.get(`${path}.mjs.map`),
      sources: ownSources(source, metafile.inputs),
      imports: imports
        .filter((one) => one.kind === 'dynamic-import' && one.path.startsWith('./'))
        .map((one) => basename(one.path, '.mjs')),
      warnings,
    };
  });
}

/** A file and what it imports: our own files, also those that add no bytes to the bundle, such as dropped code. */
function ownSources(source: string, inputs: Metafile['inputs']): string[] {
  const found = new Set([relative('.', source)]);
  for (const file of found) {
    for (const { path, external } of inputs[file]?.imports ?? []) if (!external) found.add(path);
  }
  return [...found].filter((file) => file.startsWith('lambda/'));
}

/**
 * An esbuild plugin that keeps imports on demand as imports of separate files.
 * @param found is filled with the sources of these files, by their names
 */
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

/**
 * @returns the mistakes in the code
 * @throws the error itself, if a build failed for another reason
 */
export function mistakesIn(reason: Error | BuildFailure): readonly Message[] {
  if ('errors' in reason) return reason.errors;
  throw reason;
}

/** Messages of esbuild as text, each once, because several functions may share a file. */
export async function messageText(kind: 'error' | 'warning', messages: readonly Message[]): Promise<string> {
  const pointing = messages.map((message) => ({
    ...message,
    // Notes without a source position are advice on esbuild's options.
    notes: message.notes.filter(({ location }) => location !== null),
  }));
  const texts = await formatMessages(pointing, { kind });
  return [...new Set(texts.map((text) => text.trim()))].join('\n\n');
}

/**
 * Matches the part of a source path that a log line shows: a path from the project's root, or the folder of the
 * innermost package.
 */
const NAMED = /.*\/(node_modules\/(?:@[^/]+\/)?[^/]+)|.*\/(lambda\/.+)/;

/**
 * Reduces the source map of a bundle to what a logged stack frame shows (`lambda/source-stack.ts`): path and line for
 * our own code, and the folder of the package for a dependency. The result has a fiftieth of the size, and no path of
 * the computer that built it. Node.js' own `--enable-source-maps` parses the whole map before the first request, which
 * takes 10 % of the start.
 * @param map JSON text. Source: ECMA-426, "Source map format"
 */
function reduceSourceMap(map: string): string {
  const { sources, mappings }: { sources: readonly string[]; mappings: string } = JSON.parse(map);
  const files = sources.map((source) => {
    const [, packageFolder, own] = NAMED.exec(source) ?? [];
    return { name: packageFolder ?? own ?? '', isOwn: packageFolder === undefined };
  });
  const names = [...new Set(files.map(({ name }) => name))];
  const reduced = decode(mappings).map((segments) => {
    const distinct: SourceMapSegment[] = [];
    for (const [column, index = -1, sourceLine = 0] of segments) {
      const file = files[index];
      if (file === undefined) continue;
      const [source, line] = [names.indexOf(file.name), file.isOwn ? sourceLine : 0];
      const last = distinct.at(-1);
      if (last?.[1] !== source || last[2] !== line) distinct.push([column, source, line, 0]);
    }
    return distinct;
  });
  return JSON.stringify({ version: 3, sources: names, names: [], mappings: encode(reduced) });
}
