import { realpathSync } from 'node:fs';
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

/** Modules that are imported on demand, because few requests need them and their clients are large. */
const ON_DEMAND = ['lambda/queue/payload-store.ts', 'lambda/effects/cloudfront-distribution.ts'];

const BUNDLE_OPTIONS: BuildOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Uses the SDK's ES modules, because esbuild can drop unused code only in these.
  mainFields: ['module', 'main'],
  alias: { '@aws-sdk/credential-provider-node': './lambda/environment-credentials.ts' },
  outExtension: { '.js': '.mjs' },
  legalComments: 'none',
  logLevel: 'silent',
};

/** Folder of the bundles in a cloud assembly. */
const BUNDLES = 'bundles';

/** File of a cloud assembly that lists the sources of the bundles, for `npm start`. It is not deployed. */
export const BUNDLE_LIST = 'bundles.json';

/** The sources of each function, by its name in {@link functionEntries}. */
export type BundleList = Readonly<Record<string, Bundle['sources']>>;

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
    functions.map(([name], index) => [name, bundles[index]?.sources ?? []]),
  );
  await writeFile(join(assembly, BUNDLE_LIST), JSON.stringify(list));
  return folder;
}

/**
 * Bundles functions: each as one file, and each module of {@link ON_DEMAND} as another, with its own copy of shared
 * code. With esbuild's `splitting` the files would share that code, and the receiver would load 40 KB more to start,
 * which only the S3 client uses. All functions are bundled in one call: esbuild then reads shared files once, and takes
 * a third of the time.
 * @param options that differ from {@link BUNDLE_OPTIONS}. External source maps are reduced. @default those for a
 * deployment
 * @returns one bundle for each target, with the warnings of all
 * @throws BuildFailure of esbuild if one does not build
 */
export async function writeBundles(
  targets: readonly BundleTarget[],
  { plugins = [], ...options }: BuildOptions = { sourcemap: 'external', sourcesContent: false },
): Promise<Bundle[]> {
  const root = resolve('/');
  // Source maps are relative to these paths. Only the map of a single function is written as it is.
  const indexOf = ({ folder }: BundleTarget) => resolve(folder, 'index');
  const laterOf = (module: string, folder = targets[0]?.folder ?? root) => resolve(folder, nameOf(module));
  const { outputFiles, metafile, warnings } = await build({
    ...BUNDLE_OPTIONS,
    ...options,
    plugins: [...plugins, onDemand],
    // esbuild's own default is the folder in which it was loaded.
    absWorkingDir: process.cwd(),
    entryPoints: [
      ...targets.map((target) => ({ in: target.entry, out: relative(root, indexOf(target)) })),
      ...ON_DEMAND.map((module) => ({ in: module, out: relative(root, laterOf(module)) })),
    ],
    outdir: root,
    metafile: true,
    write: false,
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));

  /** Writes a built file, and its source map. */
  async function write(built: string, file: string): Promise<void> {
    const code = texts.get(`${built}.mjs`);
    if (code === undefined) throw new Error(`esbuild wrote no ${built}.mjs`);
    await writeFile(`${file}.mjs`, code);
    const map = texts.get(`${built}.mjs.map`);
    if (map === undefined) return;
    const written = options.sourcemap === 'external' ? reduceSourceMap(map) : map;
    await writeFile(`${file}.mjs.map`, written);
  }

  return await Promise.all(
    targets.map(async (target) => {
      const { entry, folder } = target;
      const index = indexOf(target);
      const imports = metafile.outputs[relative('.', `${index}.mjs`)]?.imports ?? [];
      const later = ON_DEMAND.filter((module) => imports.some(({ path }) => path === importPath(module)));
      await mkdir(folder, { recursive: true });
      await write(index, index);
      for (const module of later) await write(laterOf(module), laterOf(module, folder));
      return { warnings, sources: ownSources([entry, ...later], metafile.inputs) };
    }),
  );
}

const nameOf = (module: string) => basename(module, '.ts');

/** The import of a module on demand in a bundle. */
const importPath = (module: string) => `./${nameOf(module)}.mjs`;

const onDemand: Plugin = {
  name: 'on-demand',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /\.ts$/ }, ({ path, kind, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined;
      // The folder of a file behind a link is that of the file.
      const imported = realpathSync(resolve(resolveDir, path));
      const module = ON_DEMAND.find((one) => realpathSync(one) === imported);
      return module === undefined
        ? { errors: [{ text: `${imported} is imported on demand, but not listed in ON_DEMAND` }] }
        : { path: importPath(module), external: true };
    });
    // No function calls an operation with an event stream.
    onResolve({ filter: /\/event-streams$/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, namespace: 'unused' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: '', loader: 'empty' }));
  },
};

/** Files and what they import: our own files, also those that add no bytes to the bundle, such as dropped code. */
function ownSources(files: readonly string[], inputs: Metafile['inputs']): string[] {
  const found = new Set(files);
  for (const file of found) {
    for (const { path, external } of inputs[file]?.imports ?? []) if (!external) found.add(path);
  }
  return [...found].filter((file) => file.startsWith('lambda/'));
}

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
 * Reduces the source map of a bundle to what a logged stack frame shows (`lambda/source-positions.ts`): path and line
 * for our own code, and the folder of the package for a dependency. The result has a fiftieth of the size, and no path
 * of the computer that built it. Node.js' own `--enable-source-maps` parses the whole map before the first request,
 * which takes 10 % of the start.
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
