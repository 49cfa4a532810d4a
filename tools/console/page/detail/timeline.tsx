import type { DeliveryState, History, HistoryStep } from '../../../stage/history/history.ts';
import { type Clock, gapText, stateTitle, stepWords } from '../../../stage/history/state-text.ts';
import { counted } from '../../../terminal/text.ts';
import { Visible } from '../text/visible.tsx';
import { Time } from '../ui/time.tsx';

interface TimelineProps {
  id: string;
  state: DeliveryState;
  history: History;
  clock: Clock;
}

/** The steps of a delivery. Those of other requests with the same bytes, such as a resend, are folded. */
export function Timeline({ id, state, history, clock }: TimelineProps) {
  const { own, others, requests } = splitSteps(history.steps, id);
  const elsewhere = history.now.flatMap((one) => (one.state === state ? [] : stateTitle(one.state).title));
  return (
    <section class="stack">
      <h3>Timeline</h3>
      <Steps steps={own} history={history} clock={clock} />
      {others.length > 0 && (
        <details>
          <summary>
            {[`The same body in ${counted(requests, 'other request')}`, ...elsewhere].join(': ')}
          </summary>
          <Steps steps={others} history={history} clock={clock} />
        </details>
      )}
    </section>
  );
}

/** The steps of one request, which include those that name no request, and those of others with the same bytes. */
export function splitSteps(steps: readonly HistoryStep[], id: string) {
  const isOwn = ({ requestId = id }: HistoryStep) => requestId === id;
  const others = steps.filter((step) => !isOwn(step));
  return {
    own: steps.filter(isOwn),
    others,
    requests: new Set(others.map(({ requestId }) => requestId)).size,
  };
}

type StepsProps = Pick<TimelineProps, 'history' | 'clock'> & { steps: readonly HistoryStep[] };

const Steps = ({ steps, history, clock }: StepsProps) => (
  <ol>
    {steps.map((step, index) => {
      const { title, detail, tone } = stepWords(step, history, clock);
      return (
        <li key={index} class={`step tone-${tone}`}>
          <span class="row">
            <Time at={step.at} milliseconds />
            <span class="soft">{gapText(step, steps[index - 1])}</span>
          </span>
          <b>{title}</b>
          <span class="soft wrap">
            <Visible text={detail} />
          </span>
        </li>
      );
    })}
  </ol>
);
