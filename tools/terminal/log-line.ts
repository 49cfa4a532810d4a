import { styleText } from 'node:util';
import { eventNames } from '../../lambda/contract/catalogue.ts';
import type { LogLine } from '../../local/functions/invocation.ts';
import type { RequestSummary } from '../../local/http-api/http-api.ts';
import { screenWidth, shownId } from './screen.ts';

/** Keys of a structured log line that tell a developer on this machine nothing. */
const OMITTED = new Set([
  'level',
  'message',
  'timestamp',
  'service',
  'stack',
  'cold_start',
  'function_arn',
  'function_memory_size',
  'function_name',
  'function_request_id',
  'sampling_rate',
  'xray_trace_id',
]);

/** Columns in front of a line's facts: names of functions, levels, and what happened. */
const SERVICE_WIDTH = Math.max(...eventNames.map((event) => event.length));
const LEVEL_WIDTH = 'ERROR'.length;
const MESSAGE_WIDTH = 'DeadLettered'.length;

type Colour = Parameters<typeof styleText>[0];

const LEVEL_COLOURS: Readonly<Record<string, Colour>> = {
  DEBUG: 'gray',
  INFO: 'green',
  WARN: 'yellow',
  ERROR: 'red',
  CRITICAL: 'red',
};

/**
 * A function's log line for people: time, function, level and what happened in columns, then the facts; below it
 * the stack of an error.
 * @param width of the terminal, which shows ids shortened; Infinity where it is none
 * @returns undefined for a metric (EMF), which nobody wants to read
 */
export function formatLogLine({ functionName, text }: LogLine, width = screenWidth()): string | undefined {
  const line = parseObject(text);
  if (line === undefined) return `${functionName}: ${text}`;
  if ('_aws' in line) return undefined;
  const facts = Object.entries(line)
    .filter(([key]) => !OMITTED.has(key))
    .map(([key, value]) => `${styleText('gray', `${key}=`)}${shown(key, value, width)}`);
  const level = String(line.level);
  const head = columns(
    String(line.timestamp).slice(11, 19),
    String(line.service),
    level,
    LEVEL_COLOURS[level],
  );
  const stack = Array.isArray(line.stack)
    ? line.stack.map((frame) => styleText('gray', `    at ${frame}`))
    : [];
  return [[head, String(line.message).padEnd(MESSAGE_WIDTH), ...facts].join(' ').trimEnd(), ...stack].join(
    '\n',
  );
}

/** An answer of the webhook, in the same columns. */
export function formatRequest({ method, path, status, durationMilliseconds }: RequestSummary): string {
  const colour = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
  const head = columns(new Date().toISOString().slice(11, 19), 'webhook', String(status), colour);
  return `${head} ${method} ${path} ${Math.round(durationMilliseconds)} ms`;
}

function columns(time: string, service: string, level: string, colour: Colour = 'gray'): string {
  const columns = [
    styleText('gray', time),
    service.padEnd(SERVICE_WIDTH),
    styleText(colour, level.padEnd(LEVEL_WIDTH)),
  ];
  return columns.join(' ');
}

function shown(key: string, value: unknown, width: number): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return /Id$/.test(key) ? shownId(value, width) : value;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
