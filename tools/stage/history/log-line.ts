import * as z from 'zod/mini';
import { errorText } from '../../../lambda/error-text.ts';

const summary = z.object({
  call: z.optional(z.string()),
  error: z.string(),
  errorMessage: z.optional(z.string()),
});

/** What a line has of an error (`lambda/error-text.ts`). */
export const loggedErrorSchema = z.extend(z.partial(summary), { cause: z.optional(summary) });

/** What receiver and consumers write, as far as a timeline needs it (`lambda/receiver`, `lambda/consumers`). */
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
  reason: z.optional(z.enum(['malformed-signature', 'wrong-signature'])),
  sourceIp: z.optional(z.string()),
  fields: z.optional(z.array(z.string())),
  ...loggedErrorSchema.shape,
});

/** A line that a function wrote of one event. */
export type LogLine = Omit<z.infer<typeof schema>, 'timestamp'> & {
  /** Epoch milliseconds. */
  readonly at: number;
};

/** @returns undefined for what is no line of a function about an event */
export function parseLogLine(text: string): LogLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) return undefined;
  const { timestamp, ...line } = parsed.data;
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? undefined : { ...line, at };
}

/** What failed, in one line, as dead letters name it. */
export const errorOf = ({ error = 'Error', ...line }: z.infer<typeof loggedErrorSchema>): string =>
  errorText({ ...line, error });
