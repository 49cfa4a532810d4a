import type { History, Step } from '../../../stage/history/history.ts';
import { type Clock, stepWords } from '../../../stage/history/words.ts';
import { duration } from '../../../terminal/text.ts';
import { Time } from '../shared/time.tsx';
import { Visible } from '../text/visible.tsx';

/** Steps that are shown of the beginning and of the end: the same bytes may come a thousand times. */
const SHOWN_AT_EACH_END = 60;

export function TimelineSteps({ history, clock }: { history: History; clock: Clock }) {
  const { steps } = history;
  const left = steps.length - 2 * SHOWN_AT_EACH_END;
  const shown = left > 0 ? steps.toSpliced(SHOWN_AT_EACH_END, left) : steps;
  return (
    <section class="block">
      <h3>Timeline</h3>
      <ol class="steps">
        {shown.map((step, index) => {
          const { title, detail, tone } = stepWords(step, history, clock);
          return (
            <li key={index} class={`step step-${tone}`}>
              <Time at={step.at} day milliseconds />
              <span class="step-gap">{gapText(step, shown[index - 1])}</span>
              <span class="step-dot" aria-hidden="true" />
              <div class="step-text">
                <span class="step-word">{title}</span>
                <span class="step-facts">
                  <Visible text={detail} />
                </span>
              </div>
            </li>
          );
        })}
      </ol>
      {left > 0 && <p class="soft">{left.toLocaleString('en')} steps between them are left out.</p>}
    </section>
  );
}

/** `+12 ms` since the step before. */
function gapText({ at }: Step, before: Step | undefined): string {
  const gap = before === undefined ? 0 : Date.parse(at) - Date.parse(before.until ?? before.at);
  if (!(gap > 0)) return '';
  return `+${gap < 1000 ? `${gap} ms` : duration(gap)}`;
}
