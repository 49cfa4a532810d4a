/** An error in the shape in which Lambda reports it to the caller of the function. */
export interface FunctionError {
  errorType: string;
  errorMessage: string;
  trace?: string[];
}

/** How an invocation ended: with what the handler returned, or as a function error. */
export type InvocationResult = { ok: true; payload: unknown } | ({ ok: false } & FunctionError);

/** Lambda's API does not take an invocation: as many run as the function has concurrency reserved. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsException';

  constructor() {
    super('Rate Exceeded.');
  }
}

/** One line that a function wrote. */
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

/** An invocation that ended without a result. */
export interface Crash {
  /** Lambda's id of the invocation. */
  readonly invocationId: string;
  /** Such as `Runtime.ExitError`. */
  readonly error: string;
  /** Messages of a queue that it had; Lambda does not log them. */
  readonly messages: readonly CrashedMessage[];
}

export interface CrashedMessage {
  readonly messageId: string;
  /** 1 for the first receive. */
  readonly attempt: number;
  readonly event: string;
  readonly eventId: string;
  /** API Gateway's id of the request that brought the event; absent of a message that was sent by hand. */
  readonly requestId?: string | undefined;
}
