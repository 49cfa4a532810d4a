import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { BuildFailure, Message } from 'esbuild';
import type { LocalStack } from 'local-aws';
import type { FunctionError } from 'local-aws/functions';
import { BUNDLE_LIST, type Bundle, type BundleList, mistakesIn } from '../../lib/release/function-bundles.ts';
import { describeStack, type Workspace } from '../stage/local-folder.ts';
import type { Bundler, WatchedTarget } from './bundler.ts';

export interface FunctionBuildsOptions {
  readonly stack: Pick<LocalStack, 'name' | 'outputs' | 'functions' | 'codeDirectories' | 'replaceCode'>;
  readonly workspace: Workspace;
  /** Names of debugged functions, whose bundles must stay readable. */
  readonly readable: ReadonlySet<string>;
}

export interface Rebuilt {
  readonly service: string;
  readonly isReplaced: boolean;
  readonly warnings: readonly Message[];
  /** Build errors. Undefined if the function builds. */
  readonly mistakes?: readonly Message[];
  /** Why the new code cannot be loaded. Undefined if it can. */
  readonly failure?: FunctionError | undefined;
}

interface ServiceTarget extends WatchedTarget {
  readonly service: string;
}

/** The bundles of a running stack's functions. */
export class FunctionBuilds {
  readonly #options: FunctionBuildsOptions;
  readonly #bundler: Bundler;
  #bundles: BundleList;
  /**
   * Names of functions whose sources do not build. `#unloaded` has those whose code builds but cannot be
   * loaded.
   */
  readonly #unbuilt = new Set<string>();
  readonly #unloaded = new Set<string>();
  /** Folders of finished builds, and whether the last check found each unused. */
  readonly #folders = new Map<string, boolean>();
  #count = 0;

  constructor(options: FunctionBuildsOptions, bundler: Bundler) {
    this.#options = options;
    this.#bundler = bundler;
    const file = join(options.workspace.assembly, BUNDLE_LIST);
    this.#bundles = JSON.parse(readFileSync(file, 'utf8')) as BundleList;
  }

  /** Whether the sources of all functions build. Functions whose entry file was deleted do not count. */
  get allBuild(): boolean {
    return [...this.#unbuilt].every((service) => this.#isGone(service));
  }

  /** Functions whose bundle contains one of the files, and functions whose last rebuild failed. */
  affectedBy(files: readonly string[]): string[] {
    const isBroken = (service: string) => this.#unbuilt.has(service) || this.#unloaded.has(service);
    return Object.entries(this.#bundles)
      .filter(([service]) => !this.#isGone(service))
      .filter(([service, { sources }]) => isBroken(service) || files.some((file) => sources.includes(file)))
      .map(([service]) => service);
  }

  /**
   * Whether one of the files was the entry file of a function and was deleted. The stack keeps the function
   * until the next synthesis.
   */
  hasRemoved(files: readonly string[]): boolean {
    return Object.values(this.#bundles).some(({ entry }) => files.includes(entry) && !existsSync(entry));
  }

  /** Builds functions, and makes the stack run their new code. */
  async rebuild(services: readonly string[]): Promise<Rebuilt[]> {
    const targets = services.map((service) => this.#target(service));
    const together = await this.#buildTogether(targets);
    const rebuilt = await Promise.all(
      targets.map((target) => this.#rebuild(target, together.get(target.service))),
    );
    if (services.length > 0) await this.#publish();
    return rebuilt;
  }

  #target(service: string): ServiceTarget {
    this.#count += 1;
    return {
      service,
      entry: this.#bundles[service]?.entry ?? '',
      folder: this.#options.workspace.folder(`code-${service}-${this.#count}`),
      isReadable: this.#options.readable.has(service),
    };
  }

  /**
   * Builds functions in one call, which for all functions takes a third of the time.
   * @returns nothing if a function does not build. Each function is then built alone, which shows which function has
   * errors
   */
  async #buildTogether(targets: readonly ServiceTarget[]): Promise<ReadonlyMap<string, Bundle>> {
    const deployable = targets.filter(({ isReadable }) => !isReadable);
    if (deployable.length < 2) return new Map();
    const bundles = await this.#bundler.bundles(deployable).catch((): Bundle[] => []);
    return new Map(bundles.map((bundle, index) => [deployable[index]?.service ?? '', bundle]));
  }

  /** @param built undefined if the function is not built yet */
  async #rebuild(target: ServiceTarget, built: Bundle | undefined): Promise<Rebuilt> {
    const { service, entry, folder } = target;
    try {
      const { warnings, sources } = built ?? (await this.#bundler.bundle(target));
      this.#bundles = { ...this.#bundles, [service]: { entry, sources } };
      this.#unbuilt.delete(service);
      return { service, warnings, ...(await this.#replace(service, folder)) };
    } catch (error) {
      this.#unbuilt.add(service);
      return { service, isReplaced: false, warnings: [], mistakes: mistakesIn(error as BuildFailure) };
    } finally {
      this.#folders.set(folder, false);
    }
  }

  async #replace(service: string, folder: string): Promise<Pick<Rebuilt, 'isReplaced' | 'failure'>> {
    const { stack } = this.#options;
    const running = stack.functions.get(service)?.definition.codeDirectory;
    if (running === undefined) return { isReplaced: false };
    if (!this.#unloaded.has(service) && (await isSameCode(folder, running))) return { isReplaced: false };
    const failure = await stack.replaceCode(service, folder);
    if (failure === undefined) this.#unloaded.delete(service);
    else this.#unloaded.add(service);
    return { isReplaced: failure === undefined, failure };
  }

  /** Stores which code runs now, for other commands, and removes folders of old code. */
  async #publish(): Promise<void> {
    const { stack, workspace } = this.#options;
    await workspace.update(describeStack(stack));
    const used = [...stack.codeDirectories];
    for (const [folder, wasUnused] of this.#folders) {
      const isUsed = used.some((one) => one === folder || one.startsWith(folder + sep));
      this.#folders.set(folder, !isUsed);
      // Removed only if it was unused at the last check, too, because another command may still read it.
      if (isUsed || !wasUnused) continue;
      this.#folders.delete(folder);
      await rm(folder, { recursive: true, force: true });
    }
  }

  #isGone(service: string): boolean {
    return !existsSync(this.#bundles[service]?.entry ?? '');
  }
}

/** Whether two folders without subfolders contain the same files. */
async function isSameCode(one: string, other: string): Promise<boolean> {
  const [names, otherNames] = await Promise.all([readdir(one), readdir(other)]);
  if (names.sort().join('/') !== otherNames.sort().join('/')) return false;
  const same = await Promise.all(
    names.map(async (name) => (await readFile(join(one, name))).equals(await readFile(join(other, name)))),
  );
  return same.every(Boolean);
}
