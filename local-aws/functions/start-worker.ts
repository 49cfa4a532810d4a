import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { arnOf, REGION } from '../aws/service-forms.ts';
import type { FunctionDefinition, FunctionError } from './invocation.ts';

/** Message from parent to worker with an invocation. The parent sends the next one after the result. */
export interface InvocationMessage {
  requestId: string;
  /** The event as JSON, as in Lambda, so that parent and function do not share objects. */
  payload: string;
  /** Epoch milliseconds at which the function times out. */
  deadline: number;
}

export interface ThrownError extends Omit<FunctionError, 'trace'> {
  /** Usually text, but the function's code can set anything. */
  stack?: unknown;
}

/** Messages from worker to parent. All use one port, so they arrive in the order of sending. */
export type EnvironmentMessage =
  /** The port of the worker's inspector. Sent before the function's code is loaded. */
  | { type: 'inspected'; port: number }
  | { type: 'ready' }
  | { type: 'startFailed'; error: ThrownError }
  | { type: 'output'; stream: 'stdout' | 'stderr'; text: string; requestId: string | undefined }
  | { type: 'result'; payload: string }
  | { type: 'functionError'; error: ThrownError };

/**
 * Size of the young generation of an environment's heap, which holds new objects in three parts. V8's default
 * would let it grow to 48 MB of garbage. `npm start` sets the same limit for its own process by
 * `--max-semi-space-size`, which is the size of one part.
 */
const YOUNG_GENERATION_MEGABYTES = 12;

/** Starts the worker thread of an execution environment. @param inspected whether a debugger may connect */
export function startWorker(definition: FunctionDefinition, inspected: boolean): Worker {
  return new Worker(new URL('execution-environment.js', import.meta.url), {
    workerData: {
      functionArn: arnOf('lambda', `function:${definition.name}`),
      inspected,
      // Not in the worker's environment, because its variables are the code's `process.env`.
      compileCache: process.env.NODE_COMPILE_CACHE,
    },
    env: environmentVariables(definition),
    // Without the parent's own flags. Node.js must not print the inspector's port: debuggers use InspectorPort.
    execArgv: inspected ? ['--inspect-publish-uid=http'] : [],
    stdout: true,
    stderr: true,
    resourceLimits: {
      maxOldGenerationSizeMb: definition.memoryMegabytes,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MEGABYTES,
    },
  });
}

/**
 * `process.env` of a function: Lambda's own variables and those of the template. The template cannot set
 * variables that Lambda reserves (https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html),
 * nor the address of AWS, because a local function must not reach the real AWS.
 */
function environmentVariables(definition: FunctionDefinition): Record<string, string> {
  const today = new Date().toISOString().slice(0, 10).replaceAll('-', '/');
  return {
    LANG: 'en_US.UTF-8',
    PATH: '/var/lang/bin:/usr/local/bin:/usr/bin/:/bin:/opt/bin',
    TZ: ':UTC',
    // The SDK reads `.aws/config` in the home folder. A function must not read the developer's own.
    HOME: definition.codeDirectory,
    ...definition.environment,
    _HANDLER: definition.handler,
    AWS_ACCESS_KEY_ID: definition.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: definition.credentials.secretAccessKey,
    AWS_DEFAULT_REGION: REGION,
    AWS_REGION: REGION,
    AWS_ENDPOINT_URL: definition.awsEndpointUrl,
    // An IP address: the SDK would put the bucket's name before a host name, which not every machine resolves.
    AWS_ENDPOINT_URL_S3: definition.awsEndpointUrl.replace('localhost', '127.0.0.1'),
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMegabytes),
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: `${today}/[$LATEST]${randomBytes(16).toString('hex')}`,
    LAMBDA_TASK_ROOT: definition.codeDirectory,
  };
}
