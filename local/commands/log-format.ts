import type { LogLine } from '../functions/invocation.ts';

/** Keys of a structured log line that tell a developer on this machine nothing. */
const OMITTED = new Set([
  'level',
  'message',
  'timestamp',
  'service',
  'cold_start',
  'function_arn',
  'function_memory_size',
  'function_name',
  'function_request_id',
  'sampling_rate',
  'xray_trace_id',
]);

/**
 * A function's log line for the terminal: `09:00:00 receiver INFO Accepted event=shop.updated …`.
 * @returns undefined for a metric (EMF), which nobody wants to read
 */
export function formatLogLine({ functionName, text }: LogLine): string | undefined {
  const line = parseObject(text);
  if (line === undefined) return `${functionName}: ${text}`;
  if ('_aws' in line) return undefined;
  const facts = Object.entries(line)
    .filter(([key]) => !OMITTED.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const time = String(line.timestamp).slice(11, 19);
  return [time, line.service, line.level, line.message, ...facts].join(' ');
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
