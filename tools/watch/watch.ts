import { rm } from 'node:fs/promises';
import { Resources, readCloudAssembly } from 'local-aws/template';
import { messageText } from '../../lib/release/function-bundles.ts';
import type { Notice } from '../console/api.ts';
import { Bundler } from './bundler.ts';
import { FunctionBuilds, type FunctionBuildsOptions, type Rebuilt } from './function-builds.ts';
import {
  loadFailureText,
  rebuildingText,
  rebuiltText,
  typeMistakesText,
  unchangedText,
  withoutNodeLines,
} from './notice-text.ts';
import { type NoticeSubject, Notices } from './notices.ts';
import type { SourceTree } from './source-tree.ts';
import { TypeCheck } from './type-check.ts';

interface WatchOptions extends FunctionBuildsOptions {
  /** The sources at the time of the synthesis. A later save counts as a change. */
  readonly sources: SourceTree;
  /** State of the stack before a {@link restart} that started this stack. */
  readonly earlier?: Mistakes | undefined;
  /** Synthesises into another folder, with the options of the running stack. */
  synthesise(folder: string): Promise<void>;
  /**
   * Runs the stack of an assembly on other ports for a moment, as a test.
   * @throws Error if the stack cannot run
   */
  tryStack(assembly: string): Promise<void>;
  /**
   * Restarts the stack.
   * @param files saved files that make the restart necessary
   */
  restart(files: readonly string[], mistakes: Mistakes): void;
  /** Called with the outcome of each save. */
  onNotice(notice: Notice): void;
}

/** State that a stack passes to the next one when it restarts. */
export interface Mistakes {
  /** Whether an error was reported that is not fixed. */
  readonly hasMistake: boolean;
}

const OLD_CODE_RUNS = 'The last good code keeps running.';

const AFTER_FAILURE = {
  code: OLD_CODE_RUNS,
  stack: 'The stack keeps running unchanged.',
  types: 'Types were not checked.',
};

/**
 * Applies saved sources to a running stack. For a file in `lambda/`, the functions that contain it get new
 * code. If the template has changed, the stack is restarted. Types are checked when nothing else is to do.
 */
export class Watch implements AsyncDisposable {
  readonly #options: WatchOptions;
  readonly #notices: Notices;
  readonly #bundler = new Bundler();
  readonly #builds: FunctionBuilds;
  readonly #typeCheck = new TypeCheck();
  /** Saved files of `lambda/` whose functions are not rebuilt yet. */
  readonly #functionFiles = new Set<string>();
  /**
   * Saved files that the template of the running stack does not reflect. After a failure, the next save tries
   * again.
   */
  readonly #stackFiles = new Set<string>();
  readonly #rebuilds = new Repeatable(() => this.#guarded('code', () => this.#rebuildSaved()));
  readonly #syntheses = new Repeatable(() => this.#guarded('stack', () => this.#synthesise()));
  readonly #typeChecks = new Repeatable(() => this.#guarded('types', () => this.#checkTypes()));
  #synthesisCount = 0;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#notices = new Notices(options.onNotice, options.earlier?.hasMistake === true);
    this.#builds = new FunctionBuilds(options, this.#bundler);
    options.sources.watch((files) => this.#onSaved(files));
    // Starts esbuild's process, so that the first save does not wait for it. Errors are reported at that save.
    void this.#bundler.appSources().catch(() => {});
    if (options.earlier !== undefined) this.#typeChecks.request();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#notices.close();
    this.#options.sources.close();
    this.#typeCheck.stop();
    await this.#bundler.close();
    await Promise.all([this.#rebuilds, this.#syntheses, this.#typeChecks].map((one) => one.close()));
  }

  #onSaved(files: ReadonlySet<string>): void {
    this.#typeCheck.stop();
    for (const file of files) {
      (file.startsWith('lambda/') ? this.#functionFiles : this.#stackFiles).add(file);
    }
    if (this.#functionFiles.size > 0) this.#rebuilds.request();
    else if (!this.#rebuilds.isRunning) this.#goOn();
  }

  /**
   * Continues after the functions are rebuilt. If some have errors, nothing is synthesised: it would only
   * repeat the errors.
   */
  #goOn(): void {
    if (!this.#builds.allBuild) return;
    if (this.#stackFiles.size > 0) this.#syntheses.request();
    else if (!this.#syntheses.isRunning) this.#typeChecks.request();
  }

  /** Reports an error of a step, unless closing the watch caused it. */
  async #guarded(about: NoticeSubject, run: () => Promise<void>): Promise<void> {
    try {
      if (!this.#isClosed) await run();
    } catch (error) {
      if (this.#isClosed) return;
      const text = withoutNodeLines((error as Error).message);
      this.#notices.error(about, `${text}\n${AFTER_FAILURE[about]}`);
    }
  }

  async #rebuildSaved(): Promise<void> {
    const files = [...this.#functionFiles];
    this.#functionFiles.clear();
    const started = performance.now();
    const services = this.#builds.affectedBy(files);
    const rebuilding = this.#builds.rebuild(services);
    const rebuilt = await this.#notices.announceIfSlow('code', rebuildingText(services), rebuilding);
    const milliseconds = performance.now() - started;
    // Searched last, because the user waits for the function.
    for (const file of await this.#stackFilesOf(files)) this.#stackFiles.add(file);
    if (this.#isClosed) return;
    if (rebuilt.length > 0) await this.#notifyRebuilt(rebuilt, milliseconds);
    if (this.#functionFiles.size === 0) this.#goOn();
  }

  /**
   * Files among those given that the synthesis reads. If these files cannot be determined, the synthesis reports the
   * error.
   */
  async #stackFilesOf(files: readonly string[]): Promise<string[]> {
    if (this.#builds.hasRemoved(files)) return [...files];
    const sources = await this.#bundler.appSources().catch(() => undefined);
    return files.filter((file) => sources?.has(file));
  }

  async #notifyRebuilt(rebuilt: readonly Rebuilt[], milliseconds: number): Promise<void> {
    const replaced = rebuilt.filter(({ isReplaced }) => isReplaced).map(({ service }) => service);
    const warnings = rebuilt.flatMap((one) => one.warnings);
    if (warnings.length > 0) this.#notices.info('code', await messageText('warning', warnings));
    const mistakes = rebuilt.flatMap((one) => one.mistakes ?? []);
    // If a synthesis follows, the function may need something from it, so a failure to load is not reported yet.
    const loaded = this.#stackFiles.size > 0 ? [] : rebuilt;
    const texts = [
      ...(mistakes.length > 0 ? [await messageText('error', mistakes)] : []),
      ...loaded.flatMap(({ service, failure }) => (failure ? [loadFailureText(service, failure)] : [])),
    ];
    if (replaced.length > 0 || texts.length === 0) {
      this.#notices.info('code', rebuiltText(replaced, milliseconds));
    }
    if (texts.length > 0) this.#notices.error('code', [...texts, OLD_CODE_RUNS].join('\n'));
    else this.#notices.fixed('code');
  }

  async #synthesise(): Promise<void> {
    const files = [...this.#stackFiles].sort();
    this.#stackFiles.clear();
    this.#synthesisCount += 1;
    const assembly = this.#options.workspace.folder(`cdk.out-${this.#synthesisCount}`);
    let isDone = false;
    try {
      isDone = await this.#apply(assembly, files);
    } finally {
      if (!isDone) for (const file of files) this.#stackFiles.add(file);
      await rm(assembly, { recursive: true, force: true });
    }
  }

  /**
   * Applies a synthesised assembly.
   * @returns whether the stack now runs these files, or will after a restart
   */
  async #apply(assembly: string, files: readonly string[]): Promise<boolean> {
    const { workspace, synthesise, tryStack, restart } = this.#options;
    const started = performance.now();
    // Reports an error in the sources with its position, before a synthesis begins.
    await this.#bundler.appSources();
    await this.#notices.announceIfSlow('stack', 'Synthesising the stack …', synthesise(assembly));
    // If another file was saved meanwhile, it is synthesised first, because it may be invalid.
    if (this.#isClosed || this.#stackFiles.size > 0) return false;
    const isOfFunctions = files.every((file) => file.startsWith('lambda/'));
    if (isOfFunctions && hasSameResources(workspace.assembly, assembly)) {
      this.#notices.fixed('stack');
      this.#notices.info('stack', unchangedText(performance.now() - started));
      this.#typeChecks.request();
    } else {
      await tryStack(assembly);
      if (this.#isClosed || this.#stackFiles.size > 0) return false;
      restart(files, { hasMistake: this.#notices.hasMistake });
    }
    return true;
  }

  async #checkTypes(): Promise<void> {
    const mistakes = await this.#typeCheck.run();
    // Outdated: a newer save starts another check.
    if (mistakes === undefined || this.#isClosed || this.#rebuilds.isRunning) return;
    if (mistakes.length > 0) this.#notices.error('types', typeMistakesText(mistakes));
    else this.#notices.fixed('types');
  }
}

/** Whether the stacks of two assemblies are equal except for the functions' code. */
function hasSameResources(assembly: string, other: string): boolean {
  return resourcesOf(assembly) === resourcesOf(other);
}

/** Resources of an assembly without versions of functions, whose logical ids depend on the code. */
function resourcesOf(assembly: string): string {
  const location = { awsUrl: '', apiUrl: '' };
  const resources = new Resources(readCloudAssembly(assembly), location).all();
  return JSON.stringify(
    resources
      .filter(({ type }) => type !== 'AWS::Lambda::Version')
      .map(({ logicalId, type, properties }) => [logicalId, type, { ...properties, Code: undefined }]),
  );
}

/** Work that never runs twice at the same time. Requests during a run lead to one more run. */
class Repeatable {
  readonly #work: () => Promise<void>;
  #isWanted = false;
  #running: Promise<void> | undefined;

  /** @param work never rejects */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  request(): void {
    this.#isWanted = true;
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#isWanted = false;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      await this.#work();
    }
    this.#running = undefined;
  }
}
