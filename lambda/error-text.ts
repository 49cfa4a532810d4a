/** What a log line says of an error. */
export interface ErrorSummary {
  /** The AWS call that failed: `DynamoDB UpdateItem`. */
  readonly call?: string | undefined;
  /** Its name, or what happened to the connection. */
  readonly error: string;
  readonly errorMessage?: string | undefined;
}

export interface DescribedError extends ErrorSummary {
  readonly cause?: ErrorSummary | undefined;
}

/** The same as one line of text: `DynamoDB UpdateItem: connection closed`. */
export function errorText({ cause, ...error }: DescribedError): string {
  return cause === undefined ? summaryText(error) : `${summaryText(error)}; caused by ${summaryText(cause)}`;
}

const summaryText = ({ call, error, errorMessage }: ErrorSummary) =>
  [call, error, errorMessage].filter((text) => text !== undefined).join(': ');

/** The SDK gives all of these the name TimeoutError. Source: Node.js, "Common system errors". */
const CONNECTION_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  EPIPE: 'connection closed',
  ETIMEDOUT: 'no answer in time',
};

/** What happened to the connection of a call; undefined of another error. */
export const connectionFailure = (error: Error): string | undefined =>
  'code' in error ? CONNECTION_FAILURES[String(error.code)] : undefined;
