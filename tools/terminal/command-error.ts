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

/**
 * One line about an error of the operating system that the user can fix.
 * @returns undefined for another error
 */
export function systemErrorText(error: NodeJS.ErrnoException & { port?: number }): string | undefined {
  const { code = '', path, syscall, port } = error;
  if (code === 'EMFILE' || code === 'ENFILE') return 'Too many open files. Raise the limit: ulimit -n 1024';
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Stop what uses it, or choose another`;
  if (code === 'ENOSPC') return `No space left on the disk: ${path}`;
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return undefined;
  if (syscall === 'listen') return `Port ${port} needs administrator rights. Choose a port from 1024 on`;
  return `Permission denied: ${path}. Use a checkout that belongs to you, in a folder that can be written`;
}
