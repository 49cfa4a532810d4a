import type { LineFact } from '../../../stage/history/facts.ts';
import { Badge } from '../shared/badge.tsx';
import { Empty } from '../shared/empty.tsx';
import { Time } from '../shared/time.tsx';
import type { Tone } from '../shared/tone.ts';
import { Visible } from '../text/visible.tsx';
import { Headers } from './headers.tsx';
import { factsOfLine, readLogLine } from './log-line.ts';

const TONES: Readonly<Record<string, Tone>> = { ERROR: 'bad', CRITICAL: 'bad', WARN: 'warning' };

export function LogLines({ lines }: { lines: readonly LineFact[] }) {
  if (lines.length === 0) {
    return (
      <Empty title="No log lines">
        <p>
          The functions have written nothing of it, or they are too long ago. Those of a stage are in
          CloudWatch.
        </p>
      </Empty>
    );
  }
  return (
    <ol class="log">
      {lines.map(({ at, function: name, text }, index) => {
        const line = readLogLine(text);
        const { level, message, fields } = line;
        return (
          <li key={index}>
            <details>
              <summary>
                <Time at={new Date(at).toISOString()} milliseconds />
                <span class="log-function">{name}</span>
                {level !== undefined && <Badge tone={TONES[level] ?? 'neutral'}>{level.toLowerCase()}</Badge>}
                <span class="log-message">
                  <Visible text={message} />
                </span>
                <span class="log-facts">
                  <Visible text={factsOfLine(line)} />
                </span>
              </summary>
              {fields === undefined ? (
                <pre>
                  <Visible text={text} />
                </pre>
              ) : (
                <Headers headers={fields} />
              )}
            </details>
          </li>
        );
      })}
    </ol>
  );
}
