import { useEffect, useState } from 'preact/hooks';
import type { Delivery, DeliveryDetail } from '../../api.ts';
import { useConsole } from '../shell/context.ts';

/** Whoever goes down the list with a key held is not asked for each row. */
const PAUSE_MS = 60;

/** How long the server may wait for a delivery to settle, in seconds. */
const SETTLED_WAIT_S = 30;

interface LoadedDetail {
  readonly detail: DeliveryDetail | undefined;
  readonly error: string | undefined;
}

/** All that is known of a delivery, as it grows until it has settled. @param row as the list has it */
export function useDetail(id: string, row: Delivery | undefined): LoadedDetail {
  const { api } = useConsole();
  const [loaded, setLoaded] = useState<LoadedDetail>({ detail: undefined, error: undefined });
  useEffect(() => {
    const abort = new AbortController();
    const path = `/api/deliveries/${encodeURIComponent(id)}`;
    const load = async () => {
      let detail = await api.get<DeliveryDetail>(path, abort.signal);
      setLoaded({ detail, error: undefined });
      while (!detail.settled && !abort.signal.aborted) {
        detail = await api.get<DeliveryDetail>(`${path}/settled?timeout=${SETTLED_WAIT_S}`, abort.signal);
        setLoaded({ detail, error: undefined });
      }
    };
    const timer = setTimeout(() => {
      load().catch((error: unknown) => {
        if (abort.signal.aborted) return;
        const text = error instanceof Error ? error.message : String(error);
        setLoaded((before) => ({ ...before, error: text }));
      });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
    // A row that changed means that there is more to know.
  }, [api, id, row?.state, row?.attempts, row?.error]);
  return loaded;
}
