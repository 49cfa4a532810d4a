import type { ComponentChildren } from 'preact';
import { type Delivery, type HistoryLocation, isWaiting, queueOf } from '../../../stage/history/history.ts';
import { type Clock, stateWords } from '../../../stage/history/state-text.ts';
import type { DeliveryDetail } from '../../api.ts';
import { formatRoute, route } from '../route.ts';
import { pauseOf } from '../store.ts';
import { Sentence } from '../text/visible.tsx';
import { Button } from '../ui/button.tsx';
import type { MenuItem } from '../ui/menu.tsx';
import { now } from '../ui/time.tsx';

interface OutcomeProps {
  delivery: Delivery;
  /** Detail of the delivery. Undefined while the detail loads: the view then shows what the row contains. */
  detail: DeliveryDetail | undefined;
  action: MenuItem;
  busy: boolean;
}

/** What happened to a delivery, and what to do first. */
export function Outcome({ delivery, detail, action, busy }: OutcomeProps) {
  const clock = clockOf(detail?.settled === false);
  return (
    <DeliveryLocation location={locationsOf(delivery, detail)[0]} clock={clock}>
      <Button
        kind="primary"
        keyHint={action.keyHint}
        refusal={action.refusal}
        busy={busy}
        onClick={action.onChoose}
      >
        {action.label}
      </Button>
    </DeliveryLocation>
  );
}

/** Where the event is now because of other requests with the same bytes, such as a resend. */
export function OtherLocations({ delivery, detail }: { delivery: Delivery; detail: DeliveryDetail }) {
  const clock = clockOf(!detail.settled);
  const [, ...others] = locationsOf(delivery, detail);
  return others.map((location, index) => (
    <DeliveryLocation
      key={index}
      location={location}
      clock={clock}
      request={otherRequestOf(location, delivery, detail)}
    />
  ));
}

/**
 * Locations of the event, that of this delivery first. Other locations follow if the same event was delivered more than
 * once.
 */
function locationsOf(
  delivery: Delivery,
  detail: DeliveryDetail | undefined,
): readonly [HistoryLocation, ...HistoryLocation[]] {
  const own = locationOfRow(delivery);
  const known = detail?.history.now ?? [];
  // A delivery's row and its detail may differ about a pause for a moment, because they are loaded separately.
  const isOwn = ({ state }: HistoryLocation) =>
    state === own.state || (isWaiting(state) && isWaiting(own.state));
  const { paused, state } = own;
  const same = known.find(isOwn) ?? own;
  return [
    paused === undefined ? same : { ...same, state, paused },
    ...known.filter((location) => location !== same),
  ];
}

/** The request that caused a location, if it is another one with the same bytes, such as a resend. */
function otherRequestOf(
  { state, replay }: HistoryLocation,
  { id, status, state: own }: Delivery,
  { history: { steps } }: Pick<DeliveryDetail, 'history'>,
): string | undefined {
  const isOther = status !== 200 || (state === 'processed' && own !== 'processed');
  if (!isOther || replay !== undefined) return undefined;
  const accepted = steps.findLast(
    ({ kind, status: answer, requestId }) =>
      requestId !== undefined &&
      requestId !== id &&
      (kind === 'processed' || (kind === 'answered' && answer === 200)),
  );
  return accepted?.requestId;
}

/** Where a delivery is, as far as its row in the list shows. */
function locationOfRow({ receivedAt, latencyMs = 0, event, ...row }: Delivery): HistoryLocation {
  const since = new Date(Date.parse(receivedAt) + latencyMs).toISOString();
  const queue = queueOf({ ...row, event }) ?? event;
  return { ...row, queue, since, paused: row.state === 'paused' ? pauseOf(event) : undefined };
}

interface LocationProps {
  location: HistoryLocation;
  clock: Clock;
  /** Id of another request with the same bytes that the location belongs to. */
  request?: string | undefined;
  children?: ComponentChildren;
}

function DeliveryLocation({ location, clock, request, children }: LocationProps) {
  const { title, detail, tone } = stateWords(location, clock);
  const address = queueAddress(location);
  return (
    <div class={`outcome note row tone-${tone}`}>
      <div class="grow">
        <h3>{request === undefined ? title : `Another request of this event: ${title}`}</h3>
        <p>
          <Sentence text={detail} /> {address !== undefined && <a href={address}>Show the queue</a>}{' '}
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

/** The view that has the message. */
function queueAddress({ state, queue }: HistoryLocation): string | undefined {
  if (queue === undefined) return undefined;
  if (isWaiting(state)) return formatRoute({ view: 'queues' });
  const isAside = queueOf({ state }) !== undefined;
  return isAside ? formatRoute({ view: 'needs-you', query: { queue } }) : undefined;
}

/**
 * The time for a sentence about a location. The time advances every second if `ticks`. Times stay ISO texts, because
 * {@link Sentence} formats them.
 */
export const clockOf = (ticks: boolean): Clock => ({
  now: ticks ? now.value : Date.now(),
  time: (iso) => iso,
});
