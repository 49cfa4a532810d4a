import type middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { describeProblems, type Problem as FieldProblem } from '../events/envelope.ts';
import { type GatewayEvent, requestIdOf } from './request.ts';

interface ProblemDetails {
  /** Identifies the kind of problem (RFC 9457 §3.1.1); never fetched. */
  readonly type: `urn:partner-webhooks:problem:${string}`;
  readonly title: string;
  readonly status: 400 | 401 | 500;
  readonly detail: string;
  readonly errors?: readonly FieldProblem[];
}

/** An answer other than 200, thrown to end a request (decision D3). Shows nothing of the request's content. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly details: ProblemDetails;

  constructor(details: ProblemDetails) {
    super(details.title);
    this.details = details;
  }
}

/** 401 for whatever is wrong with a signature: the answer does not say what. */
export const invalidSignature = () =>
  new Problem({
    type: 'urn:partner-webhooks:problem:invalid-signature',
    title: 'Invalid signature',
    status: 401,
    detail: 'X-Webhook-Signature is not the HMAC-SHA256 of the request body under the shared secret.',
  });

/** 400 for a signed payload that is not a usable event (decision D4). */
export const unusableEvent = (errors: readonly FieldProblem[]) =>
  new Problem({
    type: 'urn:partner-webhooks:problem:unusable-event',
    title: 'Unusable event',
    status: 400,
    detail: `The payload was kept for review. ${describeProblems(errors)}.`,
    errors,
  });

/** 500 for whatever kept an event from being made safe; a REST API says it for itself, too. */
export const serverError: ProblemDetails = {
  type: 'urn:partner-webhooks:problem:server-error',
  title: 'Server error',
  status: 500,
  detail: 'The event was not accepted. Send it again.',
};

/**
 * Turns every error of a request into an RFC 9457 response: a {@link Problem} as it is, anything else
 * into a 500 that shows nothing of it.
 * @param onServerError is told of what becomes a 500
 */
export function problemResponses(
  onServerError: (error: unknown) => Promise<void>,
): middy.MiddlewareObj<GatewayEvent, APIGatewayProxyStructuredResultV2> {
  return {
    onError: async (request) => {
      const known = request.error instanceof Problem;
      if (!known) await onServerError(request.error);
      const details = known ? (request.error as Problem).details : serverError;
      request.response = {
        statusCode: details.status,
        headers: { 'content-type': 'application/problem+json' },
        body: JSON.stringify({ ...details, requestId: requestIdOf(request.event) }),
      };
    },
  };
}
