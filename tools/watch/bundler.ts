import { build, stop } from 'esbuild';
import {
  type Bundle,
  BundleError,
  type BundleTarget,
  messageText,
  mistakesIn,
  writeBundle,
  writeBundles,
} from '../../lib/release/function-bundles.ts';

/**
 * Maximum number of functions to bundle at the same time. Each takes about 150 MB in esbuild's process, and
 * uses two cores.
 */
const MAX_CONCURRENCY = 2;

/** Milliseconds without a save after which esbuild's process ends, to free its memory. */
const IDLE = 60_000;

export interface WatchedTarget extends BundleTarget {
  /** Whether the bundle stays readable, for a debugger. Otherwise it is built as for a deployment. */
  readonly isReadable: boolean;
}

export class Bundler {
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #closed = Promise.withResolvers<never>();
  #isClosed = false;

  constructor() {
    this.#closed.promise.catch(() => {});
  }

  /** @throws BuildFailure of esbuild if the sources have errors */
  async bundle({ entry, folder, isReadable }: WatchedTarget): Promise<Bundle> {
    if (isReadable) return this.#inTurn(() => writeReadableBundle(entry, folder));
    const [bundle = { warnings: [], sources: [] }] = await this.bundles([{ entry, folder }]);
    return bundle;
  }

  /**
   * Bundles functions as they are deployed.
   * @throws BuildFailure of esbuild if the sources have errors
   */
  bundles(targets: readonly BundleTarget[]): Promise<Bundle[]> {
    return this.#inTurn(() => writeBundles(targets));
  }

  /**
   * Files of the project that a synthesis runs, such as `lib/config.ts`, relative to the root.
   * @throws BundleError if an import cannot be resolved, or a file cannot be read
   */
  appSources(): Promise<Set<string>> {
    return this.#inTurn(async () => {
      try {
        const { metafile } = await build({
          entryPoints: ['bin/app.ts'],
          absWorkingDir: process.cwd(),
          bundle: true,
          packages: 'external',
          platform: 'node',
          format: 'esm',
          write: false,
          metafile: true,
          logLevel: 'silent',
        });
        return new Set(Object.keys(metafile.inputs));
      } catch (error) {
        throw new BundleError(await messageText('error', mistakesIn(error as Error)));
      }
    });
  }

  /** Ends esbuild's process. Builds in progress are rejected, because esbuild would never settle them after that. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#closed.reject(new Error('The bundler is closed'));
    await stop();
  }

  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    if (this.#running === MAX_CONCURRENCY) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      // After the end of esbuild's process, a new build would start another one.
      return await (this.#isClosed ? this.#closed.promise : Promise.race([run(), this.#closed.promise]));
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
      if (this.#running === 0 && !this.#isClosed) this.#idle = setTimeout(() => void stop(), IDLE).unref();
    }
  }
}

/**
 * Bundles a function for a debugger: not minified, with source maps.
 * @throws BuildFailure of esbuild if the sources have errors
 */
export function writeReadableBundle(entry: string, folder: string): Promise<Bundle> {
  return writeBundle({ entry, folder }, { minify: false, sourcemap: 'linked' });
}
