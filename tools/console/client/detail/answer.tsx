import { useMemo } from 'preact/hooks';
import type { RecordedAnswer } from '../../api.ts';
import { Badge } from '../shared/badge.tsx';
import { Empty } from '../shared/empty.tsx';
import { Scrolled } from '../shared/scrolled.tsx';
import { latencyText } from '../shared/time-text.ts';
import { formatJson } from '../text/format-json.ts';
import { rawLines } from '../text/lines.ts';
import { TextView } from '../text/text-view.tsx';
import { Headers } from './headers.tsx';

/** Rows of the body: the headers below it stay in view. */
const ROWS = 16;

export function Answer({ answer }: { answer: RecordedAnswer | undefined }) {
  if (answer === undefined) {
    return (
      <Empty title="No answer is known">
        <p>There was none yet, or AWS keeps nothing of it.</p>
      </Empty>
    );
  }
  const { status, durationMs, body, headers } = answer;
  return (
    <Scrolled class="overview" label="Answer">
      <p class="answer-line">
        <Badge tone={status < 300 ? 'good' : status < 500 ? 'warning' : 'bad'}>{status}</Badge>
        <span>after {latencyText(durationMs)}</span>
      </p>
      {body === '' ? <p class="soft">Its body is empty.</p> : <AnswerBody body={body} />}
      <section class="block">
        <h3>Headers</h3>
        <Headers headers={headers} />
      </section>
    </Scrolled>
  );
}

function AnswerBody({ body }: { body: string }) {
  const lines = useMemo(() => {
    const json = formatJson(body);
    return json.ok ? json.lines : rawLines(body);
  }, [body]);
  return (
    <section class="block">
      <h3>Body</h3>
      <div class="card">
        <TextView lines={lines} label="Body of the answer" rows={ROWS} />
      </div>
    </section>
  );
}
