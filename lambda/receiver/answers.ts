import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { describeProblems, type FieldProblem } from '../events/envelope.ts';

/** An answer in a form that both kinds of API accept. */
export type GatewayAnswer = APIGatewayProxyStructuredResultV2;

function answer(statusCode: number, contentType: string, body: object): GatewayAnswer {
  return {
    statusCode,
    headers: { 'content-type': contentType },
    body: JSON.stringify(body),
  };
}

/** 200: the event is on its queue. An unknown kind is on the unrouted queue, or ignored (decision D5). */
export const accepted = (
  status: 'queued' | 'parked' | 'ignored',
  { eventId, requestId }: { readonly eventId: string; readonly requestId: string },
): GatewayAnswer => answer(200, 'application/json', { status, eventId, requestId });

/** The answer with any status but 200 (decision D3). Shows nothing of the request's content. */
export const refused = (problem: ProblemDetails, requestId: string): GatewayAnswer =>
  answer(problem.status, 'application/problem+json', { ...problem, requestId });

/** Why a request was rejected, in the form of RFC 9457. */
export interface ProblemDetails {
  /** Identifies the kind of problem (RFC 9457 §3.1.1); never fetched. */
  readonly type: `urn:partner-webhooks:problem:${string}`;
  readonly title: string;
  readonly status: 400 | 401 | 500;
  readonly detail: string;
  readonly errors?: readonly FieldProblem[];
}

/** 401 for every fault of a signature. The answer does not say which. */
export const invalidSignature: ProblemDetails = {
  type: 'urn:partner-webhooks:problem:invalid-signature',
  title: 'Invalid signature',
  status: 401,
  detail: 'X-Webhook-Signature is not the HMAC-SHA256 of the request body under the shared secret.',
};

/** 400 for a signed payload that is not a usable event (decision D4). */
export const unusableEvent = (errors: readonly FieldProblem[]): ProblemDetails => ({
  type: 'urn:partner-webhooks:problem:unusable-event',
  title: 'Unusable event',
  status: 400,
  detail: `The payload was kept for review. ${describeProblems(errors)}.`,
  errors,
});

/** 500 if an event could not be stored. A REST API answers its own failures with the same body. */
export const serverError: ProblemDetails = {
  type: 'urn:partner-webhooks:problem:server-error',
  title: 'Server error',
  status: 500,
  detail: 'The event was not accepted. Send it again.',
};
