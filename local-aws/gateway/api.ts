import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ACCOUNT_ID, REGION } from '../aws/service-forms.ts';
import { EVENT_LIMIT_BYTES, type InvocationResult, TooManyRequestsError } from '../functions/invocation.ts';
import type { Throttling } from '../template/resource-properties.ts';
import type { HttpRequest, HttpResponse } from './http-message.ts';

/** API Gateway's quota for a request body, "10 MB" of 2^20 bytes. Source: the quotas of both kinds of API. */
export const BODY_LIMIT_BYTES = 10 * 1024 * 1024;

export interface ApiAnswer {
  readonly response: HttpResponse;
  readonly requestId: string;
  /**
   * Variables of the access log that only the API knows, by their names below `$context`, such as `routeKey`.
   * Undefined if API Gateway does not log the request.
   */
  readonly context: Readonly<Record<string, string>> | undefined;
}

/** Reads a request's body. Undefined if the body exceeds {@link BODY_LIMIT_BYTES}. */
type BodyReader = () => Promise<Buffer | undefined>;

export interface Api {
  /**
   * Answers one request.
   * @throws the error of `readBody` if the client disconnects
   */
  answer(request: HttpRequest, readBody: BodyReader): Promise<ApiAnswer>;
}

/** Why an API answers without a function's response. */
export type ApiFailure =
  | 'no route'
  | 'throttled'
  | 'body too large'
  | 'event too large'
  | 'no concurrency'
  | 'not invoked'
  | 'timed out'
  | 'bad response';

interface RoutedRequest<Event> {
  readonly route: { invoke(event: Event): Promise<InvocationResult> } | undefined;
  /** Whether the throttle admits the request. */
  readonly admits: () => boolean;
  readonly readBody: BodyReader;
  /** Maximum time to wait for the function. */
  readonly limitMilliseconds: number;
  readonly toEvent: (body: Buffer) => Event;
  /** Undefined for a function error or a malformed result. */
  readonly toResponse: (result: InvocationResult) => HttpResponse | undefined;
}

/** Invokes the function of a request, and stops waiting at the API's limit. */
export async function respond<Event>({
  route,
  admits,
  readBody,
  limitMilliseconds,
  toEvent,
  toResponse,
}: RoutedRequest<Event>): Promise<HttpResponse | ApiFailure> {
  if (route === undefined) return 'no route';
  if (!admits()) return 'throttled';
  const body = await readBody();
  if (body === undefined) return 'body too large';
  const event = toEvent(body);
  if (Buffer.byteLength(JSON.stringify(event)) > EVENT_LIMIT_BYTES) return 'event too large';
  const done = new AbortController();
  try {
    const result = await Promise.race([
      route.invoke(event),
      sleep(limitMilliseconds, undefined, { signal: done.signal }),
    ]);
    return result === undefined ? 'timed out' : (toResponse(result) ?? 'bad response');
  } catch (error) {
    return error instanceof TooManyRequestsError ? 'no concurrency' : 'not invoked';
  } finally {
    done.abort();
  }
}

/**
 * API Gateway's token bucket
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html). AWS
 * throttles "on a best-effort basis"; this one is exact. Without both limits, it admits everything.
 * @param now a clock, in milliseconds
 * @returns a function that decides about the next request
 */
export function createThrottle(
  { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst }: Throttling = {},
  now: () => number = () => performance.now(),
): () => boolean {
  if (rate === undefined || burst === undefined) return () => true;
  let tokens = burst;
  let filledAt = now();
  return () => {
    const time = now();
    tokens = Math.min(burst, tokens + ((time - filledAt) / 1000) * rate);
    filledAt = time;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

/** What both payload formats say of the API that received a request. */
export const apiContext = (apiId: string) => ({
  accountId: ACCOUNT_ID,
  apiId,
  domainName: `${apiId}.execute-api.${REGION}.amazonaws.com`,
  domainPrefix: apiId,
});

/** An X-Ray trace header: the time in seconds, then 96 random bits. */
export function traceId(time: Date): string {
  const seconds = Math.floor(time.getTime() / 1000).toString(16);
  return `Root=1-${seconds}-${randomBytes(12).toString('hex')}`;
}

export function shortId(): string {
  return randomBytes(11).toString('base64');
}

/** Formats a time as in Apache's Common Log Format: `12/Mar/2020:19:03:58 +0000`. */
export function commonLogTime(time: Date): string {
  const [, day, month, year, clock] = time.toUTCString().split(' ');
  return `${day}/${month}/${year}:${clock} +0000`;
}
