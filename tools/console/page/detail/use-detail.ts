import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { ApiError, api, errorText } from '../api.ts';
import { connection, stack } from '../store.ts';

/** Milliseconds. While a key is held in the list, the server is not asked for each row. */
const PAUSE = 60;

/** Seconds that the server may wait for a delivery to settle. */
const SETTLED_WAIT = 30;

interface LoadedDetail {
  readonly detail?: DeliveryDetail;
  readonly error?: string;
  /** It is unknown yet. The server is asked until its logs should have it. */
  readonly awaited?: boolean;
}

/**
 * All that is known of a delivery, until it has settled.
 * @param row as the stream has it
 */
export function useDetail(
  id: string,
  row: Delivery | undefined,
): LoadedDetail & { readonly reload: () => void } {
  const [state, setState] = useState<LoadedDetail & { id: string }>({ id });
  const [round, setRound] = useState(0);
  const loaded: LoadedDetail = state.id === id ? state : {};
  /** What failed is tried again once, and whenever the server is back. */
  const retry = loaded.error === undefined ? 'not needed' : connection.value.state === 'live';
  const hasRow = row !== undefined;
  useEffect(() => {
    const abort = new AbortController();
    const take = (detail: DeliveryDetail) => setState({ id, detail });
    const keep = (change: LoadedDetail) =>
      setState((before) => ({ ...(before.id === id ? before : {}), id, ...change }));
    const settled = () => api.settled(id, SETTLED_WAIT, abort.signal);
    const load = async () => {
      let detail = await api.delivery(id, abort.signal).catch((error: unknown) => {
        // Logs of a stage come late. The local stack knows at once.
        if (stack.local || !(error instanceof ApiError) || error.status !== 404) throw error;
        keep({ awaited: true });
        return settled();
      });
      take(detail);
      // The stream tells of a row that it has. A waiting request would take one of the browser's few connections.
      while (!hasRow && !detail.settled) {
        await untilSeen(abort.signal);
        detail = await settled();
        take(detail);
      }
    };
    const timer = setTimeout(() => {
      load().catch((error: unknown) => {
        if (!abort.signal.aborted) keep({ awaited: false, error: errorText(error) });
      });
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
    // A changed row means that there is more to know. Each stream brings the same row again, as another object.
  }, [id, JSON.stringify(row), retry, round]);
  const reload = useCallback(() => setRound((number) => number + 1), []);
  return { ...loaded, reload };
}

/** Until the page is seen. */
async function untilSeen(signal: AbortSignal): Promise<void> {
  while (document.hidden && !signal.aborted) {
    await new Promise((resolve) => {
      document.addEventListener('visibilitychange', resolve, { once: true, signal });
      signal.addEventListener('abort', resolve);
    });
  }
  signal.throwIfAborted();
}
