import type { LineFact } from '../../../stage/history/facts.ts';
import type { DeliveryDetail } from '../../api.ts';
import { stack } from '../store.ts';
import { Code } from '../text/code.tsx';
import { formatted } from '../text/format-json.ts';
import { Visible } from '../text/visible.tsx';
import { Badge, type BadgeTone } from '../ui/badge.tsx';
import { durationText, Time } from '../ui/time.tsx';

/** Request, response and log lines, each closed until a reader wants it. */
export function Exchange({ detail: { request, answer, logs } }: { detail: DeliveryDetail }) {
  const from = request.sourceIp === undefined ? [] : [['Source IP address', request.sourceIp] as const];
  return (
    <section class="stack">
      <details>
        <summary>
          Request{' '}
          <span class="mono soft">
            {request.method} {request.path}
          </span>
        </summary>
        {request.headers.length === 0 ? (
          <p class="soft">AWS stores no headers.</p>
        ) : (
          <Fields fields={[...from, ...request.headers]} />
        )}
      </details>
      <details>
        <summary>
          Response{' '}
          {answer !== undefined && (
            <span class="soft">
              {answer.status} after {durationText(answer.durationMs)}
            </span>
          )}
        </summary>
        {answer === undefined ? (
          <p class="soft">
            The receiver has not answered yet, or this is a stage: AWS does not keep responses.
          </p>
        ) : (
          <div class="stack">
            {answer.responseBody !== '' && (
              <Code
                text={formatted(answer.responseBody) ?? answer.responseBody}
                label="Body of the response"
              />
            )}
            <Fields fields={answer.responseHeaders} />
          </div>
        )}
      </details>
      <details>
        <summary>
          Log lines <span class="soft">{logs.length}</span>
        </summary>
        {logs.length === 0 && (
          <p class="soft">
            {stack.local
              ? 'The functions wrote nothing about this delivery, or their lines are no longer in memory.'
              : 'Log lines of a stage are in CloudWatch.'}
          </p>
        )}
        <ol>
          {logs.map((line, index) => (
            <LogLine key={index} line={line} />
          ))}
        </ol>
      </details>
    </section>
  );
}

/** A list of names and values. Both may come from outside and are shown as untrusted text. */
function Fields({ fields }: { fields: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl class="fields mono">
      {fields.map(([name, value], index) => (
        <div key={index}>
          <dt>
            <Visible text={name} />
          </dt>
          <dd>
            <Visible text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const TONES: Readonly<Record<string, BadgeTone>> = { ERROR: 'bad', CRITICAL: 'bad', WARN: 'warning' };

function LogLine({ line: { at, function: name, text } }: { line: LineFact }) {
  const { level, message, fields } = readLogLine(text);
  const tone = TONES[level];
  return (
    <li class="row">
      <Time at={new Date(at).toISOString()} milliseconds />
      <span class="soft">{name}</span>
      {tone !== undefined && <Badge tone={tone}>{level.toLowerCase()}</Badge>}
      <span class="wrap">
        <Visible text={message} />
      </span>
      <span class="mono soft wrap">
        <Visible text={fields} />
      </span>
    </li>
  );
}

/** Fields that the view leaves out: every line about a delivery has them, or they are shown elsewhere. */
const EVERYWHERE = new Set([
  'level',
  'message',
  'timestamp',
  'service',
  'eventId',
  'event',
  'requestId',
  'messageId',
  'cold_start',
  'xray_trace_id',
]);

/** A log line: its level, its message, and its other fields as `attempt=1  latencyMs=652`. */
export function readLogLine(text: string): { level: string; message: string; fields: string } {
  let entries: [string, unknown][] = [];
  try {
    const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    if (typeof parsed === 'object' && parsed !== null) entries = Object.entries(parsed);
  } catch {
    // The line is shown as it is.
  }
  const shown = entries.map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const { level = '', message = text }: Record<string, string> = Object.fromEntries(shown);
  const fields = shown
    .filter(([name = '']) => !EVERYWHERE.has(name) && !name.startsWith('function_'))
    .map(([name, value]) => `${name}=${value}`);
  return { level, message, fields: fields.join('  ') };
}
