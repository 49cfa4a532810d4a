import type { ComponentChildren } from 'preact';
import { type Delivery, type HistoryLocation, isWaiting, queueOf } from '../../../stage/history/history.ts';
import { type Clock, stateWords } from '../../../stage/history/state-text.ts';
import type { DeliveryDetail } from '../../api.ts';
import { formatRoute } from '../route.ts';
import { pauseOf } from '../store.ts';
import { Visible } from '../text/visible.tsx';

interface OutcomeProps {
  delivery: Delivery;
  /** Undefined while the detail loads: the view then shows what the row contains. */
  detail: DeliveryDetail | undefined;
  clock: Clock;
  /** The main action. */
  children: ComponentChildren;
}

/** What happened to a delivery, and what to do first. */
export function Outcome({ delivery, detail, clock, children }: OutcomeProps) {
  const location = locationOf(delivery, detail);
  const { state, queue = '' } = location;
  const { title, detail: text, tone } = stateWords(location, clock);
  const waiting = isWaiting(state) && formatRoute({ view: 'queues' });
  const address =
    queueOf({ state }) === undefined ? waiting : formatRoute({ view: 'needs-you', query: { queue } });
  return (
    <div class={`outcome note row tone-${tone}`}>
      <div class="grow">
        <h3>{title}</h3>
        <p>
          <Visible text={text} /> {address && <a href={address}>Show the queue</a>}
        </p>
      </div>
      {children}
    </div>
  );
}

/** The row says where the delivery is. Its detail may know more about it, such as the next attempt. */
function locationOf(delivery: Delivery, detail: DeliveryDetail | undefined): HistoryLocation {
  const { receivedAt, latencyMs = 0, event, state, ...row } = delivery;
  const paused = state === 'paused' ? pauseOf(event) : undefined;
  const known = detail?.history.now.find(
    (other) => other.state === state || (isWaiting(other.state) && isWaiting(state)),
  );
  const since = new Date(Date.parse(receivedAt) + latencyMs).toISOString();
  return { since, queue: queueOf({ state, event }) ?? event, ...row, ...known, state, paused };
}
