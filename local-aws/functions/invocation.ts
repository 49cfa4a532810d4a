import type { SQSRecord } from 'aws-lambda';
import { textAttributes } from '../aws/json.ts';

export interface FunctionDefinition {
  name: string;
  /** Module and export, such as `index.handler`. */
  handler: string;
  /** Folder of the bundled code. The nearest package.json decides whether `.js` files are ES modules. */
  codeDirectory: string;
  environment: Record<string, string>;
  timeoutSeconds: number;
  /**
   * Limit of the JavaScript heap and buffers of an execution environment. Other memory cannot be measured.
   */
  memoryMegabytes: number;
  /** Maximum concurrent invocations. Lambda throttles further ones. @default no limit */
  reservedConcurrency?: number | undefined;
  /** Maximum execution environments on this machine. Further invocations wait. */
  maximumConcurrency: number;
  /** Access key of the function's role at the AWS endpoint. */
  credentials: { accessKeyId: string; secretAccessKey: string };
  awsEndpointUrl: string;
}

/** A short name for people: that of Powertools for AWS Lambda, or else the function's own. */
export const serviceOf = ({ environment, name }: FunctionDefinition): string =>
  environment.POWERTOOLS_SERVICE_NAME ?? name;

/** A function error, as Lambda reports it to the caller. */
export interface FunctionError {
  errorType: string;
  errorMessage: string;
  trace?: string[];
}

/**
 * Lambda's quota for the event of a synchronous invocation: "6 MB", which are 6,291,456 bytes
 * (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). A body in an event of API
 * Gateway takes more space than in the request: a third more in base64; as JSON text, each quotation mark and
 * backslash takes two bytes. Batches of SQS that exceed the quota are split.
 */
export const EVENT_LIMIT_BYTES = 6 * 1024 * 1024;

/** The result of an invocation: the handler's return value, or a function error. */
export type InvocationResult = { ok: true; payload: unknown } | ({ ok: false } & FunctionError);

/** Thrown when a function's reserved concurrency is used up, so that the invocation is rejected. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsException';

  constructor() {
    super('Rate Exceeded.');
  }
}

export interface FunctionLogLine {
  functionName: string;
  /** Time of writing, epoch milliseconds. @default now */
  at?: number;
  /** Id of the invocation. Absent while the code is being loaded. */
  requestId?: string | undefined;
  stream: 'stdout' | 'stderr';
  text: string;
  /** Details of an invocation that ended without a result. Absent if the line is about anything else. */
  crash?: Crash | undefined;
}

interface Crash {
  readonly error: string;
  /** Messages of a queue that the invocation was processing. Lambda's own log does not have them. */
  readonly messages: readonly CrashedMessage[];
}

interface CrashedMessage {
  readonly messageId: string;
  /** Number of the receive: 1 for the first attempt. */
  readonly attempt: number;
  /** Message attributes of type String. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * The log line about an error that ended an invocation or an execution environment, in the JSON format of Lambda's
 * runtime. Unlike Lambda's line, this line also has the function's name and the attributes of the message that was
 * processed. Source: aws-lambda-nodejs-runtime-interface-client, `LogPatch.js`.
 */
export function crashLine(
  { errorType, errorMessage, trace = [] }: FunctionError,
  definition: FunctionDefinition,
  { requestId, payload = 'null' }: { readonly requestId?: string; readonly payload?: string } = {},
): string {
  const messages = crashedMessages(payload);
  return JSON.stringify({
    timestamp: new Date().toISOString(),
    level: 'ERROR',
    ...subjectOf(messages),
    service: serviceOf(definition),
    requestId,
    message: { errorType, errorMessage, stackTrace: trace },
  });
}

/** The messages in the event of an invocation. Empty if no queue invoked the function. */
export function crashedMessages(payload: string): CrashedMessage[] {
  const records: unknown = JSON.parse(payload)?.Records;
  return (Array.isArray(records) ? (records as readonly Partial<SQSRecord>[]) : [])
    .filter((record) => record?.eventSource === 'aws:sqs')
    .map(({ messageId = '', attributes, messageAttributes }) => ({
      messageId,
      attempt: Number(attributes?.ApproximateReceiveCount),
      attributes: textAttributes(messageAttributes, 'stringValue'),
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
