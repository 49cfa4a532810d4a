import { randomUUID } from 'node:crypto';
import type { FunctionDefinition } from './function-definition.ts';
import type { InvocationResult, LogLine } from './invocation.ts';
import type { FunctionError } from './messages.ts';
import { Sandbox } from './sandbox.ts';

type CompletedInvocation = InvocationResult & { requestId: string; durationMilliseconds: number };

interface Waiting {
  requestId: string;
  payload: string;
  complete(result: InvocationResult, durationMilliseconds: number): void;
}

/**
 * Runs a function's bundled code as Lambda does: in execution environments (worker threads) that take
 * one invocation at a time and have an environment of variables of their own. Another one is started
 * when all are busy; beyond `maximumConcurrency` invocations wait, first come, first served.
 *
 * Unlike in Lambda an environment is not frozen between invocations, shares the process's working
 * directory and time zone, and stays until it dies or the function is closed.
 */
export class LocalFunction {
  readonly #definition: FunctionDefinition;
  readonly #log: (line: LogLine) => void;
  readonly #sandboxes = new Set<Sandbox>();
  readonly #idle: Sandbox[] = [];
  readonly #running = new Set<Sandbox>();
  readonly #line: Waiting[] = [];
  readonly #kills: { milliseconds: number; done(killed: boolean): void }[] = [];
  #starting = 0;
  #closed = false;

  /** @param log is given every line that the code writes, and one for each function error */
  constructor(definition: FunctionDefinition, log: (line: LogLine) => void) {
    this.#definition = definition;
    this.#log = log;
  }

  /**
   * Starts an execution environment unless there is one, so that the first invocation need not wait.
   * Never rejects: code that cannot be loaded is logged, and tried again by the next invocation.
   */
  async warmUp(): Promise<void> {
    if (this.#sandboxes.size === 0 && !this.#closed) await this.#startSandbox();
  }

  /**
   * Invokes the handler with `payload`, which goes through JSON as in Lambda.
   * Never rejects: whatever goes wrong is a function error.
   * @returns the result; `durationMilliseconds` counts neither loading the code nor waiting in line
   */
  invoke(payload: unknown): Promise<CompletedInvocation> {
    const requestId = randomUUID();
    return new Promise((resolve) => {
      this.#line.push({
        requestId,
        payload: JSON.stringify(payload) ?? 'null',
        complete: (result, durationMilliseconds) => {
          if (!result.ok) this.#logError(result, requestId);
          resolve({ ...result, requestId, durationMilliseconds });
        },
      });
      this.#serve();
    });
  }

  /**
   * Terminates every execution environment at once, as a crash of the machine would. Running
   * invocations end as function errors; those in line are served by fresh environments.
   */
  async kill(): Promise<void> {
    await Promise.all([...this.#sandboxes].map((sandbox) => sandbox.end()));
  }

  /**
   * Kills the environment of the invocation that starts next, at this moment of it; called repeatedly, of
   * as many invocations. It starts when an environment takes it, not when it begins to wait for one.
   * @returns once that invocation has ended, whether the kill came before its end
   */
  killDuringNext(milliseconds: number): Promise<boolean> {
    return new Promise((done) => this.#kills.push({ milliseconds, done }));
  }

  /** Ends every running invocation as if `timeoutSeconds` had passed, and with it its environment. */
  async timeOutRunning(): Promise<void> {
    await Promise.all([...this.#running].map((sandbox) => sandbox.timeOut()));
  }

  /** Terminates every execution environment. Running and later invocations end as function errors. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#serve();
    await this.kill();
  }

  #serve(): void {
    while (this.#line.length > 0) {
      if (this.#closed) {
        this.#failFirst({
          ok: false,
          errorType: 'Runtime.ExitError',
          errorMessage: 'The function is closed',
        });
        continue;
      }
      const sandbox = this.#idle.pop();
      if (sandbox === undefined) {
        const mayStart = this.#sandboxes.size < this.#definition.maximumConcurrency;
        if (!mayStart || this.#starting >= this.#line.length) return;
        void this.#startSandbox();
        continue;
      }
      const waiting = this.#line.shift();
      if (waiting !== undefined) void this.#run(sandbox, waiting);
    }
  }

  async #startSandbox(): Promise<void> {
    const sandbox = new Sandbox(this.#definition, this.#log);
    this.#sandboxes.add(sandbox);
    this.#starting += 1;
    void sandbox.exited.then(() => this.#forget(sandbox));
    const failure = await sandbox.started;
    this.#starting -= 1;
    if (failure === undefined) {
      this.#release(sandbox);
    } else if (this.#line.length > 0) {
      this.#failFirst(failure);
    } else {
      this.#logError(failure);
    }
  }

  async #run(sandbox: Sandbox, waiting: Waiting): Promise<void> {
    const kill = this.#kills.shift();
    let killed = false;
    const timer =
      kill &&
      setTimeout(() => {
        killed = true;
        void sandbox.end();
      }, kill.milliseconds);
    this.#running.add(sandbox);
    const start = performance.now();
    const result = await sandbox.invoke(waiting.requestId, waiting.payload);
    this.#running.delete(sandbox);
    clearTimeout(timer);
    kill?.done(killed && !result.ok);
    waiting.complete(result, performance.now() - start);
    this.#release(sandbox);
  }

  #release(sandbox: Sandbox): void {
    if (sandbox.alive) this.#idle.push(sandbox);
    this.#serve();
  }

  #forget(sandbox: Sandbox): void {
    this.#sandboxes.delete(sandbox);
    const index = this.#idle.indexOf(sandbox);
    if (index !== -1) this.#idle.splice(index, 1);
    this.#serve();
  }

  #failFirst(result: InvocationResult): void {
    this.#line.shift()?.complete(result, 0);
  }

  /** Where a function fails behind an API or a queue, this line is all that a developer sees of it. */
  #logError({ errorType, errorMessage, trace }: FunctionError, requestId?: string): void {
    const text = `ERROR\tInvoke Error\t${JSON.stringify({ errorType, errorMessage, stack: trace })}`;
    const line: LogLine = { functionName: this.#definition.name, stream: 'stderr', text };
    this.#log(requestId === undefined ? line : { ...line, requestId });
  }
}
