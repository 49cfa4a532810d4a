/** Exit code of a command that Ctrl-C ended, as a shell reports it: 128 and the number of SIGINT. */
export const INTERRUPTED = 130;

/** One Ctrl-C comes several times at once, in milliseconds: from the terminal, and passed on by npm. */
const SECOND_INTERRUPTION = 1_000;

/** @returns a signal that Ctrl-C aborts; a second Ctrl-C ends the process, whatever it waits for */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  let first: number | undefined;
  const interrupt = () => {
    first ??= Date.now();
    controller.abort();
    if (Date.now() - first >= SECOND_INTERRUPTION) process.exit(INTERRUPTED);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  return controller.signal;
}
