import type { DeliveryDetail } from '../../api.ts';
import { Badge } from '../shared/badge.tsx';
import { Empty } from '../shared/empty.tsx';
import { Scrolled } from '../shared/scrolled.tsx';
import { latencyText } from '../shared/time-text.ts';
import { TextBlock } from '../text/text-block.tsx';
import { Headers } from './headers.tsx';

/** Rows of the body: the headers below it stay in view. */
const ROWS = 16;

export function Answer({ answer }: { answer: DeliveryDetail['answer'] }) {
  if (answer === undefined) {
    return (
      <Empty title="No answer is known">
        <p>There was none yet, or AWS keeps nothing of it.</p>
      </Empty>
    );
  }
  const { status, durationMs, responseBody: body, responseHeaders: headers } = answer;
  return (
    <Scrolled class="overview" label="Answer">
      <p class="answer-line">
        <Badge tone={status < 300 ? 'good' : status < 500 ? 'warning' : 'bad'}>{status}</Badge>
        <span>after {latencyText(durationMs)}</span>
      </p>
      {body === '' ? (
        <p class="soft">Its body is empty.</p>
      ) : (
        <section class="block">
          <h3>Body</h3>
          <TextBlock text={body} label="Body of the answer" rows={ROWS} />
        </section>
      )}
      <section class="block">
        <h3>Headers</h3>
        <Headers headers={headers} />
      </section>
    </Scrolled>
  );
}
