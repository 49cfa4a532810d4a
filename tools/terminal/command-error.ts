/** A command cannot do what the user asked. It prints this message, in a few lines at most, and exits with code 1. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
}

/** The command line is wrong. The command exits with {@link USAGE_ERROR}. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError';
}

/** Exit code, as of most commands of Unix. */
export const USAGE_ERROR = 2;
