import * as z from 'zod/mini';
import { errorText } from '../../../lambda/errors.ts';
import { isEventName } from '../../../lambda/events/catalogue.ts';
import { jsonOf } from './json.ts';

/** Message of the line that `dlq discard` writes before it deletes a message. */
export const DISCARDED = 'Discarded';

/** Message of the line about a message whose consumer crashed, ran out of memory or timed out. Only on the local stack. */
export const CRASHED = 'Crashed';

// A line in which a field has another type is still a line about the event: somebody may log anything.
const text = z.catch(z.optional(z.string()), undefined);
const number = z.catch(z.optional(z.number()), undefined);
const summary = { call: text, error: text, errorMessage: text };

const schema = z.object({
  timestamp: text,
  service: text,
  level: text,
  /** Empty in a line of Lambda's runtime, where it is an object. */
  message: z.catch(z.string(), ''),
  eventId: z.string(),
  event: text,
  requestId: text,
  messageId: text,
  attempt: number,
  replay: text,
  lagMs: number,
  latencyMs: number,
  retryInSeconds: number,
  /** Why a request was rejected, or a message discarded. */
  reason: text,
  by: text,
  sourceIp: text,
  fields: z.catch(z.optional(z.array(z.string())), undefined),
  // Fields of an error: see `lambda/errors.ts`.
  ...summary,
  cause: z.catch(z.optional(z.object(summary)), undefined),
  _aws: z.optional(z.never()),
});

/**
 * A log line of the receiver or a consumer about a delivery. The local stack also writes one about each message that a
 * crashed consumer had: AWS does not log which messages an invocation received.
 */
export type LineFact = Readonly<NonNullable<ReturnType<typeof lineFact>>>;

/**
 * A log line about an event, even if it is not a step of the history.
 * @returns undefined for a metric, a line of the runtime, or a line that is not about an event
 */
export function lineFact(line: string) {
  const parsed = schema.safeParse(line.startsWith('{') ? jsonOf(line) : undefined);
  if (!parsed.success) return undefined;
  const { timestamp = '', service = 'receiver', call, errorMessage, cause, ...fields } = parsed.data;
  const { event = '', message, messageId, error } = fields;
  const described = {
    ...{ call, error: error ?? 'Error', errorMessage },
    cause: cause && { ...cause, error: cause.error ?? 'Error' },
  };
  return {
    ...fields,
    kind: 'line' as const,
    /** Epoch milliseconds. */
    at: Date.parse(timestamp) || Date.now(),
    // In a line of Lambda's runtime, this is Lambda's id.
    requestId: message === '' ? undefined : fields.requestId,
    /** `receiver`, or the event of the consumer, which logs the message that it works on. */
    function: isEventName(event) && messageId !== undefined ? event : service,
    /** The error in one line, in the same form as in dead letters. */
    error: (error ?? errorMessage) && errorText(described),
    /** The line as logged: JSON. */
    text: line,
  };
}
