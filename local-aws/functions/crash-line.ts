import type { SQSRecord } from 'aws-lambda';
import type { CrashedMessage, FunctionError } from './invocation.ts';

interface CrashedInvocation {
  readonly service: string;
  readonly requestId?: string | undefined;
  readonly payload?: string | undefined;
}

/**
 * The log line about an error that ended an invocation or an execution environment, in the JSON format of Lambda's
 * runtime. Unlike Lambda's line, this line also has the function's name and the attributes of the message that was
 * processed. Source: aws-lambda-nodejs-runtime-interface-client, `LogPatch.js`.
 */
export function crashLine(
  { errorType, errorMessage, trace = [] }: FunctionError,
  { service, requestId, payload = 'null' }: CrashedInvocation,
): string {
  const messages = crashedMessages(payload);
  return JSON.stringify({
    timestamp: new Date().toISOString(),
    level: 'ERROR',
    ...subjectOf(messages),
    service,
    requestId,
    message: { errorType, errorMessage, stackTrace: trace },
  });
}

/** The messages in the event of an invocation. Empty if no queue invoked the function. */
export function crashedMessages(payload: string): CrashedMessage[] {
  const records: unknown = JSON.parse(payload)?.Records;
  return (Array.isArray(records) ? (records as readonly Partial<SQSRecord>[]) : [])
    .filter((record) => record?.eventSource === 'aws:sqs')
    .map(({ messageId = '', attributes, messageAttributes = {} }) => ({
      messageId,
      attempt: Number(attributes?.ApproximateReceiveCount),
      attributes: Object.fromEntries(
        Object.entries(messageAttributes).flatMap(([name, { stringValue }]) =>
          stringValue === undefined ? [] : [[name, stringValue]],
        ),
      ),
    }));
}

/** The attributes that all messages have in common and, if there are several messages, their number. */
function subjectOf([first, ...others]: readonly CrashedMessage[]): Record<string, unknown> {
  if (first === undefined) return {};
  const common = Object.entries(first.attributes).filter(([name, value]) =>
    others.every(({ attributes }) => attributes[name] === value),
  );
  return { ...Object.fromEntries(common), ...(others.length > 0 && { messages: others.length + 1 }) };
}
