import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { ApiError } from '../api-client.ts';
import { errorText } from '../shared/error-text.ts';
import { untilSeen } from '../shared/until-seen.ts';
import { useConsole } from '../shell/context.ts';
import { useLive } from '../stream/use-live.ts';

/** Whoever goes down the list with a key held is not asked for each row. */
const PAUSE_MS = 60;

/** How long the server may wait for a delivery to settle, in seconds. */
const SETTLED_WAIT_S = 30;

interface LoadedDetail {
  readonly detail: DeliveryDetail | undefined;
  readonly error: string | undefined;
  /** It is not known yet; the server is asked until it should be. */
  readonly awaited: boolean;
}

const NOTHING: LoadedDetail = { detail: undefined, error: undefined, awaited: false };

/**
 * All that is known of a delivery, as it grows until it has settled.
 * @param row as the stream tells of it
 */
export function useDetail(
  id: string,
  row: Delivery | undefined,
): LoadedDetail & { readonly reload: () => void } {
  const { api, stack } = useConsole();
  const [state, setState] = useState({ id, ...NOTHING });
  const [round, setRound] = useState(0);
  const isLive = useLive().connection.state === 'live';
  const loaded = state.id === id ? state : NOTHING;
  /** What failed is tried again once, and whenever the server is back. */
  const retry = loaded.error === undefined ? 'not needed' : isLive;
  const hasRow = row !== undefined;
  useEffect(() => {
    const abort = new AbortController();
    const path = `/api/deliveries/${encodeURIComponent(id)}`;
    const take = (detail: DeliveryDetail) => setState({ id, ...NOTHING, detail });
    const settled = () => api.get<DeliveryDetail>(`${path}/settled?timeout=${SETTLED_WAIT_S}`, abort.signal);
    const load = async () => {
      let detail = await api.get<DeliveryDetail>(path, abort.signal).catch((error: unknown) => {
        // Logs of a stage come late; the local stack knows at once.
        if (stack.local || !(error instanceof ApiError) || error.status !== 404) throw error;
        setState((before) =>
          before.id === id ? { ...before, awaited: true } : { id, ...NOTHING, awaited: true },
        );
        return settled();
      });
      take(detail);
      // The stream tells of a row that it has: each request more would take one of the browser's few connections.
      while (!hasRow && !detail.settled) {
        await untilSeen(abort.signal);
        detail = await settled();
        take(detail);
      }
    };
    const timer = setTimeout(() => {
      load().catch((error: unknown) => {
        if (abort.signal.aborted) return;
        setState((before) => ({
          ...(before.id === id ? before : NOTHING),
          id,
          awaited: false,
          error: errorText(error),
        }));
      });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
    // A row that changed means that there is more to know. The same row comes anew with each stream.
  }, [api, stack.local, id, JSON.stringify(row), retry, round]);
  const reload = useCallback(() => setRound((number) => number + 1), []);
  return { ...loaded, reload };
}
