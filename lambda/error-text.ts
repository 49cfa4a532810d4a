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

/** Their names say less: the SDK calls the first four TimeoutError. Source: Node.js, "Common system errors". */
const CONNECTION_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  EPIPE: 'connection closed',
  ETIMEDOUT: 'no answer in time',
  EAI_AGAIN: 'host not found',
  EHOSTUNREACH: 'host not reachable',
  ENETUNREACH: 'host not reachable',
  ENOTFOUND: 'host not found',
};

/** What happened to the connection of a call; undefined of another error. */
export const connectionFailure = (error: Error): string | undefined =>
  'code' in error ? CONNECTION_FAILURES[String(error.code)] : undefined;
