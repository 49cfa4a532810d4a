/** A command cannot do what the user asked. It prints this message as one line, and exits with code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
