import * as z from 'zod/mini';
import { errorText } from '../../../lambda/errors.ts';
import { isEventName } from '../../../lambda/events/catalogue.ts';
import type { LineFact } from './facts.ts';
import { isObject, jsonOf, textOf } from './json.ts';

/** Message of the line that `dlq discard` writes before it deletes a message. */
export const DISCARDED = 'Discarded';

const summary = z.object({
  call: z.optional(z.string()),
  error: z.string(),
  errorMessage: z.optional(z.string()),
});

/** Message of the line about a message whose consumer crashed, ran out of memory or timed out. Only on the local stack. */
export const CRASHED = 'Crashed';

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
  /** Why a request was rejected, or a message discarded. */
  reason: z.optional(z.string()),
  by: z.optional(z.string()),
  sourceIp: z.optional(z.string()),
  fields: z.optional(z.array(z.string())),
  // Fields of an error: see `lambda/errors.ts`.
  ...z.partial(summary).shape,
  cause: z.optional(summary),
});

export type ParsedLogLine = Omit<z.infer<typeof schema>, 'timestamp' | 'call' | 'errorMessage' | 'cause'> & {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The error in one line, in the same form as in dead letters. */
  readonly error?: string | undefined;
};

/** @returns undefined if the line is not about an event */
export function parseLogLine(text: string): ParsedLogLine | undefined {
  const parsed = schema.safeParse(jsonOf(text));
  if (!parsed.success) return undefined;
  const { timestamp, call, error, errorMessage, cause, ...line } = parsed.data;
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) return undefined;
  const failure = { call, error: error ?? 'Error', errorMessage, cause };
  return { ...line, at, error: (error ?? errorMessage) ? errorText(failure) : undefined };
}

export const parsedLines = (facts: readonly LineFact[]): ParsedLogLine[] =>
  facts.flatMap(({ text }) => parseLogLine(text) ?? []);

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
