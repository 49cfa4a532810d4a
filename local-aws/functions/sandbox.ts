import { inspect } from 'node:util';
import type { Worker } from 'node:worker_threads';
import type { InspectorPort } from './inspector-port.ts';
import {
  crashLine,
  type FunctionDefinition,
  type FunctionError,
  type FunctionLogLine,
  type InvocationResult,
} from './invocation.ts';
import { sourceTrace } from './source-trace.ts';
import {
  type EnvironmentMessage,
  type InvocationMessage,
  startWorker,
  type ThrownError,
} from './start-worker.ts';

/**
 * Time limit for loading the code. Lambda allows 10 s, but a developer's machine loads all functions at the
 * same time.
 */
const START_LIMIT_MILLISECONDS = 30_000;

/** Lambda's limit for the response of a synchronous invocation: 6 MiB and 100 bytes. */
const RESPONSE_LIMIT_BYTES = 6_291_556;

/** Time between two checks of the memory during an invocation. */
const MEMORY_CHECK_MILLISECONDS = 250;

const KILLED = 'Runtime exited with error: signal: killed';

/**
 * The parent's side of an execution environment: starts its worker thread and enforces its limits. Every line
 * that the code writes is logged before the promise of its start or invocation resolves, even after a timeout
 * or a crash of the worker. Output that bypasses `process.stdout` and `process.stderr` is not captured, such
 * as `fs.writeSync(1, …)` and warnings of Node.js.
 */
export class Sandbox {
  /** Resolves when the code is loaded or cannot be loaded. */
  readonly started: Promise<InvocationResult>;
  /** Resolves when the worker has ended. The sandbox can then not be used again. */
  readonly exited: Promise<void>;

  readonly #worker: Worker;
  readonly #definition: FunctionDefinition;
  readonly #log: (line: FunctionLogLine) => void;
  readonly #inspector: InspectorPort | undefined;
  /** Text after the last line end of each stream. */
  readonly #rest = { stdout: '', stderr: '' };
  #alive = true;
  #killed = false;
  #settle: ((outcome: InvocationResult) => void) | undefined;
  /** The last invocation. Undefined while the code is being loaded. */
  #invocation: InvocationMessage | undefined;
  #endedBy: FunctionError | undefined;
  #inspectedAt: number | undefined;

  /**
   * @param inspector port at which debuggers find the worker. Loading time and memory are then not limited.
   * @default no debugger
   */
  constructor(
    definition: FunctionDefinition,
    log: (line: FunctionLogLine) => void,
    inspector?: InspectorPort,
  ) {
    this.#inspector = inspector;
    this.#definition = definition;
    this.#log = log;
    this.#worker = startWorker(definition, inspector !== undefined);
    this.#worker.on('message', (message: EnvironmentMessage) => this.#receive(message));
    this.#worker.on('error', (error: unknown) => this.#reportCrash(error));
    const memoryCheck =
      inspector === undefined
        ? setInterval(() => void this.#checkMemory(), MEMORY_CHECK_MILLISECONDS)
        : undefined;
    this.exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        clearInterval(memoryCheck);
        this.#alive = false;
        const reason = code === 0 ? 'without providing a reason' : `with error: exit status ${code}`;
        const ended = this.#endedBy ?? this.#error('Runtime.ExitError', `Runtime exited ${reason}`);
        this.#finish({ ok: false, ...ended });
        resolve();
      });
    });
    const startLimit = inspector === undefined ? START_LIMIT_MILLISECONDS : definition.timeoutSeconds * 1000;
    this.started = this.#outcome(startLimit, {
      errorType: 'Sandbox.Timedout',
      errorMessage: `Loading the code timed out after ${(startLimit / 1000).toFixed(2)} seconds`,
    });
  }

  /** `killed`: ended from outside, and not because of its code. */
  get state(): 'loading' | 'idle' | 'busy' | 'ended' | 'killed' {
    if (!this.#alive) return this.#killed ? 'killed' : 'ended';
    if (this.#settle === undefined) return 'idle';
    return this.#invocation === undefined ? 'loading' : 'busy';
  }

  /** Runs the handler once. The sandbox must have started, and no other invocation may be running. */
  invoke(requestId: string, payload: string): Promise<InvocationResult> {
    const { timeoutSeconds } = this.#definition;
    const limit = timeoutSeconds * 1000;
    this.#invocation = { requestId, payload, deadline: Date.now() + limit };
    this.#worker.postMessage(this.#invocation);
    const timedOut = `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;
    return this.#outcome(limit, this.#error('Sandbox.Timedout', timedOut));
  }

  /** Terminates the worker at once. An invocation that is running fails. */
  async end(): Promise<void> {
    this.#killed = true;
    await this.#end(this.#error('Runtime.ExitError', KILLED));
  }

  #error(errorType: string, reason: string): FunctionError {
    const request = this.#invocation === undefined ? '' : `RequestId: ${this.#invocation.requestId} `;
    return { errorType, errorMessage: `${request}Error: ${reason}` };
  }

  /** Checks the memory of buffers: V8 limits only the heap. */
  async #checkMemory(): Promise<void> {
    const settle = this.#settle;
    if (settle === undefined || !this.#alive) return;
    const memory = await this.#worker.getHeapStatistics().catch(() => undefined);
    // The answer may come during the next invocation, which must not be ended because of this one.
    if (memory === undefined || !this.#alive || this.#settle !== settle) return;
    const used = memory.used_heap_size + memory.external_memory;
    if (used > this.#definition.memoryMegabytes * 1024 * 1024)
      await this.#end(this.#error('Runtime.OutOfMemory', KILLED));
  }

  async #end(reason: FunctionError): Promise<void> {
    this.#alive = false;
    this.#endedBy ??= reason;
    const ended = this.#worker.terminate();
    // A worker at a breakpoint ends only when its debuggers are disconnected.
    if (this.#inspectedAt !== undefined) this.#inspector?.disconnect(this.#inspectedAt);
    await ended;
    await this.exited;
  }

  #outcome(limitMilliseconds: number, timedOut: FunctionError): Promise<InvocationResult> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => void this.#end(timedOut), limitMilliseconds);
      this.#settle = (outcome) => {
        clearTimeout(timer);
        resolve(outcome);
      };
    });
  }

  #receive(message: EnvironmentMessage): void {
    switch (message.type) {
      case 'output':
        this.#write(message.stream, message.text, message.requestId);
        break;
      case 'inspected':
        this.#inspectedAt = message.port;
        this.#inspector?.forwardTo(message.port);
        break;
      case 'ready':
        this.#finish({ ok: true, payload: undefined });
        break;
      case 'result':
        this.#finish(resultOf(message.payload));
        break;
      case 'functionError':
        this.#finish({ ok: false, ...tracedError(message.error) });
        break;
      case 'startFailed':
        void this.#end(tracedError(message.error));
    }
  }

  #finish(outcome: InvocationResult): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#rest[stream] !== '') this.#write(stream, '\n', this.#invocation?.requestId);
    }
    this.#settle?.(outcome);
    this.#settle = undefined;
  }

  #reportCrash(error: unknown): void {
    if (isOutOfMemory(error)) {
      // Set before the worker ends, so that the log line about its end has this reason.
      this.#endedBy ??= this.#error('Runtime.OutOfMemory', KILLED);
      return;
    }
    const { name, message, stack } = isThrownError(error) ? error : new Error(inspect(error));
    const thrown = tracedError({ errorType: name, errorMessage: message, stack });
    this.#log({
      functionName: this.#definition.name,
      stream: 'stderr',
      text: crashLine(thrown, this.#definition, this.#invocation),
      requestId: this.#invocation?.requestId,
    });
  }

  /** Logs the lines that are now complete. */
  #write(stream: FunctionLogLine['stream'], text: string, requestId: string | undefined): void {
    const lines = (this.#rest[stream] + text).split(/\r?\n/);
    this.#rest[stream] = lines.pop() ?? '';
    for (const line of lines) {
      this.#log({ functionName: this.#definition.name, stream, text: line, requestId });
    }
  }
}

function tracedError({ stack, ...error }: ThrownError): FunctionError {
  return { ...error, trace: typeof stack === 'string' ? sourceTrace(stack) : [] };
}

/** @param json the handler's return value */
function resultOf(json: string): InvocationResult {
  if (Buffer.byteLength(json) <= RESPONSE_LIMIT_BYTES) return { ok: true, payload: JSON.parse(json) };
  return {
    ok: false,
    errorType: 'Function.ResponseSizeTooLarge',
    errorMessage: `Response payload size exceeded maximum allowed payload size (${RESPONSE_LIMIT_BYTES} bytes).`,
  };
}

/** Whether a value looks like an error: errors from a worker are no longer instances of `Error`. */
const isThrownError = (error: unknown): error is Error =>
  typeof error === 'object' && error !== null && 'stack' in error && 'message' in error;

const isOutOfMemory = (error: unknown) =>
  isThrownError(error) && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
