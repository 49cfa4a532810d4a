/**
 * Code of the worker thread of an execution environment: loads a function and processes one invocation at a
 * time. `start-worker.ts` passes this file as text to a worker, so it may import only modules of Node.js, and
 * types.
 */
import { existsSync } from 'node:fs';
import { open, url } from 'node:inspector';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { FunctionError } from './invocation.ts';

/**
 * URL of `source-trace.ts`, which `start-worker.ts` defines: code in a `data:` URL cannot import relative
 * paths.
 */
declare const SOURCE_TRACE: string;

export interface EnvironmentSettings {
  handler: string;
  codeDirectory: string;
  functionName: string;
  functionArn: string;
  memoryMegabytes: number;
  logGroupName: string;
  logStreamName: string;
  /** Whether a debugger may connect. */
  inspected: boolean;
  /** Folder of Node's compile cache. The variable NODE_COMPILE_CACHE would be in the code's `process.env`. */
  compileCache: string | undefined;
}

/** Message from parent to worker with an invocation. The parent sends the next one after the result. */
export interface InvocationMessage {
  requestId: string;
  /** The event as JSON, as in Lambda, so that parent and function do not share objects. */
  payload: string;
  /** Epoch milliseconds at which the function times out. */
  deadline: number;
}

/** Messages from worker to parent. All use one port, so they arrive in the order of sending. */
export type EnvironmentMessage =
  /** The port of the worker's inspector. Sent before the function's code is loaded. */
  | { type: 'inspected'; port: number }
  | { type: 'ready' }
  | { type: 'startFailed'; error: FunctionError }
  | { type: 'output'; stream: 'stdout' | 'stderr'; text: string; requestId: string | undefined }
  | { type: 'result'; payload: string }
  | { type: 'functionError'; error: FunctionError };

type FunctionHandler = (event: unknown, context: object) => unknown;

class StartError extends Error {
  constructor(name: string, message: string, stack?: string) {
    super(message);
    this.name = name;
    if (stack !== undefined) this.stack = stack;
  }
}

const settings: EnvironmentSettings = workerData;
let requestId: string | undefined;

function send(message: EnvironmentMessage): void {
  parentPort?.postMessage(message);
}

async function describe(reason: unknown): Promise<FunctionError> {
  if (!(reason instanceof Error)) {
    return { errorType: typeof reason, errorMessage: String(reason), trace: [] };
  }
  return {
    errorType: reason.name,
    errorMessage: reason.message,
    trace: await traceOf(reason.stack ?? ''),
  };
}

/**
 * The lines of a stack trace, with positions in the sources. `source-trace.ts` is imported only for an error, because
 * Node's type stripper takes about 40 ms.
 */
async function traceOf(stack: string): Promise<string[]> {
  const { sourceTrace }: typeof import('./source-trace.ts') = await import(SOURCE_TRACE);
  return sourceTrace(stack);
}

/**
 * Sends what is written to a stream over the port of the results. Lines of a worker's own stdout may arrive
 * long after the result of their invocation.
 */
function captureOutput(stream: 'stdout' | 'stderr'): void {
  const decoder = new TextDecoder();
  process[stream].write = (
    chunk: string | Uint8Array,
    encodingOrWritten?: BufferEncoding | ((error?: Error | null) => void),
    written?: (error?: Error | null) => void,
  ): boolean => {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    send({ type: 'output', stream, text, requestId });
    const callback = typeof encodingOrWritten === 'function' ? encodingOrWritten : written;
    if (callback !== undefined) process.nextTick(callback);
    return true;
  };
}

/** Finds the file of the function's module, in Lambda's search order. */
function moduleFile(moduleName: string): string {
  for (const extension of ['js', 'mjs', 'cjs']) {
    const file = join(settings.codeDirectory, `${moduleName}.${extension}`);
    if (existsSync(file)) return file;
  }
  throw new StartError(
    'Runtime.ImportModuleError',
    `Error: Cannot find module '${moduleName}' in ${settings.codeDirectory}`,
  );
}

async function importCode(file: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = 'code' in error ? error.code : undefined;
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
      throw new StartError('Runtime.ImportModuleError', `Error: ${error.message}`, error.stack);
    }
    if (error instanceof SyntaxError) {
      throw new StartError('Runtime.UserCodeSyntaxError', `SyntaxError: ${error.message}`, error.stack);
    }
    throw error;
  }
}

async function loadHandler(): Promise<FunctionHandler> {
  const dot = settings.handler.indexOf('.', settings.handler.lastIndexOf('/') + 1);
  if (dot === -1) {
    throw new StartError('Runtime.MalformedHandlerName', `Bad handler: '${settings.handler}'`);
  }
  const exportName = settings.handler.slice(dot + 1);
  const code = await importCode(moduleFile(settings.handler.slice(0, dot)));
  const handler = code[exportName];
  if (handler === undefined) {
    throw new StartError(
      'Runtime.HandlerNotFound',
      `${settings.handler} is undefined or not exported; the module exports: ${Object.keys(code).join(', ')}`,
    );
  }
  if (typeof handler !== 'function') {
    throw new StartError('Runtime.HandlerNotFound', `${settings.handler} is not a function`);
  }
  if (handler.length >= 3) {
    throw new StartError(
      'Runtime.CallbackHandlerDeprecated',
      `${settings.handler} takes a callback, which Lambda no longer supports from Node.js 24 on; make it async`,
    );
  }
  return (event, context) => handler(event, context);
}

function invocationContext({ requestId, deadline }: InvocationMessage): object {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: settings.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: settings.functionArn,
    memoryLimitInMB: String(settings.memoryMegabytes),
    awsRequestId: requestId,
    logGroupName: settings.logGroupName,
    logStreamName: settings.logStreamName,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
}

function toJson(result: unknown): string {
  try {
    return JSON.stringify(result) ?? 'null';
  } catch (error) {
    throw new Error('Unable to stringify response body', { cause: error });
  }
}

captureOutput('stdout');
captureOutput('stderr');
if (settings.inspected) {
  open(0, '127.0.0.1');
  send({ type: 'inspected', port: Number(new URL(url() ?? '').port) });
}
// The cache saves a quarter of the processor time until the code is loaded (Node.js 24.21).
if (settings.compileCache !== undefined) enableCompileCache(settings.compileCache);
try {
  const handler = await loadHandler();
  parentPort?.on('message', async (invocation: InvocationMessage) => {
    requestId = invocation.requestId;
    try {
      const result = await handler(JSON.parse(invocation.payload), invocationContext(invocation));
      send({ type: 'result', payload: toJson(result) });
    } catch (reason) {
      send({ type: 'functionError', error: await describe(reason) });
    }
  });
  send({ type: 'ready' });
} catch (reason) {
  send({ type: 'startFailed', error: await describe(reason) });
}
