import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { BuildFailure, Message } from 'esbuild';
import {
  BUNDLE_LIST,
  type BundleList,
  messageText,
  mistakesIn,
} from '../../../lib/release/function-bundles.ts';
import type { StackChanges } from '../../../local/deployed-stack.ts';
import type { FunctionError } from '../../../local/functions/invocation.ts';
import { isSameCode } from '../../../local/functions/same-code.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import type { Notice } from '../../console/api.ts';
import { describeStack, type Workspace } from '../../stage/local-folder.ts';
import { Bundler } from './bundler.ts';
import {
  loadFailureText,
  rebuildingText,
  rebuiltText,
  synthesisedText,
  typeMistakesText,
  withoutNodeLines,
} from './notice-text.ts';
import type { SourceTree } from './source-tree.ts';
import { TypeCheck } from './type-check.ts';

export interface WatchOptions {
  readonly stack: Pick<
    LocalStack,
    'name' | 'outputs' | 'functions' | 'codeDirectories' | 'replaceCode' | 'update'
  >;
  readonly workspace: Workspace;
  /** The sources at the time of the synthesis. Any later save counts as a change. */
  readonly sources: SourceTree;
  /** Functions that are debugged: their code stays readable. */
  readonly readable: ReadonlySet<string>;
  /** Synthesises to another folder, with the options of the running stack. */
  synthesise(folder: string): Promise<void>;
  /** Called with the outcome of each save. */
  onNotice(notice: Notice): void;
}

const OLD_CODE_RUNS = 'The last good code keeps running.';

/** Milliseconds after which a notice says that a rebuild or a synthesis is running. */
const SLOW = 2_000;

const AFTER_FAILURE = {
  code: OLD_CODE_RUNS,
  stack: 'The stack keeps running unchanged.',
  types: 'Types were not checked.',
};

type About = 'code' | 'stack' | 'types';

interface Outcome {
  readonly service: string;
  readonly isReplaced: boolean;
  readonly warnings: readonly Message[];
  /** Undefined if it builds. */
  readonly mistakes?: readonly Message[];
  /** Undefined if it can be loaded. */
  readonly failure?: FunctionError | undefined;
}

/**
 * Updates a running stack when sources are saved: rebuilds the functions that contain a saved file of `lambda/`, and
 * synthesises again if a file of the stack itself has changed. Then it checks types.
 */
export class Watch implements AsyncDisposable {
  readonly #options: WatchOptions;
  readonly #bundler = new Bundler();
  #bundles: BundleList;
  /**
   * Folders of finished builds and syntheses, with whether the last check found them unused. Folders still being
   * written are not included, because no function runs from them yet.
   */
  readonly #folders = new Map<string, boolean>();
  #folderCount = 0;

  readonly #saved = new Set<string>();
  #isSynthesisWanted = false;
  /** Whether the last synthesis failed. The cause may be outside the code, so the next save of any file tries again. */
  #hasSynthesisFailed = false;
  #rebuilding: Promise<void> | undefined;
  #synthesising: Promise<void> | undefined;
  readonly #typeCheck = new TypeCheck();
  #isTypeCheckWanted = false;
  #checkingTypes: Promise<void> | undefined;
  /** Resolves when the last change of the stack is applied: one at a time. Never rejects. */
  #applied: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** Functions whose sources do not build, and those whose code cannot be loaded. */
  readonly #unbuilt = new Set<string>();
  readonly #unloaded = new Set<string>();
  /** Functions rebuilt since the last synthesis began: their code is newer than that of the synthesis. */
  readonly #rebuilt = new Set<string>();
  /** The last error of each kind, until it is fixed. */
  readonly #lastErrors: Record<About, string | undefined> = {
    code: undefined,
    stack: undefined,
    types: undefined,
  };
  /** Whether a mistake was reported, and its fix was not. */
  #hasMistake = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#bundles = readBundles(options.workspace.assembly);
    options.sources.watch((files) => this.#onSaved(files));
    // Starts esbuild's process, so that the first save does not wait for it. An error is reported then.
    void this.#bundler.appSources().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#options.sources.close();
    this.#typeCheck.stop();
    await this.#bundler.close();
    await Promise.all([this.#rebuilding, this.#synthesising, this.#checkingTypes]);
  }

  #onSaved(files: ReadonlySet<string>): void {
    this.#isTypeCheckWanted = true;
    this.#typeCheck.stop();
    for (const file of files) {
      if (file.startsWith('lambda/')) this.#saved.add(file);
      else this.#isSynthesisWanted = true;
    }
    this.#goOn();
  }

  #goOn(): void {
    if (this.#isClosed) return;
    if (this.#saved.size > 0) {
      this.#rebuilding ??= this.#guarded('code', () => this.#rebuildSaved()).then(() => {
        this.#rebuilding = undefined;
        if (this.#hasSynthesisFailed) this.#isSynthesisWanted = true;
        this.#goOn();
      });
    } else if (this.#isSynthesisWanted && this.#rebuilding === undefined && this.#unbuilt.size === 0) {
      this.#synthesising ??= this.#guarded('stack', () => this.#synthesise()).then(() => {
        this.#synthesising = undefined;
        this.#goOn();
      });
    } else if (this.#isTypeCheckWanted && this.#isUpToDate()) {
      this.#checkingTypes ??= this.#guarded('types', () => this.#checkTypes()).then(() => {
        this.#checkingTypes = undefined;
        this.#goOn();
      });
    }
  }

  /** Whether nothing is running and everything builds. Build errors have already been reported with their position. */
  #isUpToDate(): boolean {
    const isBusy = this.#rebuilding !== undefined || this.#synthesising !== undefined;
    return !isBusy && this.#unbuilt.size === 0 && !this.#hasSynthesisFailed;
  }

  /** Reports an error, unless closing caused it. */
  async #guarded(about: About, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (this.#isClosed) return;
      const text = withoutNodeLines((error as Error).message);
      this.#notifyOnce(about, `${text}\n${AFTER_FAILURE[about]}`);
    }
  }

  async #rebuildSaved(): Promise<void> {
    const files = [...this.#saved];
    this.#saved.clear();
    const started = performance.now();
    this.#forgetRemoved();
    const services = Object.entries(this.#bundles)
      .filter(
        ([service, { sources }]) => this.#isBroken(service) || files.some((file) => sources.includes(file)),
      )
      .map(([service]) => service);
    const rebuilding = Promise.all(services.map((service) => this.#rebuild(service)));
    const outcomes = await this.#announceIfSlow('code', rebuildingText(services), rebuilding);
    const milliseconds = performance.now() - started;
    // Checked last, because the user waits for the function.
    if (await this.#isOfStack(files)) this.#isSynthesisWanted = true;
    if (this.#isClosed || outcomes.length === 0) return;
    await this.#publish();
    await this.#notifyRebuilt(outcomes, milliseconds);
  }

  /**
   * Forgets functions whose entry file is gone. They would never build, and would block the synthesis that removes
   * them.
   */
  #forgetRemoved(): void {
    for (const [service, { entry }] of Object.entries(this.#bundles)) {
      if (existsSync(entry)) continue;
      const { [service]: _, ...others } = this.#bundles;
      this.#bundles = others;
      this.#unbuilt.delete(service);
      this.#unloaded.delete(service);
      this.#isSynthesisWanted = true;
    }
  }

  /** Whether the synthesis reads one of the files. If they cannot be read, the synthesis reports the error. */
  async #isOfStack(files: readonly string[]): Promise<boolean> {
    const sources = await this.#bundler.appSources().catch(() => undefined);
    return files.some((file) => sources?.has(file));
  }

  #isBroken(service: string): boolean {
    return this.#unbuilt.has(service) || this.#unloaded.has(service);
  }

  async #rebuild(service: string): Promise<Outcome> {
    const { entry = '' } = this.#bundles[service] ?? {};
    const folder = this.#newFolder(`code-${service}`);
    this.#rebuilt.add(service);
    try {
      const isReadable = this.#options.readable.has(service);
      const { warnings, sources } = await this.#bundler.bundle(entry, folder, isReadable);
      this.#bundles = { ...this.#bundles, [service]: { entry, sources } };
      this.#unbuilt.delete(service);
      return { service, warnings, ...(await this.#apply(() => this.#replace(service, folder))) };
    } catch (error) {
      const mistakes = mistakesIn(error as BuildFailure);
      this.#unbuilt.add(service);
      return { service, isReplaced: false, warnings: [], mistakes };
    } finally {
      this.#folders.set(folder, false);
    }
  }

  async #replace(service: string, folder: string): Promise<Pick<Outcome, 'isReplaced' | 'failure'>> {
    const { stack } = this.#options;
    const running = stack.functions.get(service)?.definition.codeDirectory;
    const isSame =
      running !== undefined && !this.#unloaded.has(service) && (await isSameCode(folder, running));
    if (running === undefined || isSame || this.#isClosed) return { isReplaced: false };
    const failure = await stack.replaceCode(service, folder);
    if (failure === undefined) this.#unloaded.delete(service);
    else this.#unloaded.add(service);
    return { isReplaced: failure === undefined, failure };
  }

  async #notifyRebuilt(outcomes: readonly Outcome[], milliseconds: number): Promise<void> {
    const replaced = outcomes.filter(({ isReplaced }) => isReplaced).map(({ service }) => service);
    const warnings = outcomes.flatMap((outcome) => outcome.warnings);
    if (warnings.length > 0) this.#notify('code', 'info', await messageText('warning', warnings));
    const mistakes = outcomes.flatMap((outcome) => outcome.mistakes ?? []);
    // The function may need something that the next synthesis provides.
    const failures = this.#isSynthesisWanted ? [] : outcomes;
    const texts = [
      ...(mistakes.length > 0 ? [await messageText('error', mistakes)] : []),
      ...failures.flatMap(({ service, failure }) => (failure ? [loadFailureText(service, failure)] : [])),
    ];
    const hasMistakes = texts.length > 0;
    if (replaced.length > 0 || !hasMistakes) {
      this.#notify('code', 'info', rebuiltText(replaced, milliseconds));
    }
    if (hasMistakes) this.#notifyOnce('code', [...texts, OLD_CODE_RUNS].join('\n'));
    else this.#lastErrors.code = undefined;
  }

  async #synthesise(): Promise<void> {
    const { stack, synthesise } = this.#options;
    const started = performance.now();
    const folder = this.#newFolder('cdk.out');
    this.#isSynthesisWanted = false;
    this.#hasSynthesisFailed = false;
    this.#rebuilt.clear();
    let changes: StackChanges;
    try {
      // Reports an error with its position, before a synthesis begins.
      await this.#bundler.appSources();
      await this.#announceIfSlow('stack', 'Synthesising the stack …', synthesise(folder));
      if (this.#isClosed) return;
      changes = await this.#apply(() => stack.update(folder, new Set(this.#rebuilt)));
    } catch (error) {
      this.#hasSynthesisFailed = true;
      throw error;
    } finally {
      this.#folders.set(folder, false);
    }
    const newer = Object.entries(this.#bundles).filter(([service]) => this.#rebuilt.has(service));
    this.#bundles = { ...readBundles(folder), ...Object.fromEntries(newer) };
    for (const service of changes.changed) this.#unloaded.delete(service);
    for (const service of changes.failed.keys()) this.#unloaded.add(service);
    await this.#publish();

    this.#lastErrors.stack = undefined;
    this.#notify('stack', 'info', synthesisedText(changes, performance.now() - started));
    const failures = [...changes.failed].map(([service, failure]) => loadFailureText(service, failure));
    if (failures.length > 0) this.#notifyOnce('code', [...failures, OLD_CODE_RUNS].join('\n'));
  }

  async #checkTypes(): Promise<void> {
    this.#isTypeCheckWanted = false;
    const mistakes = await this.#typeCheck.run();
    // The next check covers a newer save.
    if (mistakes === undefined || this.#isTypeCheckWanted || this.#isClosed) return;
    if (mistakes.length > 0) {
      this.#notifyOnce('types', typeMistakesText(mistakes));
      return;
    }
    this.#lastErrors.types = undefined;
    if (!this.#hasMistake || this.#lastErrors.code !== undefined || this.#lastErrors.stack !== undefined)
      return;
    this.#hasMistake = false;
    this.#notify('types', 'info', 'Fixed: all saved code builds, and its types are correct');
  }

  #newFolder(name: string): string {
    this.#folderCount += 1;
    return this.#options.workspace.folder(`${name}-${this.#folderCount}`);
  }

  async #apply<T>(change: () => Promise<T>): Promise<T> {
    const applied = this.#applied.then(change);
    this.#applied = applied.catch(() => {});
    return await applied;
  }

  /** Tells other commands which code runs now, and removes unused folders. */
  async #publish(): Promise<void> {
    const { stack, workspace } = this.#options;
    await workspace.update(describeStack(stack));
    const used = [...stack.codeDirectories];
    for (const [folder, wasUnused] of this.#folders) {
      const isUsed = used.some((one) => one === folder || one.startsWith(folder + sep));
      this.#folders.set(folder, !isUsed);
      // Another command may still read the folder, so it is removed only the next time.
      if (isUsed || !wasUnused) continue;
      this.#folders.delete(folder);
      await rm(folder, { recursive: true, force: true });
    }
  }

  #notify(about: Notice['about'], level: Notice['level'], text: string): void {
    this.#options.onNotice({ about, level, text });
  }

  /** Afterwards the outcome is reported even if it is the same as before, because this notice has replaced it. */
  async #announceIfSlow<T>(about: About, text: string, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#lastErrors[about] = undefined;
      this.#notify(about, 'info', text);
    }, SLOW);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
    }
  }

  #notifyOnce(about: About, text: string): void {
    this.#hasMistake = true;
    if (this.#lastErrors[about] === text) return;
    this.#lastErrors[about] = text;
    // Type errors that remain are reported again: a fix of this mistake must not look like a fix of theirs.
    if (about === 'code' || about === 'stack') this.#lastErrors.types = undefined;
    this.#notify(about, 'error', text);
  }
}

/** @param assembly folder of a cloud assembly of this project */
const readBundles = (assembly: string) =>
  JSON.parse(readFileSync(join(assembly, BUNDLE_LIST), 'utf8')) as BundleList;
