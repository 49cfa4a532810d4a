import { once } from 'node:events';
import { type FSWatcher, watch } from 'chokidar';

/** What a running stack is made of, relative to the project's root. */
const SOURCES = ['bin', 'lambda', 'lib', 'cdk.json', 'package.json'];

/** Temporary and backup files of editors. */
const IS_EDITORS_OWN = /(^|\/)(\.[^/]+|\d+|[^/]+(~|\.(swp|swx|tmp|bak|orig)))$/;

/** Milliseconds without a change after which a save counts as finished. Some editors save several files at once. */
const SETTLED = 100;

/** Watches the sources of a stack. */
export class SourceWatch implements AsyncDisposable {
  readonly #watcher: FSWatcher;
  readonly #saved = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #onSaved: ((files: readonly string[]) => void) | undefined;

  /** @param onProblem called if something cannot be watched */
  static async open(onProblem: (message: string) => void): Promise<SourceWatch> {
    const watcher = watch(SOURCES, {
      ignoreInitial: true,
      // Editors replace a file, or write it in parts.
      atomic: true,
      awaitWriteFinish: { stabilityThreshold: SETTLED / 2, pollInterval: SETTLED / 4 },
      ignored: (path) => IS_EDITORS_OWN.test(path),
    });
    watcher.on('error', (error) => onProblem(`${String(error)}. Files saved there may not be noticed`));
    const sources = new SourceWatch(watcher);
    await once(watcher, 'ready');
    return sources;
  }

  private constructor(watcher: FSWatcher) {
    this.#watcher = watcher;
    for (const event of ['add', 'change', 'unlink'] as const) {
      watcher.on(event, (file) => {
        this.#saved.add(file);
        this.#reportSoon();
      });
    }
  }

  /** @param onSaved called with the files that were saved since {@link open}, and then after each save */
  follow(onSaved: (files: readonly string[]) => void): void {
    this.#onSaved = onSaved;
    this.#reportSoon();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#watcher.close();
  }

  #reportSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#saved.size === 0 || this.#onSaved === undefined) return;
      const files = [...this.#saved].sort();
      this.#saved.clear();
      this.#onSaved(files);
    }, SETTLED);
  }
}
