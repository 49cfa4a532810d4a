import type { ComponentChildren } from 'preact';
import { type Delivery, type HistoryLocation, isWaiting, queueOf } from '../../../stage/history/history.ts';
import { type Clock, stateWords } from '../../../stage/history/state-text.ts';
import type { DeliveryDetail } from '../../api.ts';
import { formatRoute, route } from '../route.ts';
import { pauseOf } from '../store.ts';
import { Visible } from '../text/visible.tsx';

interface OutcomeProps {
  delivery: Delivery;
  /** Undefined while the detail loads: the view then shows what the row contains. */
  detail: DeliveryDetail | undefined;
  clock: Clock;
}

/** What happened to a delivery, and what to do first. */
export function Outcome({ children, ...props }: OutcomeProps & { children: ComponentChildren }) {
  return (
    <Place location={ownLocation(props)} clock={props.clock}>
      {children}
    </Place>
  );
}

/** Where the event is now because of other requests with the same bytes, such as a resend. */
export function OtherLocations({ detail, ...props }: OutcomeProps & { detail: DeliveryDetail }) {
  const { now, steps } = detail.history;
  const own = ownLocation({ detail, ...props });
  return now.flatMap((location, index) => {
    const { state, requestId = steps.findLast(({ kind }) => kind === state)?.requestId } = location;
    if (state === own.state || requestId === detail.id) return [];
    return <Place key={index} location={location} clock={props.clock} request={requestId} />;
  });
}

/** The row says where the delivery is. Its detail may know more about it, such as the next attempt. */
function ownLocation({ delivery, detail }: OutcomeProps): HistoryLocation {
  const { receivedAt, latencyMs = 0, event, state, ...row } = delivery;
  const paused = state === 'paused' ? pauseOf(event) : undefined;
  const known = detail?.history.now.find(
    (other) => other.state === state || (isWaiting(other.state) && isWaiting(state)),
  );
  const since = new Date(Date.parse(receivedAt) + latencyMs).toISOString();
  return { since, queue: queueOf({ state, event }) ?? event, ...row, ...known, state, paused };
}

interface PlaceProps {
  location: HistoryLocation;
  clock: Clock;
  /** Id of another request with the same bytes that the location belongs to. */
  request?: string | undefined;
  children?: ComponentChildren;
}

function Place({ location, clock, request, children }: PlaceProps) {
  const { title, detail, tone } = stateWords(location, clock);
  const { state, queue = '' } = location;
  const waiting = isWaiting(state) && formatRoute({ view: 'queues' });
  const address =
    queueOf({ state }) === undefined ? waiting : formatRoute({ view: 'needs-you', query: { queue } });
  return (
    <div class={`outcome note row tone-${tone}`}>
      <div class="grow">
        <h3>{request === undefined ? title : `Another request of this event: ${title}`}</h3>
        <p>
          <Visible text={detail} /> {address && <a href={address}>Show the queue</a>}{' '}
          {request !== undefined && (
            <a href={formatRoute({ ...route.value, view: 'deliveries', path: [request] })}>
              Show the request
            </a>
          )}
        </p>
      </div>
      {children}
    </div>
  );
}
