/** A line of a function's log, as far as it can be taken apart. */
export interface ReadLogLine {
  readonly level?: string;
  readonly message: string;
  /** Absent of a line that is no JSON object. */
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

/** Fields that each line of a delivery has, or that stand beside it. */
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

/** What a line says beyond its message, in short: `attempt=1 latencyMs=652`. */
export const factsOfLine = ({ fields = [] }: ReadLogLine): string =>
  fields
    .filter(([name]) => !EVERYWHERE.has(name) && !name.startsWith('function_'))
    .map(([name, value]) => `${name}=${value}`)
    .join('  ');

export function readLogLine(text: string): ReadLogLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { message: text };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { message: text };
  const entries = Object.entries(value);
  const textField = (name: string) => {
    const found: unknown = entries.find(([key]) => key === name)?.[1];
    return typeof found === 'string' ? found : undefined;
  };
  const level = textField('level');
  return {
    ...(level !== undefined && { level }),
    message: textField('message') ?? text,
    fields: entries.map(([name, field]) => [name, typeof field === 'string' ? field : JSON.stringify(field)]),
  };
}
