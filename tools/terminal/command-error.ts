/** What a command says when it cannot do as it was told: one clear line, exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
