/** What a worker needs to know before it can load a function's code; handed over as `workerData`. */
export interface EnvironmentSettings {
  handler: string;
  codeDirectory: string;
  functionName: string;
  functionArn: string;
  memoryMegabytes: number;
  logGroupName: string;
  logStreamName: string;
  /** Whether a debugger may look into it. */
  inspected: boolean;
}

/** An error in the shape in which Lambda reports it to whoever invoked the function. */
export interface FunctionError {
  errorType: string;
  errorMessage: string;
  trace?: string[];
}

/** Parent to worker: one invocation. The next one is sent only after this one's result. */
export interface InvocationMessage {
  requestId: string;
  /** JSON text, as Lambda hands it over: neither side can reach the other's objects. */
  payload: string;
  /** When the function times out, in milliseconds since the epoch. */
  deadline: number;
}

/** Worker to parent. One port carries them all, so they arrive in the order in which they were sent. */
export type EnvironmentMessage =
  /** Debuggers find it at this port. Before the code is loaded. */
  | { type: 'inspected'; port: number }
  | { type: 'ready' }
  | { type: 'startFailed'; error: FunctionError }
  | { type: 'output'; stream: 'stdout' | 'stderr'; text: string; requestId: string | undefined }
  | { type: 'result'; payload: string }
  | { type: 'functionError'; error: FunctionError };
