import { randomUUID } from 'node:crypto';
import type { InspectorPort } from './inspector-port.ts';
import {
  crashedMessages,
  crashLine,
  type FunctionDefinition,
  type FunctionError,
  type FunctionLogLine,
  type InvocationResult,
  serviceOf,
  TooManyRequestsError,
} from './invocation.ts';
import { Sandbox } from './sandbox.ts';

type CompletedInvocation = InvocationResult & { requestId: string; durationMilliseconds: number };

interface WaitingInvocation {
  requestId: string;
  payload: string;
  complete(result: InvocationResult, durationMilliseconds: number): void;
}

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
  readonly #sandboxes = new Set<Sandbox>();
  /** Environments that still run an invocation with code that was replaced. */
  readonly #outdated = new Set<Sandbox>();
  readonly #inspector: InspectorPort | undefined;
  readonly #idle = new Set<Sandbox>();
  readonly #running = new Set<Sandbox>();
  readonly #line: WaitingInvocation[] = [];
  #starting = 0;
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

  get environments(): number {
    return this.#sandboxes.size;
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
    const failure = await sandbox.started;
    if (failure !== undefined) return failure;
    const isInUse = this.#sandboxes.size > 0 && !this.#closed;
    this.#definition = definition;
    for (const old of [...this.#sandboxes]) this.#retire(old);
    if (!isInUse) {
      await sandbox.end();
      return undefined;
    }
    this.#add(sandbox);
    this.#release(sandbox);
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
    if (this.#line.length + this.#running.size >= reservedConcurrency) throw new TooManyRequestsError();
    const requestId = randomUUID();
    return new Promise((resolve) => {
      const invocation = { requestId, payload: JSON.stringify(payload) ?? 'null' };
      this.#line.push({
        ...invocation,
        complete: (result, durationMilliseconds) => {
          if (!result.ok) this.#logError(result, invocation);
          resolve({ ...result, requestId, durationMilliseconds });
        },
      });
      this.#serve();
    });
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
      const sandbox = this.#takeIdle();
      if (sandbox === undefined) {
        const maximum = this.#inspector === undefined ? this.#definition.maximumConcurrency : 1;
        if (this.#starting >= this.#line.length || this.#sandboxes.size >= maximum) return;
        void this.#startSandbox();
        continue;
      }
      const waiting = this.#line.shift();
      if (waiting !== undefined) void this.#run(sandbox, waiting);
    }
  }

  /** Takes the environment that was used last. */
  #takeIdle(): Sandbox | undefined {
    for (const sandbox of [...this.#idle].reverse()) {
      this.#idle.delete(sandbox);
      // An environment that is being killed is still in the set for a moment.
      if (sandbox.alive) return sandbox;
    }
    return undefined;
  }

  async #startSandbox(): Promise<void> {
    const definition = this.#definition;
    const sandbox = new Sandbox(definition, this.#log, this.#inspector);
    this.#add(sandbox);
    this.#starting += 1;
    const failure = await sandbox.started;
    this.#starting -= 1;
    // The invocation goes to the next environment if this environment was killed, or if its code was replaced.
    if (failure === undefined || sandbox.killed || definition !== this.#definition) {
      this.#release(sandbox);
    } else if (this.#line.length > 0) {
      this.#failFirst(failure);
    } else {
      this.#logError(failure);
    }
  }

  #add(sandbox: Sandbox): void {
    this.#sandboxes.add(sandbox);
    void sandbox.exited.then(() => this.#forget(sandbox));
  }

  /** Ends an environment now, or when its invocation has ended. */
  #retire(sandbox: Sandbox): void {
    this.#remove(sandbox);
    this.#outdated.add(sandbox);
    if (!this.#running.has(sandbox)) void sandbox.end();
  }

  async #run(sandbox: Sandbox, waiting: WaitingInvocation): Promise<void> {
    this.#running.add(sandbox);
    const start = performance.now();
    const result = await sandbox.invoke(waiting.requestId, waiting.payload);
    this.#running.delete(sandbox);
    waiting.complete(result, performance.now() - start);
    this.#release(sandbox);
  }

  #release(sandbox: Sandbox): void {
    if (this.#outdated.has(sandbox)) void sandbox.end();
    else if (sandbox.alive) this.#idle.add(sandbox);
    this.#serve();
  }

  #forget(sandbox: Sandbox): void {
    this.#outdated.delete(sandbox);
    this.#remove(sandbox);
    this.#serve();
  }

  #remove(sandbox: Sandbox): void {
    this.#sandboxes.delete(sandbox);
    this.#idle.delete(sandbox);
  }

  #failFirst(result: InvocationResult): void {
    this.#line.shift()?.complete(result, 0);
  }

  /** Logs a function error, because a function behind an API or a queue has no caller that sees the error. */
  #logError(error: FunctionError, invocation?: Pick<WaitingInvocation, 'requestId' | 'payload'>): void {
    const { name } = this.#definition;
    const text = crashLine(error, { service: serviceOf(this.#definition), ...invocation });
    const crash = invocation && {
      requestId: invocation.requestId,
      crash: { error: error.errorType, messages: crashedMessages(invocation.payload) },
    };
    this.#log({ functionName: name, stream: 'stderr', text, ...crash });
  }
}
