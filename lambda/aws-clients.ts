/**
 * Settings of every AWS client. A hung dependency must fail the call and not the function, so the sum
 * of a request's calls at their worst (here 2 × 2 s each) stays below the function's time-out.
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
 * What a log line may say of an error: enough to act on at night, nothing of the payload.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const metadata = '$metadata' in error ? (error.$metadata as Record<string, unknown>) : {};
  return {
    error: error.name,
    ...(!QUOTES_ITS_INPUT.test(error.name) && { message: error.message }),
    ...(metadata.httpStatusCode !== undefined && { httpStatus: metadata.httpStatusCode }),
    ...(metadata.requestId !== undefined && { awsRequestId: metadata.requestId }),
    ...(metadata.attempts !== undefined && { attempts: metadata.attempts }),
  };
}
