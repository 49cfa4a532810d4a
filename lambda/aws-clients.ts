/**
 * Settings of every AWS client. A hung dependency must fail the call and not the function: a call ends
 * after some 4 s at the worst, and the functions' time-outs allow for as many as a request makes.
 */
export const clientSettings = {
  maxAttempts: 2,
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
export async function describeError(error: unknown): Promise<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: typeof error };
  const metadata = '$metadata' in error ? (error.$metadata as Record<string, unknown>) : {};
  return {
    ...nameAndMessage(error),
    ...(await stackOf(error)),
    ...(error.cause instanceof Error && {
      cause: { ...nameAndMessage(error.cause), ...(await stackOf(error.cause)) },
    }),
    ...(metadata.httpStatusCode !== undefined && { httpStatus: metadata.httpStatusCode }),
    ...(metadata.requestId !== undefined && { awsRequestId: metadata.requestId }),
    ...(metadata.attempts !== undefined && { attempts: metadata.attempts }),
  };
}

/** The same as one line of text. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const texts = [error, error.cause]
    .filter((item) => item instanceof Error)
    .map((item) => {
      const { error: name, errorMessage } = nameAndMessage(item);
      return errorMessage === undefined ? name : `${name}: ${errorMessage}`;
    });
  return texts.join('; caused by ');
}

function nameAndMessage({ name, message }: Error): { error: string; errorMessage?: string } {
  return QUOTES_ITS_INPUT.test(name) ? { error: name } : { error: name, errorMessage: message };
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
