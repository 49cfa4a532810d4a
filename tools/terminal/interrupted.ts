/** Exit code of a command that Ctrl-C ended, as a shell reports it: 128 and the number of SIGINT. */
export const INTERRUPTED = 130;
