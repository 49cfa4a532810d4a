import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import type jestRuntime from 'jest-runtime';

// The types of `jest-runtime` describe what `require` returns, not what `import` does.
const { default: Runtime }: typeof jestRuntime = createRequire(import.meta.url)('jest-runtime');

type Arguments = ConstructorParameters<typeof Runtime>;

/** Name of the property of `globalThis` that holds the exports of `@jest/globals` for the current test file. */
const GLOBALS = '__JEST_GLOBALS__';

const environment = process.env;

/** Number of test files so far in this process. */
let files = 0;
/** Path of the test file that is running. */
let running: string | undefined;

/** Source maps as `data:` URLs, by the URL of their files. */
const sourceMaps = new Map<string, string>();

/**
 * A runtime for Jest in which Node.js loads the test files and what they import. The test files of a process load each
 * package once. With Jest's own runtime, each file loads it again (decision 42).
 */
export default class NodeRuntime extends Runtime {
  readonly #mocks: Arguments[1]['moduleMocker'];
  readonly #variables = { ...environment };

  constructor(...args: Arguments) {
    super(...args);
    this.#mocks = args[1].moduleMocker;
  }

  /**
   * Tests run outside Jest's sandbox, so Jest's packages must run there, too: in the sandbox, `String` and `Error` are
   * other objects, and `expect.any(String)` would match nothing.
   */
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

  /** After each test file: restores mocks and environment variables, and clears the exit code. */
  override teardown(): void {
    super.teardown();
    running = undefined;
    process.exitCode = undefined;
    process.env = environment;
    for (const name of Object.keys(environment)) if (!(name in this.#variables)) delete environment[name];
    Object.assign(environment, this.#variables);
  }
}

// Without workers, a test that ends its process also ends Jest. The run would seem to pass.
process.on('exit', () => {
  if (running === undefined) return;
  console.error(`The process ended while ${running} was running`);
  process.exitCode = 1;
});

/** Shows paths in stacks, not URLs with a query, and leaves out the frames of this file. */
function shortenStacks(): void {
  const format = Error.prepareStackTrace;
  Error.prepareStackTrace = (error, frames) => {
    const others = frames.filter((frame) => frame.getFileName() !== import.meta.url);
    return String(format?.(error, others)).replaceAll(/file:\/\/(\/\S+)\?file=\d+/g, '$1');
  };
}

registerHooks({
  /**
   * Each test file has its own instances of this project's modules, because Lambda functions read their environment
   * when they are loaded. The URL of a test file ends in `?file=<n>`. All modules of this project that it imports,
   * directly or not, get the same query. Packages get none, so they are shared.
   */
  resolve(specifier, context, nextResolve) {
    const query = context.parentURL?.match(/\?.*$/)?.[0];
    if (query === undefined) return nextResolve(specifier, context);
    if (specifier === '@jest/globals') {
      const names = Object.keys(Reflect.get(globalThis, GLOBALS));
      // The query makes the URL different for each test file. Otherwise, Node.js would use the first one's module.
      const source = `export const { ${names} } = globalThis.${GLOBALS}; // ${query}`;
      return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true };
    }
    const { url, ...rest } = nextResolve(specifier, context);
    if (!url.startsWith('file:') || url.includes('/node_modules/')) return { ...rest, url };
    return { ...rest, url: url.includes('?') ? `${url}&${query.slice(1)}` : `${url}${query}` };
  },
  /** Compiles the `.tsx` files of the console's page. Node.js only removes types. */
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
