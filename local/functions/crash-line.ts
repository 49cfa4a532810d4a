import * as z from 'zod/mini';
import { attribute } from '../../lambda/queue/message.ts';
import type { FunctionError } from './messages.ts';

const text = z.object({ stringValue: z.string() });

/** Messages of the receiver, as a consumer gets them. */
const deliveries = z.object({
  Records: z.array(
    z.object({ messageAttributes: z.object({ [attribute.event]: text, [attribute.eventId]: text }) }),
  ),
});

interface Crash {
  /** Short name of the function. */
  readonly service: string;
  /** Lambda's id of the invocation. */
  readonly requestId?: string | undefined;
  /** JSON, that the function was invoked with. */
  readonly payload?: string | undefined;
}

/**
 * A line about an error that ended an invocation or an execution environment, as Lambda's runtime writes it in its JSON
 * format. Lambda says neither the function nor the delivery. Source: aws-lambda-nodejs-runtime-interface-client, `LogPatch.js`.
 */
export function crashLine(
  { errorType, errorMessage, trace = [] }: FunctionError,
  { service, requestId, payload = 'null' }: Crash,
): string {
  const { data } = deliveries.safeParse(JSON.parse(payload));
  return JSON.stringify({
    timestamp: new Date().toISOString(),
    level: 'ERROR',
    service,
    requestId,
    ...(data && subjectOf(data.Records)),
    message: { errorType, errorMessage, stackTrace: trace },
  });
}

function subjectOf(records: z.infer<typeof deliveries>['Records']): Record<string, unknown> {
  const [first] = records;
  const event = first?.messageAttributes[attribute.event].stringValue;
  return records.length === 1
    ? { event, eventId: first?.messageAttributes[attribute.eventId].stringValue }
    : { event, messages: records.length };
}
