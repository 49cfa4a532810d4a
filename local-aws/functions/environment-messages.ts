import type { FunctionError } from './invocation.ts';

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
