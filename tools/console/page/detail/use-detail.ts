import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { ApiError, api, errorText } from '../api.ts';
import { connection, stack } from '../store.ts';

/** Milliseconds. While a key is held in the list, the server is not asked for each row. */
const PAUSE = 60;

/** Maximum seconds that the server may wait for a delivery to settle. */
const SETTLED_WAIT = 30;

interface LoadedDetail {
  readonly detail?: DeliveryDetail;
  readonly error?: string;
  /** It is unknown so far. The page asks again until the stage's logs should contain it. */
  readonly awaited?: boolean;
}

/**
 * Loads all details of a delivery, until it has settled.
 * @param row as received from the stream
 */
export function useDetail(
  id: string,
  row: Delivery | undefined,
): LoadedDetail & { readonly reload: () => void } {
  const [state, setState] = useState<LoadedDetail & { id: string }>({ id });
  const [round, setRound] = useState(0);
  const loaded: LoadedDetail = state.id === id ? state : {};
  /** A failed request is retried once, and when the server is reachable again. */
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
        // The logs of a stage are late. The local stack knows at once.
        if (stack.local || !(error instanceof ApiError) || error.status !== 404) throw error;
        keep({ awaited: true });
        return settled();
      });
      take(detail);
      // For a row that it contains, the stream reports changes. A waiting request would use one of the browser's few
      // connections.
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
    // A changed row means that there are new details. Each stream sends the same row as a new object, so the text is
    // compared.
  }, [id, JSON.stringify(row), retry, round]);
  const reload = useCallback(() => setRound((number) => number + 1), []);
  return { ...loaded, reload };
}

/** Resolves when the page is visible. */
async function untilSeen(signal: AbortSignal): Promise<void> {
  while (document.hidden && !signal.aborted) {
    await new Promise((resolve) => {
      document.addEventListener('visibilitychange', resolve, { once: true, signal });
      signal.addEventListener('abort', resolve);
    });
  }
  signal.throwIfAborted();
}
