import type { Delivery } from '../../../stage/history/history.ts';
import { skipText, stateTitle } from '../../../stage/history/words.ts';
import { Badge } from '../shared/badge.tsx';
import { latencyText, shortMomentText } from '../shared/time-text.ts';
import { Visible } from '../text/visible.tsx';

/** Of the element of a row. */
export const rowId = (id: string) => `delivery-${id}`;

interface DeliveryRowProps {
  delivery: Delivery;
  /** Pixels from the top of the list. */
  top: number;
  index: number;
  count: number;
  selected: boolean;
}

export function DeliveryRow({ delivery, top, index, count, selected }: DeliveryRowProps) {
  const { id, receivedAt, event, state, reason, shopId, status, error, latencyMs, smokeTest } = delivery;
  const { title, tone } = stateTitle(state);
  return (
    // The list has the focus, and names the row that is active.
    <div
      role="option"
      tabIndex={-1}
      id={rowId(id)}
      data-id={id}
      class={`row${selected ? ' is-selected' : ''}`}
      aria-selected={selected}
      aria-setsize={count}
      aria-posinset={index + 1}
      style={{ transform: `translateY(${top}px)` }}
    >
      <time dateTime={receivedAt} title={receivedAt} class="time">
        {shortMomentText(new Date(receivedAt), new Date())}
      </time>
      <span class={`row-event${event === undefined ? ' soft' : ''}`} title={event}>
        {event === undefined ? smokeTest ? 'smoke test' : 'unknown event' : <Visible text={event} />}
      </span>
      <Badge tone={tone}>{title}</Badge>
      <span class="row-shop" title={shopId}>
        {shopId !== undefined && <Visible text={shopId} />}
      </span>
      {reason !== undefined ? (
        <span class="row-result" title={skipText(reason)}>
          {skipText(reason)}
        </span>
      ) : error === undefined || latencyMs !== undefined ? (
        <span class="row-result">{latencyMs === undefined ? '' : latencyText(latencyMs)}</span>
      ) : (
        <span class="row-result is-error" title={error}>
          <Visible text={error} />
        </span>
      )}
      <span class="row-status">{status}</span>
    </div>
  );
}
