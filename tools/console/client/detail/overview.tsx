import { useEffect, useState } from 'preact/hooks';
import type { DeliveryDetail } from '../../api.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { Scrolled } from '../shared/scrolled.tsx';
import { formatRoute } from '../shell/route.ts';
import { Effects } from './effects.tsx';
import { placeParts } from './place-parts.ts';
import { TimelineSteps } from './timeline-steps.tsx';

/** Where it is, how it came there, and what it has done. */
export function Overview({ detail }: { detail: DeliveryDetail }) {
  const { trace, traceProblem, effects, settled } = detail;
  const now = useNow(!settled);
  return (
    <Scrolled class="overview" label="Overview">
      {trace?.timeline.now.map((place, index) => {
        const { tone, title, detail: more, queue } = placeParts(place, now);
        return (
          <div key={index} class={`place tone-${tone}`}>
            <div>
              <p class="place-title">{title}</p>
              {more !== undefined && <p>{more}</p>}
            </div>
            {queue !== undefined && (
              <a href={formatRoute({ view: 'queues', path: [queue] })}>Show the queue</a>
            )}
          </div>
        );
      })}
      {traceProblem !== undefined && <ErrorNote>{traceProblem}</ErrorNote>}
      {trace !== undefined && <TimelineSteps timeline={trace.timeline} now={now} />}
      <Effects effects={effects} />
    </Scrolled>
  );
}

/** The time, each second where it matters. */
function useNow(ticks: boolean): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    setNow(new Date());
    if (!ticks) return;
    const timer = setInterval(() => setNow(new Date()), 1_000);
    return () => clearInterval(timer);
  }, [ticks]);
  return now;
}
