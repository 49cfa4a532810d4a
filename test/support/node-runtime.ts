import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import type jestRuntime from 'jest-runtime';

// Its types are correct only for `require`.
const { default: Runtime }: typeof jestRuntime = createRequire(import.meta.url)('jest-runtime');

type Arguments = ConstructorParameters<typeof Runtime>;

/** Property of `globalThis` with what `@jest/globals` exports to the test file that is being loaded. */
const GLOBALS = '__JEST_GLOBALS__';

const environment = process.env;

/** Number of test files so far in this process. */
let files = 0;
/** Path of the test file that is running. */
let running: string | undefined;

/** Source maps as `data:` URLs, by the URL of their files. */
const sourceMaps = new Map<string, string>();

/**
 * Jest's runtime, but Node.js loads the modules of tests, so the test files of a process share packages. Jest's own
 * runtime loads each package again for each file.
 */
export default class NodeRuntime extends Runtime {
  readonly #mocks: Arguments[1]['moduleMocker'];
  readonly #variables = { ...environment };

  constructor(...args: Arguments) {
    super(...args);
    this.#mocks = args[1].moduleMocker;
  }

  /** Loads Jest's packages outside its sandbox, so that `expect` has the same `String` and `Error` as the tests. */
  override requireInternalModule<Exports>(from: string, name?: string): Exports {
    return name === undefined ? super.requireInternalModule(from) : createRequire(from)(name);
  }

  override setGlobalsForRuntime(globals: object): void {
    Reflect.set(globalThis, GLOBALS, { ...globals, jest: this.#mocks });
  }

  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  override unstable_importModule(path: string): Promise<unknown> {
    running = path;
    files += 1;
    shortenStacks();
    return import(`${pathToFileURL(path)}?file=${files}`);
  }

  override getSourceMaps(): ReadonlyMap<string, string> {
    return sourceMaps;
  }

  /** Restores mocks, environment variables and the exit code. A test must restore anything else that it changes. */
  override teardown(): void {
    super.teardown();
    running = undefined;
    process.exitCode = undefined;
    process.env = environment;
    for (const name of Object.keys(environment)) if (!(name in this.#variables)) delete environment[name];
    Object.assign(environment, this.#variables);
  }
}

// If Jest runs in this process, a test that ends the process would otherwise pass.
process.on('exit', () => {
  if (running === undefined) return;
  console.error(`The process ended while ${running} was running`);
  process.exitCode = 1;
});

/** Shows paths in stacks, not URLs with a query. */
function shortenStacks(): void {
  const format = Error.prepareStackTrace;
  Error.prepareStackTrace = (error, frames) =>
    String(format?.(error, frames)).replaceAll(/file:\/\/(\/\S+)\?file=\d+/g, '$1');
}

registerHooks({
  /**
   * Each test file has its own instances of this project's modules, because functions read their environment when they
   * are loaded: the query of a test file's URL is added to what it imports, and to what that imports.
   */
  resolve(specifier, context, nextResolve) {
    const query = context.parentURL?.match(/\?.*$/)?.[0];
    if (query === undefined) return nextResolve(specifier, context);
    if (specifier === '@jest/globals') {
      const names = Object.keys(Reflect.get(globalThis, GLOBALS));
      const source = `export const { ${names} } = globalThis.${GLOBALS}; // ${query}`;
      return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true };
    }
    const { url, ...rest } = nextResolve(specifier, context);
    if (!url.startsWith('file:') || url.includes('/node_modules/')) return { ...rest, url };
    return { ...rest, url: url.includes('?') ? `${url}&${query.slice(1)}` : `${url}${query}` };
  },
  /** Compiles the console's page. Node.js removes types only. */
  load(url, context, nextLoad) {
    if (!/\.tsx(\?|$)/.test(url)) return nextLoad(url, context);
    const path = fileURLToPath(url);
    const { code, map } = transformSync(readFileSync(path, 'utf8'), {
      loader: 'tsx',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      sourcefile: path,
      sourcemap: 'external',
    });
    sourceMaps.set(url, `data:application/json;base64,${Buffer.from(map).toString('base64')}`);
    return { format: 'module', source: code, shortCircuit: true };
  },
});
