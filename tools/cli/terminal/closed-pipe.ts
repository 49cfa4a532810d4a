/**
 * Ends a command without an error once its output is not read any more, as by `head -1`. Work that Ctrl-C can
 * interrupt ends as with Ctrl-C.
 */
export function endWithClosedPipe(): void {
  let isClosed = false;
  const onError = ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') {
      console.error(`The output cannot be written: ${message}`);
      process.exitCode = 1;
      return;
    }
    // Each further write fails, too.
    if (isClosed) return;
    isClosed = true;
    process.once('exit', () => {
      process.exitCode = 0;
    });
    if (!process.emit('SIGINT')) process.exit();
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
}
