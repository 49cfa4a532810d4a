import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, stop } from 'esbuild';
import type { LocalStack } from 'local-aws';
import type { FunctionError } from 'local-aws/invocation';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import {
  BUNDLE_LIST,
  type BundleList,
  functionEntries,
  messageText,
  mistakesIn,
  writeBundles,
} from '../../lib/release/function-bundles.ts';
import type { Notice } from '../console/api.ts';
import type { Workspace } from '../stage/local-folder.ts';
import { writeReadableBundle } from './inspected-functions.ts';

const OLD_CODE_RUNS = 'The last good code keeps running.';

/** Maximum number of functions or files to name in one line. */
const MAX_NAMED = 3;

export interface SavedCodeOptions {
  readonly stack: LocalStack;
  readonly workspace: Workspace;
  /** Names of debugged functions, whose bundles must stay readable. */
  readonly readable: ReadonlySet<string>;
  /** Called with the outcome of each save. */
  readonly onNotice: (notice: Notice) => void;
  /** Called if only a restart makes a saved file take effect. */
  readonly onRestartNeeded: () => void;
}

/**
 * Applies saved sources to a running stack: a function whose code was saved gets a new bundle, and takes the next
 * message with it. Any other change needs a restart, which the user decides.
 */
export class SavedCode {
  readonly #options: SavedCodeOptions;
  #bundles: BundleList;
  /** Names of functions whose last saved code does not build or load. */
  #broken: readonly string[] = [];
  #count = 0;
  #work = Promise.resolve();
  #isClosed = false;

  constructor(options: SavedCodeOptions) {
    this.#options = options;
    const file = join(options.workspace.assembly, BUNDLE_LIST);
    this.#bundles = JSON.parse(readFileSync(file, 'utf8')) as BundleList;
  }

  /** Applies saved files, after those of earlier calls. Each outcome is a notice. */
  apply(files: readonly string[]): void {
    if (this.#isClosed) return;
    this.#work = this.#work
      .then(() => this.#apply(files))
      .catch(async (error) => this.#notify('error', await failureText(error)));
  }

  /** Waits for the work, and ends esbuild's process. Files that are saved later have no effect. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#work;
    await stop();
  }

  async #apply(files: readonly string[]): Promise<void> {
    const ofStack = await this.#filesOfStack(files);
    const services = this.#affectedBy(files.filter((file) => file.startsWith('lambda/')));
    if (ofStack.length > 0) {
      this.#notify(
        'info',
        `${namesOf(ofStack, 'files')} changed. To restart the stack, empty, type r and press Enter`,
      );
      this.#options.onRestartNeeded();
    }
    if (services.length > 0) await this.#rebuild(services);
  }

  /** Functions whose bundle contains one of the files, and functions that are broken. */
  #affectedBy(files: readonly string[]): string[] {
    if (files.length === 0) return [];
    return Object.entries(this.#bundles).flatMap(([service, sources]) => {
      const isAffected = this.#broken.includes(service) || files.some((file) => sources.includes(file));
      return isAffected && existsSync(entryOf(service)) ? service : [];
    });
  }

  /** Files among those given that the template depends on. */
  async #filesOfStack(files: readonly string[]): Promise<string[]> {
    const entries = Object.values(functionEntries);
    if (files.some((file) => entries.includes(file) && !existsSync(file))) return [...files];
    const modules = await appModules();
    return files.filter((file) => !file.startsWith('lambda/') || modules.includes(file));
  }

  async #rebuild(services: readonly string[]): Promise<void> {
    const { stack, workspace, readable } = this.#options;
    const started = performance.now();
    this.#broken = services;
    this.#count += 1;
    const targets = services.map((service) => ({
      service,
      entry: entryOf(service),
      folder: workspace.folder(`code-${service}-${this.#count}`),
    }));
    const deployed = targets.filter(({ service }) => !readable.has(service));
    const inspected = targets.filter(({ service }) => readable.has(service));
    // One call for all functions takes a third of the time.
    const bundles = await writeBundles(deployed);
    for (const { service, folder } of inspected) bundles.push(await writeReadableBundle(service, folder));
    const [{ warnings = [] } = {}] = bundles;
    if (warnings.length > 0) this.#notify('info', await messageText('warning', warnings));

    const failures = new Map<string, FunctionError>();
    for (const [index, { service, folder }] of [...deployed, ...inspected].entries()) {
      this.#bundles = { ...this.#bundles, [service]: bundles[index]?.sources ?? [] };
      const failure = await stack.functions.get(service)?.replaceCode(folder);
      if (failure !== undefined) failures.set(service, failure);
    }
    this.#broken = [...failures.keys()];
    await workspace.update(stack);
    for (const [service, failure] of failures) this.#notify('error', loadFailureText(service, failure));
    const replaced = services.filter((service) => !failures.has(service)).map(functionName);
    if (replaced.length === 0) return;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    this.#notify('info', `Rebuilt ${namesOf(replaced, 'functions')} in ${seconds} s`);
  }

  #notify(level: Notice['level'], text: string): void {
    this.#options.onNotice({ about: 'code', level, text });
  }
}

const entryOf = (service: string) => functionEntries[service] ?? '';

/** Modules of the CDK app, on which the template depends. Installed packages are left out. */
export async function appModules(): Promise<string[]> {
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
  return Object.keys(metafile.inputs);
}

/** Name of a function for people: `shop.updated` for a consumer, or `receiver`. */
const functionName = (service: string) => eventNames.find((event) => kebabCase(event) === service) ?? service;

/** `a`, `a and b`, or `8 functions`. */
function namesOf(names: readonly string[], noun: string): string {
  if (names.length > MAX_NAMED) return `${names.length} ${noun}`;
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' and ');
}

/** Why a function's code cannot be loaded, with positions in its source. */
function loadFailureText(service: string, { errorType, errorMessage, trace = [] }: FunctionError): string {
  const places = trace.filter((line) => /^ {4}at lambda\//.test(line));
  const what = `${functionName(service)} cannot be loaded: ${errorType}: ${errorMessage}`;
  return [what, ...places, OLD_CODE_RUNS].join('\n');
}

/** Why the saved code could not be applied: esbuild's errors with their places, or the error itself. */
async function failureText(error: Error): Promise<string> {
  const text =
    'errors' in error ? await messageText('error', mistakesIn(error)) : (error.stack ?? error.message);
  return `${text}\n${OLD_CODE_RUNS}`;
}
