/** Why a command cannot do what was asked: it prints this one line, and its exit code is 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
