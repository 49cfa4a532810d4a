import { ModuleMocker } from 'jest-mock';

/**
 * Jest's environment of a test file in the realm of the process. When the file has ended, these are as they were: the
 * environment's variables, the working directory, the exit code (Jest has its own for failed tests), and what is named
 * below. What else a file changes in the process, in a global object or in a package, it has to take back itself. Names
 * and listeners that were added may be those of packages, which stay loaded: the CDK keeps its tokens in a global object.
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
  }
}
