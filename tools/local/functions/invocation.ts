/** An error in the form in which Lambda reports it to the caller. */
export interface FunctionError {
  errorType: string;
  errorMessage: string;
  trace?: string[];
}

/**
 * Lambda's quota for the event of a synchronous invocation, "6 MB": 6,291,456 bytes in its API
 * (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). An event of API Gateway carries a body in
 * base64, which is a third longer, or as JSON text, in which each quotation mark and backslash counts twice. A batch of
 * SQS that exceeds the quota is split.
 */
export const EVENT_LIMIT_BYTES = 6 * 1024 * 1024;

/** The result of an invocation: the handler's return value, or a function error. */
export type InvocationResult = { ok: true; payload: unknown } | ({ ok: false } & FunctionError);

/** The invocation is rejected, because the function's reserved concurrency is used up. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsException';

  constructor() {
    super('Rate Exceeded.');
  }
}

export interface FunctionLogLine {
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
  /** Its attributes of type String. */
  readonly attributes: Readonly<Record<string, string>>;
}
