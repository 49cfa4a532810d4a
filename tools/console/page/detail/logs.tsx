import type { LineFact } from '../../../stage/history/facts.ts';
import { stack } from '../store.ts';
import { Visible } from '../text/visible.tsx';
import { Badge, type BadgeTone, Empty, Scrolled } from '../ui/badge.tsx';
import { Time } from '../ui/time.tsx';
import { Fields } from './request.tsx';

const TONES: Readonly<Record<string, BadgeTone>> = { ERROR: 'bad', CRITICAL: 'bad', WARN: 'warning' };

export function Logs({ lines }: { lines: readonly LineFact[] }) {
  if (lines.length === 0) {
    return (
      <Empty title="No log lines">
        <p>
          {stack.local
            ? 'The functions wrote nothing about this delivery, or their lines are no longer in memory.'
            : 'Log lines of a stage are in CloudWatch.'}
        </p>
      </Empty>
    );
  }
  return (
    <Scrolled class="log" label="Log lines">
      <ol>
        {lines.map((line, index) => (
          <LogLine key={index} line={line} />
        ))}
      </ol>
    </Scrolled>
  );
}

function LogLine({ line: { at, function: name, text } }: { line: LineFact }) {
  const line = readLogLine(text);
  const { level = '', message, fields } = line;
  const tone = TONES[level];
  const fieldTexts = fieldsText(line);
  return (
    <li>
      <details>
        <summary class="row">
          <Time at={new Date(at).toISOString()} milliseconds />
          <span class="soft">{name}</span>
          {tone !== undefined && <Badge tone={tone}>{level.toLowerCase()}</Badge>}
          <span class="wrap">
            <Visible text={message} />
          </span>
          {fieldTexts !== '' && (
            <span class="mono soft cut grow">
              <Visible text={fieldTexts} />
            </span>
          )}
        </summary>
        {fields === undefined ? (
          <pre class="command">
            <Visible text={text} />
          </pre>
        ) : (
          <Fields fields={fields} />
        )}
      </details>
    </li>
  );
}

interface ReadLogLine {
  readonly level?: string;
  readonly message: string;
  /** Absent if the log line is not a JSON object. */
  readonly fields?: readonly (readonly [name: string, value: string])[];
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

/** The fields of a log line besides its message: `attempt=1 latencyMs=652`. */
export const fieldsText = ({ fields = [] }: ReadLogLine): string =>
  fields
    .filter(([name]) => !EVERYWHERE.has(name) && !name.startsWith('function_'))
    .map(([name, value]) => `${name}=${value}`)
    .join('  ');

export function readLogLine(text: string): ReadLogLine {
  const fields = fieldsOf(text);
  if (fields === undefined) return { message: text };
  const { level, message = text } = Object.fromEntries(fields);
  return { ...(level !== undefined && { level }), message, fields };
}

/** The fields of a JSON object, each value as text. Undefined if the text is no such object. */
function fieldsOf(text: string): [name: string, value: string][] | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const entries = Object.entries(JSON.parse(text));
    return entries.map(([name, field]) => [name, typeof field === 'string' ? field : JSON.stringify(field)]);
  } catch {
    return undefined;
  }
}
