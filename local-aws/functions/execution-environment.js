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

const startError = (name, message, details) => Object.assign(new Error(message), { name }, details);

const { functionArn, inspected, compileCache } = workerData;
/** Lambda's own variables. The function may change `process.env`. */
const variables = { ...process.env };
const { _HANDLER: handlerName, LAMBDA_TASK_ROOT: folder } = variables;
let requestId;

function send(message) {
  parentPort.postMessage(message);
}

function describe(reason) {
  if (!(reason instanceof Error)) return { errorType: typeof reason, errorMessage: String(reason) };
  return { errorType: reason.name, errorMessage: reason.message, stack: reason.stack };
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
    const file = join(folder, `${moduleName}.${extension}`);
    if (existsSync(file)) return file;
  }
  throw startError('Runtime.ImportModuleError', `Error: Cannot find module '${moduleName}' in ${folder}`);
}

async function importCode(file) {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isMissing = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(error.code);
    const type = isMissing ? 'Runtime.ImportModuleError' : 'Runtime.UserCodeSyntaxError';
    if (isMissing || error instanceof SyntaxError) {
      throw startError(type, `${error.name}: ${error.message}`, { stack: error.stack });
    }
    throw error;
  }
}

async function loadHandler() {
  const dot = handlerName.indexOf('.', handlerName.lastIndexOf('/') + 1);
  if (dot === -1) {
    throw startError('Runtime.MalformedHandlerName', `Bad handler: '${handlerName}'`);
  }
  const exportName = handlerName.slice(dot + 1);
  const code = await importCode(moduleFile(handlerName.slice(0, dot)));
  const handler = code[exportName];
  if (handler === undefined) {
    throw startError(
      'Runtime.HandlerNotFound',
      `${handlerName} is undefined or not exported; the module exports: ${Object.keys(code).join(', ')}`,
    );
  }
  if (typeof handler !== 'function') {
    throw startError('Runtime.HandlerNotFound', `${handlerName} is not a function`);
  }
  if (handler.length >= 3) {
    throw startError(
      'Runtime.CallbackHandlerDeprecated',
      `${handlerName} takes a callback, which Lambda no longer supports from Node.js 24 on; make it async`,
    );
  }
  return (event, context) => handler(event, context);
}

function invocationContext({ requestId, deadline }) {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: variables.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: variables.AWS_LAMBDA_FUNCTION_VERSION,
    invokedFunctionArn: functionArn,
    memoryLimitInMB: variables.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    awsRequestId: requestId,
    logGroupName: variables.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: variables.AWS_LAMBDA_LOG_STREAM_NAME,
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
if (inspected) {
  open(0, '127.0.0.1');
  send({ type: 'inspected', port: Number(new URL(url()).port) });
}
// The cache saves a quarter of the processor time until the code is loaded (Node.js 24.21).
if (compileCache !== undefined) enableCompileCache(compileCache);
try {
  const handler = await loadHandler();
  parentPort.on('message', async (invocation) => {
    requestId = invocation.requestId;
    try {
      const result = await handler(JSON.parse(invocation.payload), invocationContext(invocation));
      send({ type: 'result', payload: toJson(result) });
    } catch (reason) {
      send({ type: 'functionError', error: describe(reason) });
    }
  });
  send({ type: 'ready' });
} catch (reason) {
  send({ type: 'startFailed', error: describe(reason) });
}
