import { useEffect, useState } from 'preact/hooks';
import type { Delivery, History, Place } from '../../../stage/history/history.ts';
import { type Clock, skipText, stateTitle, stateWords } from '../../../stage/history/words.ts';
import type { DeliveryDetail } from '../../api.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { Loading } from '../shared/loading.tsx';
import { Scrolled } from '../shared/scrolled.tsx';
import { clockText, dayText } from '../shared/time-text.ts';
import type { Tone } from '../shared/tone.ts';
import { formatRoute } from '../shell/route.ts';
import { Visible } from '../text/visible.tsx';
import { Effects } from './effects.tsx';
import { TimelineSteps } from './timeline-steps.tsx';

interface OverviewProps {
  delivery: Delivery;
  /** Undefined until it is loaded: what the row says is shown at once. */
  detail: DeliveryDetail | undefined;
}

/** Where it is, how it came there, and what it has done. */
export function Overview({ delivery, detail }: OverviewProps) {
  if (detail === undefined) {
    const { state, reason, error = '' } = delivery;
    return (
      <Scrolled class="overview" label="Overview">
        <PlaceCard {...stateTitle(state)} detail={reason === undefined ? error : skipText(reason)} />
        <Loading />
      </Scrolled>
    );
  }
  const { history, problems, effects, settled } = detail;
  return (
    <Scrolled class="overview" label="Overview">
      <HistoryNow history={history} ticks={!settled} />
      {problems.map((problem) => (
        <ErrorNote key={problem}>{problem}</ErrorNote>
      ))}
      <Effects effects={effects} />
    </Scrolled>
  );
}

function HistoryNow({ history, ticks }: { history: History; ticks: boolean }) {
  const clock = useClock(ticks);
  return (
    <>
      {history.now.map((place, index) => (
        <PlaceCard key={index} {...stateWords(place, clock)} queue={queueOf(place)} />
      ))}
      <TimelineSteps history={history} clock={clock} />
    </>
  );
}

interface PlaceCardProps {
  title: string;
  detail: string;
  tone: Tone;
  /** As the view of queues names it. */
  queue?: string | undefined;
}

function PlaceCard({ title, detail, tone, queue }: PlaceCardProps) {
  return (
    <div class={`place tone-${tone}`}>
      <div>
        <p class="place-title">{title}</p>
        <p>
          <Visible text={detail} />
        </p>
      </div>
      {queue !== undefined && <a href={formatRoute({ view: 'queues', path: [queue] })}>Show the queue</a>}
    </div>
  );
}

/** Where somebody can act on it. */
function queueOf({ state, queue, queueHolds }: Place): string | undefined {
  if (queue === undefined || queueHolds === 0) return undefined;
  return state === 'dead-letter' ? `dead:${queue}` : queue;
}

/** The time, each second if it matters. */
function useClock(ticks: boolean): Clock {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    if (!ticks) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [ticks]);
  return {
    now,
    time: (iso) => {
      const date = new Date(iso);
      return `${dayText(date, new Date(now))}${clockText(date, false)}`;
    },
  };
}
