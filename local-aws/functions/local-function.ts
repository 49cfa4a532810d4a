import { randomUUID } from 'node:crypto';
import type { InspectorPort } from './inspector-port.ts';
import {
  crashedMessages,
  crashLine,
  type FunctionDefinition,
  type FunctionError,
  type FunctionLogLine,
  type InvocationResult,
  TooManyRequestsError,
} from './invocation.ts';
import { Sandbox } from './sandbox.ts';

type CompletedInvocation = InvocationResult & { requestId: string; durationMilliseconds: number };

interface WaitingInvocation {
  readonly requestId: string;
  readonly payload: string;
  readonly resolve: (completed: CompletedInvocation) => void;
}

const CLOSED: InvocationResult = {
  ok: false,
  errorType: 'Runtime.ExitError',
  errorMessage: 'The function is closed',
};

/**
 * Runs a function's bundled code as Lambda does: in execution environments (worker threads) with their own
 * variables, which process one invocation at a time. If all are busy, another one starts. At
 * `maximumConcurrency`, further invocations wait in order. Beyond the reserved concurrency, invocations are
 * rejected. Unlike in Lambda, idle environments do not end, an environment is not frozen between invocations, and it
 * shares working directory and time zone with the process.
 */
export class LocalFunction {
  #definition: FunctionDefinition;
  readonly #log: (line: FunctionLogLine) => void;
  readonly #inspector: InspectorPort | undefined;
  /** Environments with the present code. */
  readonly #sandboxes = new Set<Sandbox>();
  /** Environments that still run an invocation with code that was replaced. */
  readonly #outdated = new Set<Sandbox>();
  readonly #line: WaitingInvocation[] = [];
  #running = 0;
  #closed = false;

  /**
   * @param log called with every line that the code writes, and with a line for each function error
   * @param inspector port at which debuggers find the environment. The function then has at most one environment.
   * @default no debugger
   */
  constructor(
    definition: FunctionDefinition,
    log: (line: FunctionLogLine) => void,
    inspector?: InspectorPort,
  ) {
    this.#definition = definition;
    this.#log = log;
    this.#inspector = inspector;
  }

  get definition(): FunctionDefinition {
    return this.#definition;
  }

  /** Also those that still have code that was replaced. */
  get environments(): number {
    return this.#sandboxes.size + this.#outdated.size;
  }

  /**
   * Uses other code for all later invocations, as a deployment does. Running invocations keep the old code, and new
   * invocations use the old code until the new code is loaded. If loading fails, nothing changes. Must not be called
   * before an earlier call has ended.
   * @returns why the code cannot be loaded
   */
  async replaceCode(codeDirectory: string): Promise<FunctionError | undefined> {
    const definition = { ...this.#definition, codeDirectory };
    const sandbox = new Sandbox(definition, this.#log, this.#inspector);
    const loaded = await sandbox.started;
    if (!loaded.ok) return loaded;
    const isInUse = this.#sandboxes.size > 0 && !this.#closed;
    this.#definition = definition;
    for (const old of this.#sandboxes) {
      this.#sandboxes.delete(old);
      this.#outdated.add(old);
      if (old.state !== 'busy') void old.end();
    }
    if (!isInUse) {
      await sandbox.end();
      return undefined;
    }
    this.#add(sandbox);
    this.#serve();
    return undefined;
  }

  /**
   * Starts the first execution environment in advance, so that the first invocation does not wait. Never rejects: if
   * the code cannot be loaded, the error is logged, and the next invocation tries again.
   */
  async warmUp(): Promise<void> {
    if (this.#sandboxes.size === 0 && !this.#closed) await this.#startSandbox();
  }

  /**
   * Invokes the handler with `payload`, converted to JSON and back as in Lambda. Any failure is a function error.
   * @returns the result; `durationMilliseconds` includes neither loading the code nor waiting
   * @throws TooManyRequestsError if the function's reserved concurrency is used up
   */
  async invoke(payload: unknown): Promise<CompletedInvocation> {
    const { reservedConcurrency = Number.POSITIVE_INFINITY } = this.#definition;
    if (this.#line.length + this.#running >= reservedConcurrency) throw new TooManyRequestsError();
    const { promise, resolve } = Promise.withResolvers<CompletedInvocation>();
    this.#line.push({ requestId: randomUUID(), payload: JSON.stringify(payload) ?? 'null', resolve });
    this.#serve();
    return promise;
  }

  /**
   * Terminates every execution environment at once, like a crash of the machine. Running invocations end as function
   * errors. Waiting ones get new environments.
   */
  async kill(): Promise<void> {
    await Promise.all([...this.#sandboxes, ...this.#outdated].map((sandbox) => sandbox.end()));
  }

  /** Terminates every execution environment. Running, waiting and later invocations end as function errors. */
  async close(): Promise<void> {
    this.#closed = true;
    const ended = this.kill();
    this.#serve();
    await ended;
  }

  /** Gives waiting invocations to idle environments, and starts the environments that are missing. */
  #serve(): void {
    if (this.#closed) {
      for (const waiting of this.#line.splice(0)) this.#complete(waiting, CLOSED);
    }
    for (const sandbox of this.#sandboxes) {
      if (sandbox.state !== 'idle') continue;
      const waiting = this.#line.shift();
      if (waiting === undefined) return;
      void this.#run(sandbox, waiting);
    }
    const loading = [...this.#sandboxes].filter(({ state }) => state === 'loading').length;
    const maximum = this.#inspector === undefined ? this.#definition.maximumConcurrency : 1;
    const missing = Math.min(this.#line.length - loading, maximum - this.#sandboxes.size);
    for (let started = 0; started < missing; started += 1) void this.#startSandbox();
  }

  async #startSandbox(): Promise<void> {
    const definition = this.#definition;
    const sandbox = new Sandbox(definition, this.#log, this.#inspector);
    this.#add(sandbox);
    const loaded = await sandbox.started;
    // The invocation goes to the next environment if this environment was killed, or if its code was replaced.
    if (!loaded.ok && sandbox.state !== 'killed' && definition === this.#definition) {
      const waiting = this.#line.shift();
      if (waiting === undefined) this.#logError(loaded);
      else this.#complete(waiting, loaded);
    }
    this.#serve();
  }

  #add(sandbox: Sandbox): void {
    this.#sandboxes.add(sandbox);
    void sandbox.exited.then(() => {
      this.#sandboxes.delete(sandbox);
      this.#outdated.delete(sandbox);
      this.#serve();
    });
  }

  async #run(sandbox: Sandbox, waiting: WaitingInvocation): Promise<void> {
    this.#running += 1;
    const start = performance.now();
    const result = await sandbox.invoke(waiting.requestId, waiting.payload);
    this.#running -= 1;
    this.#complete(waiting, result, performance.now() - start);
    if (this.#outdated.has(sandbox)) void sandbox.end();
    this.#serve();
  }

  #complete(invocation: WaitingInvocation, result: InvocationResult, durationMilliseconds = 0): void {
    const { requestId, resolve } = invocation;
    if (!result.ok) this.#logError(result, invocation);
    resolve({ ...result, requestId, durationMilliseconds });
  }

  /** Logs a function error, because a function behind an API or a queue has no caller that sees the error. */
  #logError(error: FunctionError, invocation?: WaitingInvocation): void {
    this.#log({
      functionName: this.#definition.name,
      stream: 'stderr',
      requestId: invocation?.requestId,
      text: crashLine(error, this.#definition, invocation),
      crash: invocation && { error: error.errorType, messages: crashedMessages(invocation.payload) },
    });
  }
}
