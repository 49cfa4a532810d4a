/**
 * Code of the worker thread of an execution environment: loads a function and processes one invocation at a time. It
 * is JavaScript because each worker would also load Node's type stripper, which costs 11 MB and 40 ms (Node.js 24.21).
 * `start-worker.ts` has the types of its settings and messages.
 */
import { existsSync } from 'node:fs';
import { open, url } from 'node:inspector';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

class StartError extends Error {
  constructor(name, message, stack) {
    super(message);
    this.name = name;
    if (stack !== undefined) this.stack = stack;
  }
}

const settings = workerData;
let requestId;

function send(message) {
  parentPort.postMessage(message);
}

async function describe(reason) {
  if (!(reason instanceof Error)) {
    return { errorType: typeof reason, errorMessage: String(reason), trace: [] };
  }
  // Imported only for an error, because Node's type stripper takes about 40 ms.
  const { sourceTrace } = await import('./source-trace.ts');
  return {
    errorType: reason.name,
    errorMessage: reason.message,
    trace: sourceTrace(reason.stack ?? ''),
  };
}

/**
 * Sends what is written to a stream over the port of the results. Lines of a worker's own stdout may arrive
 * long after the result of their invocation.
 */
function captureOutput(stream) {
  const decoder = new TextDecoder();
  process[stream].write = (chunk, encodingOrWritten, written) => {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    send({ type: 'output', stream, text, requestId });
    const callback = typeof encodingOrWritten === 'function' ? encodingOrWritten : written;
    if (callback !== undefined) process.nextTick(callback);
    return true;
  };
}

/** Finds the file of the function's module, in Lambda's search order. */
function moduleFile(moduleName) {
  for (const extension of ['js', 'mjs', 'cjs']) {
    const file = join(settings.codeDirectory, `${moduleName}.${extension}`);
    if (existsSync(file)) return file;
  }
  throw new StartError(
    'Runtime.ImportModuleError',
    `Error: Cannot find module '${moduleName}' in ${settings.codeDirectory}`,
  );
}

async function importCode(file) {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { code } = error;
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
      throw new StartError('Runtime.ImportModuleError', `Error: ${error.message}`, error.stack);
    }
    if (error instanceof SyntaxError) {
      throw new StartError('Runtime.UserCodeSyntaxError', `SyntaxError: ${error.message}`, error.stack);
    }
    throw error;
  }
}

async function loadHandler() {
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

function invocationContext({ requestId, deadline }) {
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

function toJson(result) {
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
  send({ type: 'inspected', port: Number(new URL(url()).port) });
}
// The cache saves a quarter of the processor time until the code is loaded (Node.js 24.21).
if (settings.compileCache !== undefined) enableCompileCache(settings.compileCache);
try {
  const handler = await loadHandler();
  parentPort.on('message', async (invocation) => {
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
