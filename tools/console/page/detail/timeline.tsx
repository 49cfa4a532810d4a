import type { History, HistoryStep } from '../../../stage/history/history.ts';
import { type Clock, stepWords } from '../../../stage/history/state-text.ts';
import { duration } from '../../../terminal/text.ts';
import { Sentence } from '../text/visible.tsx';
import { Time } from '../ui/time.tsx';

export function Timeline({ history, clock }: { history: History; clock: Clock }) {
  const { steps } = history;
  return (
    <section class="stack">
      <h3>Timeline</h3>
      <ol>
        {timelineRows(steps, new Date(clock.now)).map(({ step, gap, day, hidden }, index) => {
          const { title, detail, tone } = stepWords(step, history, clock);
          return (
            <li key={index}>
              {hidden > 0 && <p class="soft">{hidden.toLocaleString('en')} steps are not shown.</p>}
              {day !== undefined && <p class="soft">{day}</p>}
              <div class={`step is-${tone}`}>
                <span class="step-time">
                  <Time at={step.at} milliseconds day={false} />
                  <span class="soft">{gap}</span>
                </span>
                <span class="step-title">{title}</span>
                <span class="soft wrap">
                  <Sentence text={detail} />
                </span>
              </div>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/**
 * Maximum number of steps shown from the beginning, and from the end, because the same bytes may arrive a
 * thousand times.
 */
const SHOWN_AT_EACH_END = 60;

interface TimelineRow {
  readonly step: HistoryStep;
  /** Time since the end of the previous step, such as `+12 ms`, even if that step is not shown. */
  readonly gap: string;
  /** Date, if it differs from that of the row above. The first row has none if it is from today. */
  readonly day: string | undefined;
  /** Number of steps between this one and the row above that are not shown. */
  readonly hidden: number;
}

export function timelineRows(steps: readonly HistoryStep[], now: Date): TimelineRow[] {
  const hidden = Math.max(0, steps.length - 2 * SHOWN_AT_EACH_END);
  const rows = steps.map((step, index) => {
    const before = steps[index - 1];
    const isAfterHidden = hidden > 0 && index === SHOWN_AT_EACH_END + hidden;
    const above = isAfterHidden ? steps[SHOWN_AT_EACH_END - 1] : before;
    const day = new Date(step.at).toDateString();
    const dayAbove = (above === undefined ? now : new Date(above.at)).toDateString();
    return {
      step,
      gap: gapText(step, before),
      day: day === dayAbove ? undefined : dayTitle(new Date(step.at)),
      hidden: isAfterHidden ? hidden : 0,
    };
  });
  return rows.toSpliced(SHOWN_AT_EACH_END, hidden);
}

function gapText({ at }: HistoryStep, before: HistoryStep | undefined): string {
  const gap = before === undefined ? 0 : Date.parse(at) - Date.parse(before.until ?? before.at);
  if (!(gap > 0)) return '';
  return `+${gap < 1000 ? `${gap} ms` : duration(gap)}`;
}

/** `Friday, 20 November 2026` */
const dayTitle = (date: Date) =>
  date.toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
