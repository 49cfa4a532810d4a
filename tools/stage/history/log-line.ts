import * as z from 'zod/mini';
import { errorText } from '../../../lambda/errors.ts';
import { isEventName } from '../../../lambda/events/catalogue.ts';
import { rejectionReasons } from '../../../lambda/metric-names.ts';
import type { CrashFact, LineFact } from './facts.ts';
import { isObject, jsonOf, textOf } from './json.ts';

const summary = z.object({
  call: z.optional(z.string()),
  error: z.string(),
  errorMessage: z.optional(z.string()),
});

/**
 * The fields of the receiver's and consumers' log lines that a history needs (`lambda/receiver`, `lambda/consumer`).
 */
const schema = z.object({
  timestamp: z.string(),
  level: z.string(),
  message: z.string(),
  eventId: z.string(),
  event: z.optional(z.string()),
  requestId: z.optional(z.string()),
  messageId: z.optional(z.string()),
  attempt: z.optional(z.number()),
  replay: z.optional(z.string()),
  lagMs: z.optional(z.number()),
  latencyMs: z.optional(z.number()),
  retryInSeconds: z.optional(z.number()),
  reason: z.optional(z.enum(rejectionReasons)),
  sourceIp: z.optional(z.string()),
  fields: z.optional(z.array(z.string())),
  // Fields of an error: see `lambda/errors.ts`.
  ...z.partial(summary).shape,
  cause: z.optional(summary),
});

export type LogLine = Omit<z.infer<typeof schema>, 'timestamp' | 'call' | 'errorMessage' | 'cause'> & {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The error in one line, in the same form as in dead letters. */
  readonly error?: string | undefined;
};

/** @returns undefined if the line is not about an event */
export function parseLogLine(text: string): LogLine | undefined {
  const parsed = schema.safeParse(jsonOf(text));
  if (!parsed.success) return undefined;
  const { timestamp, call, error, errorMessage, cause, ...line } = parsed.data;
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) return undefined;
  const failure = { call, error: error ?? 'Error', errorMessage, cause };
  return { ...line, at, error: (error ?? errorMessage) ? errorText(failure) : undefined };
}

/**
 * A log line about an event, even if it is not a step of the history.
 * @returns undefined for a metric, a line of the runtime, or a line that is not about an event
 */
export function lineFact(text: string): LineFact | undefined {
  const line = text.startsWith('{') ? jsonOf(text) : undefined;
  if (!isObject(line) || '_aws' in line) return undefined;
  const { requestId, eventId, timestamp, event, message, messageId, service } = line;
  if (typeof eventId !== 'string') return undefined;
  const at = Date.parse(String(timestamp));
  // A consumer logs the message it works on. Lines of the receiver are about the request.
  const isConsumer = typeof event === 'string' && isEventName(event) && messageId !== undefined;
  return {
    kind: 'line',
    at: Number.isNaN(at) ? Date.now() : at,
    // In the line of a crash, `requestId` is Lambda's, not API Gateway's.
    requestId: typeof message === 'string' ? textOf(requestId) : undefined,
    eventId,
    event: textOf(event),
    function: isConsumer ? event : String(service ?? 'receiver'),
    text,
  };
}

/** Log line of the Lambda runtime about an error that ended an invocation. The local stack adds the event id. */
const runtimeSchema = z.object({
  timestamp: z.string(),
  requestId: z.string(),
  message: z.object({ errorType: z.string() }),
});

/** Lambda's log line about an invocation. Source: Lambda telemetry API reference, `platform.report`. */
const reportSchema = z.object({
  time: z.string(),
  type: z.literal('platform.report'),
  record: z.object({
    requestId: z.string(),
    status: z.enum(['error', 'failure', 'timeout']),
    errorType: z.optional(z.string()),
  }),
});

/**
 * The crash that a line of a consumer's log reports.
 * @returns undefined if it reports none
 */
export function parseCrash(text: string, event: string): CrashFact | undefined {
  // A fast check, because parsing is slow and most lines do not match.
  if (!text.includes('"errorType"') && !text.includes('platform.report')) return undefined;
  const value = jsonOf(text);
  const runtime = runtimeSchema.safeParse(value);
  if (runtime.success) {
    const { timestamp, requestId, message } = runtime.data;
    return crash(event, timestamp, requestId, message.errorType);
  }
  const report = reportSchema.safeParse(value);
  if (!report.success) return undefined;
  const { time, record } = report.data;
  const error = record.errorType ?? (record.status === 'timeout' ? 'Sandbox.Timedout' : 'Runtime error');
  return crash(event, time, record.requestId, error);
}

function crash(event: string, time: string, invocationId: string, error: string): CrashFact | undefined {
  const at = Date.parse(time);
  return Number.isNaN(at) ? undefined : { kind: 'crash', at, event, invocationId, error };
}
