import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MILLISECONDS = 100;
const LONGEST_PAUSE_MILLISECONDS = 5_000;

/** The pause after a number of failures in a row: it doubles from 0.1 s to 5 s. */
export function pauseMilliseconds(failures: number): number {
  return Math.min(LONGEST_PAUSE_MILLISECONDS, FIRST_PAUSE_MILLISECONDS * 2 ** (failures - 1));
}

/** Waits as `pauseMilliseconds` says, or until `signal` is aborted. Never rejects. */
export async function pause(failures: number, signal: AbortSignal): Promise<void> {
  await sleep(pauseMilliseconds(failures), undefined, { signal }).catch(() => {});
}
