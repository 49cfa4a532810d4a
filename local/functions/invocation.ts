/** An error in the shape in which Lambda reports it to the caller of the function. */
export interface FunctionError {
  errorType: string;
  errorMessage: string;
  trace?: string[];
}

/** How an invocation ended: with what the handler returned, or as a function error. */
export type InvocationResult = { ok: true; payload: unknown } | ({ ok: false } & FunctionError);

/** Lambda refuses an invocation: the function's reserved concurrency is used up. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsException';

  constructor() {
    super('Rate Exceeded.');
  }
}

export interface LogLine {
  functionName: string;
  /** Epoch milliseconds. @default now */
  at?: number;
  /** Absent while the code is being loaded. */
  requestId?: string;
  stream: 'stdout' | 'stderr';
  text: string;
  /** Of the line about an invocation that ended without a result. */
  crash?: Crash;
}

export interface Crash {
  readonly invocationId: string;
  readonly error: string;
  /** Messages of a queue that it had. Lambda does not log them. */
  readonly messages: readonly CrashedMessage[];
}

export interface CrashedMessage {
  readonly messageId: string;
  /** 1 for the first receive. */
  readonly attempt: number;
  readonly event: string;
  readonly eventId: string;
  /** API Gateway's id of the request with the event. Absent for a message that was sent by hand. */
  readonly requestId?: string | undefined;
}
