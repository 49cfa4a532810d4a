import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { connection, rows, stack } from '../store.ts';

/** Milliseconds before a detail is requested. While an arrow key is held down, rows passed are not requested. */
const PAUSE = 60;

/** Milliseconds between requests for a delivery without a row, which the stream does not send. */
const REPEAT = 2_000;

interface LoadedDetail {
  readonly detail?: DeliveryDetail;
  readonly error?: string;
}

/**
 * Loads the detail of a delivery, again after each change.
 * @param row the delivery's row from the stream. Undefined if the search does not match it, or the logs of a stage are
 * late
 */
export function useDetail(id: string, row: Delivery | undefined): LoadedDetail & { reload: () => void } {
  const state = useSignal<LoadedDetail & { id: string }>({ id });
  const round = useSignal(0);
  const reload = () => {
    round.value = round.peek() + 1;
  };
  // Repeats a failed request when the server is reachable again.
  useSignalEffect(() => {
    if (connection.value.state === 'live' && state.peek().error !== undefined) reload();
  });
  useEffect(() => {
    const abort = new AbortController();
    const load = async () => {
      const answer = await api.delivery(id, abort.signal).then(
        (detail) => ({ detail }),
        (error: unknown) => ({ error: errorText(error) }),
      );
      if (abort.signal.aborted) return;
      const before = state.peek().id === id ? state.peek().detail : undefined;
      const { detail = before, error } = { detail: undefined, error: undefined, ...answer };
      state.value = { id, ...(detail && { detail }), ...(error !== undefined && { error }) };
      const mayChange = error === undefined ? detail?.settled === false : !stack.local;
      if (row === undefined && mayChange) timer = setTimeout(loadIfSeen, REPEAT);
    };
    const loadIfSeen = () => {
      if (document.hidden) timer = setTimeout(loadIfSeen, REPEAT);
      else void load();
    };
    let timer = setTimeout(load, PAUSE);
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
