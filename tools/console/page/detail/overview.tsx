import { useEffect, useState } from 'preact/hooks';
import {
  type Delivery,
  type History,
  type HistoryPlace,
  type HistoryStep,
  isWaiting,
} from '../../../stage/history/history.ts';
import { type Clock, stateWords, stepWords } from '../../../stage/history/state-text.ts';
import { duration } from '../../../terminal/text.ts';
import type { DeliveryDetail } from '../../api.ts';
import { formatRoute } from '../route.ts';
import { pauseOf } from '../store.ts';
import { Sentence } from '../text/visible.tsx';
import { Problems, Scrolled } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import type { MenuItem } from '../ui/menu.tsx';
import { Time } from '../ui/time.tsx';
import { Effects } from './effects.tsx';

interface OverviewProps {
  delivery: Delivery;
  /** Undefined until it is loaded. The row's own data is shown at once. */
  detail: DeliveryDetail | undefined;
  action: MenuItem;
  busy: boolean;
}

export function Overview({ delivery, detail, action, busy }: OverviewProps) {
  const clock = useClock(detail?.settled === false);
  const [first, ...others] = placesOf(delivery, detail);
  return (
    <Scrolled class="overview stack" label="Overview">
      <Outcome place={first} clock={clock}>
        <Button
          kind="primary"
          keyHint={action.keyHint}
          refusal={action.refusal}
          busy={busy}
          onClick={action.onChoose}
        >
          {action.label}
        </Button>
      </Outcome>
      {others.map((place, index) => (
        <Outcome key={index} place={place} clock={clock} />
      ))}
      {detail !== undefined && (
        <>
          <Problems problems={detail.problems} />
          <Effects effects={detail.effects} />
          <Timeline history={detail.history} clock={clock} />
        </>
      )}
    </Scrolled>
  );
}

/** The delivery's own place first. If the same event was delivered more than once, there may be others. */
function placesOf(
  delivery: Delivery,
  detail: DeliveryDetail | undefined,
): readonly [HistoryPlace, ...HistoryPlace[]] {
  const own = placeOf(delivery);
  const known = detail?.history.now ?? [];
  // Rows and details learn of a pause at different times.
  const isOwn = ({ state }: HistoryPlace) =>
    state === own.state || (isWaiting(state) && isWaiting(own.state));
  const { paused, state } = own;
  const same = known.find(isOwn) ?? own;
  return [
    paused === undefined ? same : { ...same, state, paused },
    ...known.filter((place) => place !== same),
  ];
}

/** Where a delivery is, as far as its row shows. */
export function placeOf({ receivedAt, latencyMs = 0, event, ...row }: Delivery): HistoryPlace {
  const queue = row.state === 'invalid' ? 'quarantine' : row.state === 'parked' ? 'unrouted' : event;
  const since = new Date(Date.parse(receivedAt) + latencyMs).toISOString();
  return { ...row, queue, since, paused: row.state === 'paused' ? pauseOf(event) : undefined };
}

interface OutcomeProps {
  place: HistoryPlace;
  clock: Clock;
  children?: preact.ComponentChildren;
}

function Outcome({ place, clock, children }: OutcomeProps) {
  const { title, detail, tone } = stateWords(place, clock);
  const queue = queueOf(place);
  return (
    <div class={`outcome note row tone-${tone}`}>
      <div class="grow">
        <h3>{title}</h3>
        <p>
          <Sentence text={detail} />{' '}
          {queue !== undefined && <a href={formatRoute({ view: 'queues', path: [queue] })}>Show the queue</a>}
        </p>
      </div>
      {children}
    </div>
  );
}

/** Name of the queue where it waits, as in the view of queues. */
function queueOf({ state, queue, queueHolds }: HistoryPlace): string | undefined {
  if (queue === undefined || queueHolds === 0) return undefined;
  if (state === 'dead-letter') return `dead:${queue}`;
  return isWaiting(state) || state === 'invalid' || state === 'parked' ? queue : undefined;
}

/** Maximum number of steps shown from the beginning and from the end: the same bytes may arrive a thousand times. */
const SHOWN_AT_EACH_END = 60;

function Timeline({ history, clock }: { history: History; clock: Clock }) {
  const { steps } = history;
  const left = steps.length - 2 * SHOWN_AT_EACH_END;
  const shown = left > 0 ? steps.toSpliced(SHOWN_AT_EACH_END, left) : steps;
  return (
    <section class="stack">
      <h3>Timeline</h3>
      <ol>
        {shown.map((step, index) => {
          const { title, detail, tone } = stepWords(step, history, clock);
          return (
            <li key={index} class={`step is-${tone}`}>
              <span class="step-time">
                <Time at={step.at} milliseconds />
                <span class="soft">{gapText(step, shown[index - 1])}</span>
              </span>
              <span class="step-title">{title}</span>
              <span class="soft wrap">
                <Sentence text={detail} />
              </span>
            </li>
          );
        })}
      </ol>
      {left > 0 && <p class="soft">{left.toLocaleString('en')} steps in the middle are not shown.</p>}
    </section>
  );
}

/** Time since the previous step, such as `+12 ms`. */
function gapText({ at }: HistoryStep, before: HistoryStep | undefined): string {
  const gap = before === undefined ? 0 : Date.parse(at) - Date.parse(before.until ?? before.at);
  if (!(gap > 0)) return '';
  return `+${gap < 1000 ? `${gap} ms` : duration(gap)}`;
}

/**
 * The current time, updated every second if `ticks`. Its times stay ISO texts, because {@link Sentence} formats them.
 */
function useClock(ticks: boolean): Clock {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    if (!ticks) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [ticks]);
  return { now, time: (iso) => iso };
}
