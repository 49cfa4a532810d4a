/** Until the page is in view: what nobody sees is not asked for. @throws the signal's reason once it is aborted */
export async function untilSeen(signal: AbortSignal): Promise<void> {
  if (document.hidden) {
    await new Promise<void>((resolve) => {
      const end = () => {
        document.removeEventListener('visibilitychange', end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      document.addEventListener('visibilitychange', end);
      signal.addEventListener('abort', end);
    });
  }
  signal.throwIfAborted();
}
