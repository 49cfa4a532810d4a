import type { FunctionError } from './messages.ts';

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
}
