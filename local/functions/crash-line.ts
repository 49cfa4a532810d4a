import * as z from 'zod/mini';
import { attribute } from '../../lambda/queue/message.ts';
import type { CrashedMessage, FunctionError } from './invocation.ts';

const text = z.object({ stringValue: z.string() });
const count = z.pipe(z.string(), z.transform(Number));

/** Messages of the receiver, in a consumer's event. */
const deliveries = z.object({
  Records: z.array(
    z.object({
      messageId: z.string(),
      attributes: z.object({ ApproximateReceiveCount: count }),
      messageAttributes: z.object({
        [attribute.event]: text,
        [attribute.eventId]: text,
        [attribute.requestId]: z.optional(text),
      }),
    }),
  ),
});

interface CrashedInvocation {
  readonly service: string;
  readonly requestId?: string | undefined;
  readonly payload?: string | undefined;
}

/**
 * A line about an error that ended an invocation or an execution environment, in the JSON format of Lambda's runtime.
 * As in Lambda, it names neither the function nor a delivery. Source: aws-lambda-nodejs-runtime-interface-client,
 * `LogPatch.js`.
 */
export function crashLine(
  { errorType, errorMessage, trace = [] }: FunctionError,
  { service, requestId, payload = 'null' }: CrashedInvocation,
): string {
  const messages = crashedMessages(payload);
  return JSON.stringify({
    timestamp: new Date().toISOString(),
    level: 'ERROR',
    service,
    requestId,
    ...subjectOf(messages),
    message: { errorType, errorMessage, stackTrace: trace },
  });
}

/** The messages in an invocation's event. Empty unless a queue of deliveries invoked the function. */
export function crashedMessages(payload: string): CrashedMessage[] {
  const { data } = deliveries.safeParse(JSON.parse(payload));
  return (data?.Records ?? []).map(({ messageId, attributes, messageAttributes }) => ({
    messageId,
    attempt: attributes.ApproximateReceiveCount,
    event: messageAttributes[attribute.event].stringValue,
    eventId: messageAttributes[attribute.eventId].stringValue,
    requestId: messageAttributes[attribute.requestId]?.stringValue,
  }));
}

function subjectOf([first, ...others]: readonly CrashedMessage[]): Record<string, unknown> {
  if (first === undefined) return {};
  const { event, eventId } = first;
  return others.length === 0 ? { event, eventId } : { event, messages: others.length + 1 };
}
