import type { Step, Timeline } from '../../../stage/history/timeline.ts';
import { Time } from '../shared/time.tsx';
import { Visible } from '../text/visible.tsx';
import { gapText, groupSteps, stepParts } from './step-parts.ts';

/** Steps that are shown of the beginning and of the end: the same bytes may come a thousand times. */
const SHOWN_AT_EACH_END = 60;

export function TimelineSteps({ timeline: { steps }, now }: { timeline: Timeline; now: Date }) {
  const left = steps.length - 2 * SHOWN_AT_EACH_END;
  const shown = left > 0 ? steps.toSpliced(SHOWN_AT_EACH_END, left) : steps;
  return (
    <section class="block">
      <h3>Timeline</h3>
      {groupSteps(shown).map(({ title, steps: group }, index) => (
        <div key={index} class="step-group">
          {title !== undefined && <h4>{title}</h4>}
          <ol class="steps">
            {group.map((step, at) => (
              <TimelineStep key={at} step={step} steps={shown} now={now} />
            ))}
          </ol>
        </div>
      ))}
      {left > 0 && <p class="soft">{left.toLocaleString('en')} steps between them are left out.</p>}
    </section>
  );
}

function TimelineStep({ step, steps, now }: { step: Step; steps: readonly Step[]; now: Date }) {
  const { word, tone, facts, error, next } = stepParts(step, steps, now);
  return (
    <li class={`step step-${tone}`}>
      <Time at={step.at} day milliseconds />
      <span class="step-gap">{gapText(step, steps[steps.indexOf(step) - 1])}</span>
      <span class="step-dot" aria-hidden="true" />
      <div class="step-text">
        <span class="step-word">{word}</span>
        <span class="step-facts">
          <Visible text={facts} />
        </span>
        {error !== undefined && (
          <p class="step-error">
            <Visible text={error} />
          </p>
        )}
        {next !== undefined && <p class="soft">{next}</p>}
      </div>
    </li>
  );
}
