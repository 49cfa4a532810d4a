import { readFileSync, realpathSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parse } from '@babel/parser';
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

/** Options of esbuild. */
export const BUNDLE_OPTIONS: BuildOptions = {
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
  logLevel: 'warning',
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

/** A function, and the folder for its code. */
export interface BundleTarget {
  /** File that exports the handler, from the project's root. */
  readonly entry: string;
  readonly folder: string;
}

export interface Bundle {
  readonly warnings: readonly Message[];
  /** Our own sources in it, from the project's root: `lambda/hash.ts`. */
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
  // Otherwise files of an earlier synthesis would be deployed too.
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
 * Bundles functions as they are deployed, with reduced source maps, which are read only if an error is logged. All in
 * one call: esbuild then reads shared files once, and takes a third of the time.
 * @returns one for each target, with the warnings of all
 * @throws BuildFailure of esbuild if one does not build
 */
export async function writeBundles(targets: readonly BundleTarget[]): Promise<Bundle[]> {
  const built = await buildFunctions(targets, {
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'silent',
  });
  const namesOf = new Map<string, FunctionNames>();
  for (const { files } of built) {
    for (const { path, text, builtIn } of files) {
      await writeAt(path, path.endsWith('.map') ? reduceSourceMap(text, builtIn, namesOf) : text);
    }
  }
  return built;
}

/**
 * Bundles one function with other options than for a deployment.
 * @param options that differ from {@link BUNDLE_OPTIONS}
 * @throws BuildFailure of esbuild if it does not build
 */
export async function writeBundle(target: BundleTarget, options: BuildOptions): Promise<Bundle> {
  const [built = { files: [], warnings: [], sources: [] }] = await buildFunctions([target], options);
  for (const { path, text } of built.files) await writeAt(path, text);
  return built;
}

async function writeAt(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

interface BundledFile {
  readonly path: string;
  readonly text: string;
  /** Folder from which its source map names the sources. */
  readonly builtIn: string;
}

/** A built file, its source map, and the names of the files that it imports on demand. */
interface BuiltFile {
  readonly files: readonly BundledFile[];
  readonly imports: readonly string[];
}

/**
 * Builds functions: each as one file, and each file imported on demand as another, with its own copy of shared code.
 * With esbuild's `splitting` they would share it, and a start would load parts of the SDK that only the S3 client uses.
 */
async function buildFunctions(
  targets: readonly BundleTarget[],
  options: BuildOptions,
): Promise<(Bundle & { readonly files: readonly BundledFile[] })[]> {
  const [{ folder: firstFolder } = { folder: '.' }] = targets;
  const onDemand = new Map<string, string>();
  const plugins = [...(options.plugins ?? []), leaveOnDemand(onDemand)];
  const warnings: Message[] = [];
  const inputs: Metafile['inputs'] = {};
  const root = resolve('/');
  /** @param sources by the path of the built file, without its extension */
  const buildFiles = async (sources: ReadonlyMap<string, string>): Promise<BuiltFile[]> => {
    const result = await build({
      ...BUNDLE_OPTIONS,
      ...options,
      plugins,
      entryPoints: Object.fromEntries([...sources].map(([path, source]) => [relative(root, path), source])),
      outdir: root,
      metafile: true,
      write: false,
    });
    warnings.push(...result.warnings);
    Object.assign(inputs, result.metafile.inputs);
    const outputs = new Map(
      Object.entries(result.metafile.outputs).map(([path, output]) => [resolve(path), output]),
    );
    return [...sources.keys()].map((path) => ({
      files: result.outputFiles
        .filter((file) => [`${path}.mjs`, `${path}.mjs.map`].includes(file.path))
        .map((file) => ({ path: file.path, text: file.text, builtIn: dirname(path) })),
      // Without imports of code that esbuild dropped.
      imports: (outputs.get(`${path}.mjs`)?.imports ?? [])
        .filter(({ kind, path }) => kind === 'dynamic-import' && path.startsWith('./'))
        .map(({ path }) => basename(path, '.mjs')),
    }));
  };

  const starts = await buildFiles(
    new Map(targets.map(({ folder, entry }) => [resolve(folder, 'index'), entry])),
  );
  const later = new Map<string, BuiltFile>();
  for (;;) {
    const missing = [...new Set([...starts, ...later.values()].flatMap(({ imports }) => imports))].filter(
      (name) => !later.has(name),
    );
    if (missing.length === 0) break;
    const built = await buildFiles(
      new Map(missing.map((name) => [resolve(firstFolder, name), onDemand.get(name) ?? name])),
    );
    for (const [index, name] of missing.entries())
      later.set(name, built[index] ?? { files: [], imports: [] });
  }

  return starts.map((start, index) => {
    const { entry, folder } = targets[index] ?? { entry: '', folder: '' };
    const imported = new Set(start.imports);
    for (const name of imported) for (const further of later.get(name)?.imports ?? []) imported.add(further);
    const files = [...imported].flatMap((name) => later.get(name)?.files ?? []);
    return {
      files: [
        ...start.files,
        ...files.map((file) => ({ ...file, path: resolve(folder, basename(file.path)) })),
      ],
      warnings,
      sources: ownSources([entry, ...[...imported].map((name) => onDemand.get(name) ?? '')], inputs),
    };
  });
}

function ownSources(files: readonly string[], inputs: Metafile['inputs']): string[] {
  const seen = new Set(files.map((file) => relative('.', file)));
  for (const file of seen) {
    for (const { path, external } of inputs[file]?.imports ?? []) if (!external) seen.add(path);
  }
  return [...seen].filter((file) => file.startsWith('lambda/'));
}

/**
 * Keeps imports on demand as imports of separate files.
 * @param found gets their sources, by their names
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

/** @throws the reason of a failed build, unless the code does not build */
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

/** The package that a file belongs to, such as `@smithy/core`: the innermost, if one has its own `node_modules`. */
const PACKAGE = /.*\/(node_modules\/(?:@[^/]+\/)?[^/]+)/;

/**
 * Reduces the source map of a bundle to the data of a logged stack frame (`lambda/source-stack.ts`). For our own code:
 * the path from the project's root, the line, and the function as the `name`, which is the identifier in an ordinary
 * map. For a dependency: the folder of its package. The result has a hundredth of the size, and no path of the computer
 * that built it.
 * @param map JSON text. Source: ECMA-426, "Source map format"
 * @param folder from which it names its sources
 * @param namesOf functions of the sources that were read before, by path
 */
function reduceSourceMap(map: string, folder: string, namesOf: Map<string, FunctionNames>): string {
  const { sources, mappings }: { sources: readonly string[]; mappings: string } = JSON.parse(map);
  const root = dirname(realpathSync('lambda'));
  const files = sources.map((source) => {
    const path = resolve(folder, source);
    const packageFolder = PACKAGE.exec(path)?.[1];
    if (packageFolder !== undefined) return { name: packageFolder };
    const functionAt = namesOf.get(path) ?? functionNames(readFileSync(path, 'utf8'));
    namesOf.set(path, functionAt);
    return { name: relative(root, path), functionAt };
  });
  const usedFiles = new Map<string, number>();
  const usedNames = new Map<string, number>();
  const reduced = decode(mappings).map((segments) => {
    const kept: SourceMapSegment[] = [];
    for (const [column, fileIndex = -1, sourceLine = 0, sourceColumn = 0] of segments) {
      const file = files[fileIndex];
      if (file === undefined) continue;
      const line = file.functionAt === undefined ? 0 : sourceLine;
      const place = [column, indexOf(file.name, usedFiles), line, 0] as const;
      const name = file.functionAt?.(sourceLine, sourceColumn);
      const segment: SourceMapSegment =
        name === undefined ? [...place] : [...place, indexOf(name, usedNames)];
      const last = kept.at(-1);
      // The same file, line and function as before.
      if ([1, 2, 4].every((field) => segment[field] === last?.[field])) continue;
      kept.push(segment);
    }
    return kept;
  });
  const [names, usedSources] = [usedNames, usedFiles].map((used) => [...used.keys()]);
  return JSON.stringify({ version: 3, sources: usedSources, names, mappings: encode(reduced) });
}

/** The index of a text, which is added if it is new. */
function indexOf(text: string, used: Map<string, number>): number {
  const index = used.get(text) ?? used.size;
  used.set(text, index);
  return index;
}

/** The parts of a syntax tree node that are used. Source: ESTree and Babel's AST specification. */
interface Node {
  readonly type: string;
  readonly loc: { readonly start: Position; readonly end: Position };
  readonly kind?: string;
  readonly id?: Node | null;
  readonly key?: Node;
  readonly value?: unknown;
  readonly init?: unknown;
  readonly name?: string;
}

/** Lines count from 1, columns from 0. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** The name of the function at a source position. Line and column count from 0, as in a source map. */
type FunctionNames = (line: number, column: number) => string | undefined;

/**
 * Finds the functions of a TypeScript source by name: `versionedWrite`, `Cast.#put`, `new Cast`. A function without a
 * name, such as a callback, counts as part of the function around it.
 */
export function functionNames(source: string): FunctionNames {
  const found: { readonly name: string; readonly start: Position; readonly end: Position }[] = [];
  const collect = (value: unknown, className: string | undefined): void => {
    if (Array.isArray(value)) for (const item of value) collect(item, className);
    if (!isNode(value)) return;
    const name = nameOf(value, className);
    if (name !== undefined) found.push({ name, ...value.loc });
    const inClass = value.type === 'ClassDeclaration' ? value.id?.name : className;
    for (const child of Object.values(value)) collect(child, inClass);
  };
  collect(parse(source, { sourceType: 'module', plugins: ['typescript'] }).program, undefined);
  return (line, column) => {
    const place = { line: line + 1, column };
    // Outer functions come first, so the last match is the innermost.
    return found.findLast(({ start, end }) => isBefore(start, place) && isBefore(place, end))?.name;
  };
}

const isBefore = (a: Position, b: Position) => a.line < b.line || (a.line === b.line && a.column <= b.column);

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'loc' in value;

const isFunction = (value: unknown) =>
  isNode(value) && ['ArrowFunctionExpression', 'FunctionExpression'].includes(value.type);

/** @returns undefined if the node is no function, or one without a name of its own */
function nameOf({ type, kind, id, key, value, init }: Node, className?: string): string | undefined {
  const member = key?.type === 'PrivateName' ? `#${key.id?.name}` : key?.name;
  switch (type) {
    case 'FunctionDeclaration':
      return id?.name;
    case 'VariableDeclarator':
      return isFunction(init) ? id?.name : undefined;
    case 'ObjectMethod':
      return member;
    case 'ObjectProperty':
      return isFunction(value) ? member : undefined;
    case 'ClassMethod':
    case 'ClassPrivateMethod':
      return kind === 'constructor' ? `new ${className}` : member && `${className}.${member}`;
    case 'ClassProperty':
    case 'ClassPrivateProperty':
      return isFunction(value) ? member && `${className}.${member}` : undefined;
    default:
      return undefined;
  }
}
