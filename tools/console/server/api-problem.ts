import { CommandError } from '../../terminal/command-error.ts';

/** An error answer as in RFC 9457. A route throws it to end a request. */
export class ApiProblem extends Error {
  override readonly name = 'Problem';
  readonly details: Readonly<Record<'type' | 'title' | 'detail', string>> & { readonly status: number };

  /**
   * @param kind last part of the type URI, such as `bad-request`. Nothing is served there
   * @param detail what is wrong and what to do, in one line
   */
  constructor(kind: string, status: number, title: string, detail: string) {
    super(detail);
    this.details = { type: `urn:partner-webhooks-console:problem:${kind}`, title, status, detail };
  }
}

export const badRequest = (detail: string) => new ApiProblem('bad-request', 400, 'Bad request', detail);

export const forbidden = (kind: string, detail: string) => new ApiProblem(kind, 403, 'Forbidden', detail);

export const notFound = (detail: string) => new ApiProblem('not-found', 404, 'Not found', detail);

export function problemResponse(
  { details }: ApiProblem,
  others: Readonly<Record<string, string>> = {},
): Response {
  const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...others };
  return new Response(JSON.stringify(details), { status: details.status, headers });
}

/**
 * Converts an error of a route to an answer. Messages of AWS and of commands are for people and are included;
 * other messages are not.
 * @returns undefined if the error is a bug of the console
 */
export function problemOf(error: unknown): ApiProblem | undefined {
  if (error instanceof ApiProblem) return error;
  if (!(error instanceof Error)) return undefined;
  if (error instanceof CommandError)
    return new ApiProblem('not-possible', 409, 'Not possible', error.message);
  if ('$metadata' in error || error.name === 'CredentialsProviderError' || isNetworkError(error)) {
    const detail = `${error.name}: ${error.message.split('\n')[0]}`;
    return new ApiProblem('aws', 502, 'AWS answered with an error', detail);
  }
  return undefined;
}

const NETWORK_ERRORS = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EAI_AGAIN'];

const isNetworkError = (error: Error) => 'code' in error && NETWORK_ERRORS.includes(String(error.code));
