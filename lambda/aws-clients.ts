import { connectionFailure, type DescribedError, type ErrorSummary } from './error-text.ts';

/**
 * Where an error keeps which call it ended: most errors do not say. A global symbol, because what is imported on demand is
 * bundled with its own copy of this file.
 */
const FAILED_CALL = Symbol.for('partner-webhooks.failed-call');

/** A failed call, as the SDK's logger middleware passes it to a client's logger. */
interface FailedCall {
  readonly clientName: string;
  readonly commandName: string;
  readonly error: { [FAILED_CALL]?: string };
}

/**
 * Settings of every AWS client. A hung dependency must fail the call and not the function: a call ends
 * after some 4 s at the worst, and the functions' time-outs allow for as many as a request makes.
 */
export const clientSettings = {
  maxAttempts: 2,
  // The SDK calls a logger for each call anyway. Its arguments hold the payload: nothing of them may be logged.
  logger: {
    debug() {},
    info() {},
    warn: console.warn,
    error({ clientName, commandName, error }: FailedCall) {
      error[FAILED_CALL] = `${clientName.replace(/Client$/, '')} ${commandName.replace(/Command$/, '')}`;
    },
  },
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: 2_000,
    throwOnRequestTimeout: true,
  },
} as const;

/** Error names of which the message may quote what was sent. */
const QUOTES_ITS_INPUT = /invalid|serialization|syntax/i;

/**
 * Frames that an error remembers; Node.js' own 10 are all the SDK's where one of its calls fails.
 * It costs an error some microseconds.
 */
Error.stackTraceLimit = 30;

/**
 * What a log line may say of an error: enough to act on at night, nothing of the payload. No key is one
 * that the logger reserves.
 */
export async function describeError(error: unknown): Promise<DescribedError & Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: typeof error };
  const metadata = '$metadata' in error ? (error.$metadata as Record<string, unknown>) : {};
  return {
    ...summary(error),
    ...(await stackOf(error)),
    ...(error.cause instanceof Error && {
      cause: { ...summary(error.cause), ...(await stackOf(error.cause)) },
    }),
    ...(metadata.httpStatusCode !== undefined && { httpStatus: metadata.httpStatusCode }),
    ...(metadata.requestId !== undefined && { awsRequestId: metadata.requestId }),
    ...(metadata.attempts !== undefined && { sdkAttempts: metadata.attempts }),
  };
}

function summary(error: Error & { [FAILED_CALL]?: string }): ErrorSummary {
  const call = error[FAILED_CALL];
  const { name, message } = error;
  const failure = connectionFailure(error);
  return {
    ...(call !== undefined && { call }),
    error: failure ?? name,
    ...(failure === undefined && !QUOTES_ITS_INPUT.test(name) && { errorMessage: message }),
  };
}

/** Whatever keeps the stack from being found must not keep the error from being logged. */
async function stackOf(error: Error): Promise<{ stack?: string[] }> {
  try {
    const { sourceStack } = await import('./source-stack.ts');
    const stack = sourceStack(error);
    return stack.length > 0 ? { stack } : {};
  } catch {
    return {};
  }
}
