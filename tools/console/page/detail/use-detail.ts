import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { ApiError, api, errorText } from '../api.ts';
import { connection, rows, stack } from '../store.ts';

/**
 * Milliseconds before a detail is requested. While an arrow key is held down in the list, the details of the
 * rows passed are not requested.
 */
const PAUSE = 60;

/** Maximum seconds that the server may delay its answer until the delivery has settled. */
const SETTLED_WAIT = 30;

interface LoadedDetail {
  readonly detail?: DeliveryDetail;
  readonly error?: string;
  /** Whether the stage does not know the delivery yet. The page then asks again, because logs may be late. */
  readonly awaited?: boolean;
}

/**
 * Loads the detail of a delivery, again after each change until the delivery has settled.
 * @param row the delivery's row from the stream
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
  // Repeats a failed request when the server is reachable again.
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
        // A 404 of a stage may be temporary: its logs are late. The local stack knows a delivery at once.
        if (stack.local || !(error instanceof ApiError) || error.status !== 404) throw error;
        keep({ awaited: true });
        return settled();
      });
      take(detail);
      // Only without a row: for a row, the stream reports changes, and a browser has few connections per server.
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
    // The text of the row is compared, because each new stream sends equal rows as new objects.
  }, [id, JSON.stringify(row), statesOfEvent(row), round.value]);
  return { ...(state.value.id === id ? state.value : {}), reload };
}

/** States of all requests with the same bytes, because the detail contains their steps. */
const statesOfEvent = (row: Delivery | undefined) =>
  row?.eventId !== undefined &&
  rows.value.all.flatMap(({ id, eventId, state }) => (eventId === row.eventId ? [id, state] : [])).join(' ');

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
