import { ModuleMocker } from 'jest-mock';

/** Jest's environment of a test file in the realm of the process, which is as it was when the file has ended. */
export default class ProcessEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  #variables = { ...process.env };
  #console = globalThis.console;
  #exit = process.exit;
  #stackTraceLimit = Error.stackTraceLimit;

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
  }
}
