/** An error in the form in which Lambda reports it to the caller. */
export interface FunctionError {
  errorType: string;
  errorMessage: string;
  trace?: string[];
}

/** The result of an invocation: the handler's return value, or a function error. */
export type InvocationResult = { ok: true; payload: unknown } | ({ ok: false } & FunctionError);

/** The invocation is rejected, because the function's reserved concurrency is used up. */
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
  /** Only for the line about an invocation that ended without a result. */
  crash?: Crash;
}

export interface Crash {
  readonly invocationId: string;
  readonly error: string;
  /** Messages of a queue that the invocation had. Lambda does not log them. */
  readonly messages: readonly CrashedMessage[];
}

export interface CrashedMessage {
  readonly messageId: string;
  /** 1 for the first receive. */
  readonly attempt: number;
  readonly event: string;
  readonly eventId: string;
  /** API Gateway's id of the request with the event. Undefined for a message that was sent by hand. */
  readonly requestId?: string | undefined;
}
