import { ModuleMocker } from 'jest-mock';

const listeners = () => new Map(process.eventNames().map((event) => [event, process.rawListeners(event)]));

/**
 * Jest's environment of a test file in the realm of the process. When the file has ended, these are as they were: the
 * environment's variables, the working directory, the exit code (Jest has its own for failed tests), listeners of the
 * process, names that were added to the global object, and what is named below. What a file changes in an object that was
 * there before, such as `Date.now`, a prototype or a package, stays changed: the file has to take that back itself.
 */
export default class ProcessEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  #variables = { ...process.env };
  #console = globalThis.console;
  #exit = process.exit;
  #stackTraceLimit = Error.stackTraceLimit;
  #folder = process.cwd();
  #exitCode = process.exitCode;
  #globals = new Set(Object.keys(globalThis));
  #listeners = listeners();

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest calls it for a realm of its own. */
  getVmContext() {
    return undefined;
  }

  async setup() {}

  async teardown() {
    for (const name of Object.keys(process.env)) {
      if (!(name in this.#variables)) delete process.env[name];
    }
    Object.assign(process.env, this.#variables);
    globalThis.console = this.#console;
    process.exit = this.#exit;
    Error.stackTraceLimit = this.#stackTraceLimit;
    process.chdir(this.#folder);
    process.exitCode = this.#exitCode;
    for (const name of Object.keys(globalThis)) if (!this.#globals.has(name)) delete globalThis[name];
    for (const [event, added] of listeners()) {
      const before = this.#listeners.get(event) ?? [];
      for (const listener of added) if (!before.includes(listener)) process.off(event, listener);
    }
  }
}
