import type { EventName } from '../../../lambda/contract/catalogue.ts';
import type { FoundStack } from '../stack.ts';

/** The receiver, or an event for its consumer. */
export type FunctionName = 'receiver' | EventName;

/** A line that a function wrote. */
export interface FollowedLine {
  readonly function: FunctionName;
  /** Epoch milliseconds, by CloudWatch Logs. */
  readonly at: number;
  readonly text: string;
}

export interface FollowOptions {
  /** @default the receiver and every consumer */
  readonly functions?: readonly FunctionName[] | undefined;
  readonly since: Date;
  readonly signal: AbortSignal;
  /** Between two looks. @default 2000; of the local stack 250 */
  readonly pollMilliseconds?: number | undefined;
  /** Told once of what keeps a function's log from being read, such as a permission; the others are followed. */
  readonly onProblem?: ((name: FunctionName, error: Error) => void) | undefined;
}

/**
 * The lines of functions as they are written, each once, until the signal is aborted: those of one look together, in
 * order of time. CloudWatch Logs shows some lines late, so each look reaches back before the one before.
 */
export async function* followLogs(
  _stack: FoundStack,
  _options: FollowOptions,
): AsyncGenerator<readonly FollowedLine[]> {
  yield [];
}
