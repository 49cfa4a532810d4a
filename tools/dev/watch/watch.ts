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
import type { FunctionError } from '../../../local/functions/messages.ts';
import { isSameCode } from '../../../local/functions/same-code.ts';
import type { LocalStack, TakenOver } from '../../../local/local-stack.ts';
import type { Notice } from '../../console/api.ts';
import { describeStack, type Workspace } from '../../stage/local-folder.ts';
import { Bundler } from './bundler.ts';
import {
  leftText,
  loadFailureText,
  rebuildingText,
  rebuiltText,
  takenOverText,
  typeMistakesText,
  withoutNodeLines,
} from './notice-text.ts';
import type { SourceTree } from './source-tree.ts';
import { TypeCheck } from './type-check.ts';

export interface WatchOptions {
  readonly stack: Pick<
    LocalStack,
    'name' | 'outputs' | 'functions' | 'codeDirectories' | 'replaceCode' | 'takeOver'
  >;
  readonly workspace: Workspace;
  /** As it was when the stack was synthesised: what has been saved since counts. */
  readonly sources: SourceTree;
  /** Functions that somebody debugs: their code stays readable. */
  readonly readable: ReadonlySet<string>;
  /** Synthesises as the stack was, to another folder. */
  synthesise(folder: string): Promise<void>;
  /** Told what became of each save. */
  onNotice(notice: Notice): void;
}

const GOES_ON = 'The last good code goes on.';

/** Milliseconds after which a rebuild or a synthesis says that it is under way. */
const LONG = 2_000;

const AFTER_FAILURE = {
  code: GOES_ON,
  stack: 'The stack goes on as it was.',
  types: 'Types were not checked.',
};

type About = 'code' | 'stack' | 'types' | 'restart';

/** What became of one function that was to be rebuilt. */
interface Outcome {
  readonly service: string;
  readonly isReplaced: boolean;
  readonly warnings: readonly Message[];
  /** Undefined of a function that builds. */
  readonly mistakes?: readonly Message[];
  /** Undefined of a function that can be loaded. */
  readonly failure?: FunctionError | undefined;
}

/**
 * Lets a running stack keep up with what is saved: rebuilds the functions that a file of `lambda/` is part of, and
 * synthesises again if a file of the stack itself has changed. Then it checks the types of all that builds.
 */
export class Watch implements AsyncDisposable {
  readonly #options: WatchOptions;
  readonly #bundler = new Bundler();
  #bundles: BundleList;
  /**
   * Folders of code that was taken over or given up, each with whether it was found unused before. One that is being
   * written is not among them, as nothing runs from it yet.
   */
  readonly #folders = new Map<string, boolean>();
  #folderCount = 0;

  readonly #saved = new Set<string>();
  #isSynthesisWanted = false;
  /** Whether the last one failed. It need not have been the code: the next save, of whatever, tries again. */
  #hasSynthesisFailed = false;
  #rebuilding: Promise<void> | undefined;
  #synthesising: Promise<void> | undefined;
  readonly #typeCheck = new TypeCheck();
  #isTypeCheckWanted = false;
  #checkingTypes: Promise<void> | undefined;
  /** Ends with what is being done to the stack: one thing at a time. Never rejects. */
  #applied: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** Functions whose sources do not build, and those whose code cannot be loaded. */
  readonly #unbuilt = new Set<string>();
  readonly #unloaded = new Set<string>();
  /** Functions that were rebuilt since the synthesis that runs has begun: theirs is the newer code. */
  readonly #rebuilt = new Set<string>();
  /** The last error about each. */
  readonly #said: Record<About, string | undefined> = {
    code: undefined,
    stack: undefined,
    types: undefined,
    restart: undefined,
  };
  /** Whether a mistake was said, and not yet that it is fixed. */
  #hasMistake = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#bundles = readBundles(options.workspace.assembly);
    options.sources.watch((files) => this.#onSaved(files));
    // esbuild's process starts now, so that the first save need not wait for it. What it says is said then.
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
    } else if (this.#isTypeCheckWanted && this.#isAllTakenOver()) {
      this.#checkingTypes ??= this.#guarded('types', () => this.#checkTypes()).then(() => {
        this.#checkingTypes = undefined;
        this.#goOn();
      });
    }
  }

  /** Whether nothing is under way, and all that was saved builds: what does not has been said with its place. */
  #isAllTakenOver(): boolean {
    const isBusy = this.#rebuilding !== undefined || this.#synthesising !== undefined;
    return !isBusy && this.#unbuilt.size === 0 && !this.#hasSynthesisFailed;
  }

  /** Says what goes wrong, other than by closing. */
  async #guarded(about: 'code' | 'stack' | 'types', run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (this.#isClosed) return;
      const text = withoutNodeLines((error as Error).message);
      this.#sayOnce(about, `${text}\n${AFTER_FAILURE[about]}`);
    }
  }

  async #rebuildSaved(): Promise<void> {
    const files = [...this.#saved];
    this.#saved.clear();
    const started = performance.now();
    this.#dropGone();
    const services = Object.entries(this.#bundles)
      .filter(
        ([service, { sources }]) => this.#isBroken(service) || files.some((file) => sources.includes(file)),
      )
      .map(([service]) => service);
    const rebuilding = Promise.all(services.map((service) => this.#rebuild(service)));
    const outcomes = await this.#sayingIfLong('code', rebuildingText(services), rebuilding);
    const milliseconds = performance.now() - started;
    // Only now: whoever has saved waits for the function.
    if (await this.#isOfStack(files)) this.#isSynthesisWanted = true;
    if (this.#isClosed || outcomes.length === 0) return;
    await this.#publish();
    await this.#tellRebuilt(outcomes, milliseconds);
  }

  /** Forgets functions whose entry file is gone: they would never build, and hold up what removes them from the stack. */
  #dropGone(): void {
    for (const [service, { entry }] of Object.entries(this.#bundles)) {
      if (existsSync(entry)) continue;
      const { [service]: _, ...others } = this.#bundles;
      this.#bundles = others;
      this.#unbuilt.delete(service);
      this.#unloaded.delete(service);
      this.#isSynthesisWanted = true;
    }
  }

  /** Whether the synthesis reads one of the files, too. What it cannot read it says itself. */
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

  async #tellRebuilt(outcomes: readonly Outcome[], milliseconds: number): Promise<void> {
    const replaced = outcomes.filter(({ isReplaced }) => isReplaced).map(({ service }) => service);
    const warnings = outcomes.flatMap((outcome) => outcome.warnings);
    if (warnings.length > 0) this.#say('code', 'info', await messageText('warning', warnings));
    const mistakes = outcomes.flatMap((outcome) => outcome.mistakes ?? []);
    // A function may need what the synthesis that follows gives it.
    const failures = this.#isSynthesisWanted ? [] : outcomes;
    const texts = [
      ...(mistakes.length > 0 ? [await messageText('error', mistakes)] : []),
      ...failures.flatMap(({ service, failure }) => (failure ? [loadFailureText(service, failure)] : [])),
    ];
    const hasMistakes = texts.length > 0;
    if (replaced.length > 0 || !hasMistakes) {
      this.#say('code', 'info', rebuiltText(replaced, milliseconds));
    }
    if (hasMistakes) this.#sayOnce('code', [...texts, GOES_ON].join('\n'));
    else this.#said.code = undefined;
  }

  async #synthesise(): Promise<void> {
    const { stack, synthesise } = this.#options;
    const started = performance.now();
    const folder = this.#newFolder('cdk.out');
    this.#isSynthesisWanted = false;
    this.#hasSynthesisFailed = false;
    this.#rebuilt.clear();
    let taken: TakenOver;
    try {
      // Tells a mistake with its place, and before a synthesis has begun.
      await this.#bundler.appSources();
      await this.#sayingIfLong('stack', 'Synthesising the stack …', synthesise(folder));
      if (this.#isClosed) return;
      taken = await this.#apply(() => stack.takeOver(folder, new Set(this.#rebuilt)));
    } catch (error) {
      this.#hasSynthesisFailed = true;
      throw error;
    } finally {
      this.#folders.set(folder, false);
    }
    const newer = Object.entries(this.#bundles).filter(([service]) => this.#rebuilt.has(service));
    this.#bundles = { ...readBundles(folder), ...Object.fromEntries(newer) };
    for (const service of taken.functions) this.#unloaded.delete(service);
    for (const service of taken.failed.keys()) this.#unloaded.add(service);
    await this.#publish();

    this.#said.stack = undefined;
    this.#say('stack', 'info', takenOverText(taken, performance.now() - started));
    const failures = [...taken.failed].map(([service, failure]) => loadFailureText(service, failure));
    if (failures.length > 0) this.#sayOnce('code', [...failures, GOES_ON].join('\n'));
    this.#tellLeft(leftText(taken.left));
  }

  async #checkTypes(): Promise<void> {
    this.#isTypeCheckWanted = false;
    const mistakes = await this.#typeCheck.run();
    // A newer save is checked instead.
    if (mistakes === undefined || this.#isTypeCheckWanted || this.#isClosed) return;
    if (mistakes.length > 0) {
      this.#sayOnce('types', typeMistakesText(mistakes));
      return;
    }
    this.#said.types = undefined;
    if (!this.#hasMistake || this.#said.code !== undefined || this.#said.stack !== undefined) return;
    this.#hasMistake = false;
    this.#say('types', 'info', 'Fixed: all saved code builds, and its types are correct');
  }

  #tellLeft(text: string | undefined): void {
    if (text !== undefined) this.#sayOnce('restart', text);
    else if (this.#said.restart !== undefined) {
      this.#said.restart = undefined;
      this.#say('restart', 'info', 'Nothing needs a restart any more');
    }
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

  /** Lets other commands find the code that runs now, and removes what nothing runs from. */
  async #publish(): Promise<void> {
    const { stack, workspace } = this.#options;
    await workspace.update(describeStack(stack));
    const used = [...stack.codeDirectories];
    for (const [folder, wasUnused] of this.#folders) {
      const isUsed = used.some((one) => one === folder || one.startsWith(folder + sep));
      this.#folders.set(folder, !isUsed);
      // A command may still read what it found a moment ago: the folder goes the next time.
      if (isUsed || !wasUnused) continue;
      this.#folders.delete(folder);
      await rm(folder, { recursive: true, force: true });
    }
  }

  #say(about: Notice['about'], level: Notice['level'], text: string): void {
    this.#options.onNotice({ about, level, text });
  }

  /** An outcome follows, also if it was said before: what is said in between hides it. */
  async #sayingIfLong<T>(about: About, text: string, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#said[about] = undefined;
      this.#say(about, 'info', text);
    }, LONG);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
    }
  }

  #sayOnce(about: About, text: string): void {
    if (about !== 'restart') this.#hasMistake = true;
    if (this.#said[about] === text) return;
    this.#said[about] = text;
    // Type errors that are still there are said again: the fix of this mistake must not look like theirs.
    if (about === 'code' || about === 'stack') this.#said.types = undefined;
    this.#say(about, 'error', text);
  }
}

/** @param assembly folder of a cloud assembly of this project */
const readBundles = (assembly: string) =>
  JSON.parse(readFileSync(join(assembly, BUNDLE_LIST), 'utf8')) as BundleList;
