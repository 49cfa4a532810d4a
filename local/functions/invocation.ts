import type { FunctionError } from './messages.ts';

/** How an invocation ended: with what the handler returned, or as a function error. */
export type InvocationResult = { ok: true; payload: unknown } | ({ ok: false } & FunctionError);

/** One line that a function wrote. */
export interface LogLine {
  functionName: string;
  /** Absent while the code is being loaded. */
  requestId?: string;
  stream: 'stdout' | 'stderr';
  text: string;
}
