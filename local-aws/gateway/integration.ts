import { Buffer } from 'node:buffer';
import { EVENT_LIMIT_BYTES, type InvocationResult, TooManyRequestsError } from '../functions/invocation.ts';

/** Why an API has no response from a function. */
export type IntegrationFailure = 'event too large' | 'throttled' | 'rejected' | 'timed out';

/** Invokes a function for an API, and stops waiting at the API's limit. */
export async function integrate<Event>(
  invoke: (event: Event) => Promise<InvocationResult>,
  event: Event,
  limitMilliseconds: number,
): Promise<InvocationResult | IntegrationFailure> {
  if (Buffer.byteLength(JSON.stringify(event)) > EVENT_LIMIT_BYTES) return 'event too large';
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timed out'>((resolve) => {
    timer = setTimeout(() => resolve('timed out'), limitMilliseconds);
  });
  try {
    return await Promise.race([invoke(event), timeout]);
  } catch (error) {
    return error instanceof TooManyRequestsError ? 'throttled' : 'rejected';
  } finally {
    clearTimeout(timer);
  }
}
