import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
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
  const state = useSignal<LoadedDetail & { id: string }>({ id });
  const round = useSignal(0);
  const reload = () => {
    round.value = round.peek() + 1;
  };
  // A failed request is repeated when the server is reachable again.
  useSignalEffect(() => {
    if (connection.value.state === 'live' && state.peek().error !== undefined) reload();
  });
  const hasRow = row !== undefined;
  useEffect(() => {
    const abort = new AbortController();
    const take = (detail: DeliveryDetail) => {
      state.value = { id, detail };
    };
    const keep = (change: LoadedDetail) => {
      const before = state.peek();
      state.value = { ...(before.id === id ? before : {}), id, ...change };
    };
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
  }, [id, JSON.stringify(row), round.value]);
  return { ...(state.value.id === id ? state.value : {}), reload };
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
