import { useEffect, useRef } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { api } from '../api.ts';
import { connection, rows, stack } from '../store.ts';
import { type LoadState, useLoad } from '../ui/use-load.tsx';

/** Milliseconds before a detail is requested. While an arrow key is held down, rows passed are not requested. */
const PAUSE = 60;

/** Milliseconds between requests for a delivery without a row, which the stream does not send. */
const REPEAT = 2_000;

/**
 * Loads the detail of a delivery, again after each change.
 * @param row the delivery's row from the stream. Undefined if the search does not match it, or the logs of a stage are
 * late
 */
export function useDetail(id: string, row: Delivery | undefined): LoadState<DeliveryDetail> {
  const loaded = useLoad(id, async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    signal.throwIfAborted();
    return api.delivery(id, signal);
  });
  const refresh = () => {
    if (!document.hidden) loaded.reload();
  };
  // The text of the row is compared, because each new stream sends equal rows as new objects. A request that failed is
  // repeated when the server is reachable again.
  const facts = JSON.stringify([row, statesOfEvent(row), connection.value.state === 'live']);
  const known = useRef('');
  useEffect(() => {
    if (known.current === id) refresh();
    known.current = id;
  }, [id, facts]);
  const isFinal = loaded.value?.settled === true || (loaded.error !== undefined && stack.local);
  const isAsked = row === undefined && !isFinal;
  useEffect(() => {
    const timer = isAsked ? setInterval(refresh, REPEAT) : undefined;
    return () => clearInterval(timer);
  }, [id, isAsked]);
  return loaded;
}

/** States of all requests with the same bytes, because the detail contains their steps. */
const statesOfEvent = (row: Delivery | undefined) =>
  row?.eventId !== undefined &&
  rows.value.all.flatMap(({ id, eventId, state }) => (eventId === row.eventId ? [id, state] : []));
