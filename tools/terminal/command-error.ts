/**
 * Thrown if a command cannot do what the user asked. The command prints the message, a few lines at most, and
 * exits with code 1.
 */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
}

/** Thrown if the command line is wrong. The command exits with {@link USAGE_ERROR}. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError';
}

/** Exit code for a wrong command line, as most Unix commands use it. */
export const USAGE_ERROR = 2;
