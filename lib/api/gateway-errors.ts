import { RATE_WINDOW_SECONDS } from '../../lambda/limits.ts';

/** Seconds after which a sender should retry. */
const SOON = 5;
const LATER = 30;

/**
 * Errors that a REST API itself answers, with the seconds after which to send again. Failed integrations are listed in
 * addition to the default, because the documentation and reports disagree on whether they take its status. A 429 of
 * Lambda that is passed through takes the DEFAULT_4XX. For a body that is too large, the guide says both that the
 * answer can be changed and that it cannot. This answer has no retry time, because the body stays too large. Source:
 * API Gateway developer guide, "Gateway response types" and "Amazon API Gateway important notes for REST APIs".
 */
export const GATEWAY_ERRORS = {
  THROTTLED: SOON,
  INTEGRATION_FAILURE: SOON,
  INTEGRATION_TIMEOUT: LATER,
  DEFAULT_4XX: SOON,
  DEFAULT_5XX: LATER,
  WAF_FILTERED: RATE_WINDOW_SECONDS,
  REQUEST_TOO_LARGE: undefined,
} as const;

/**
 * Error types of a request for an unknown path: without an AWS signature, with an invalid or expired one, and with a
 * valid one. They are listed so that scanners do not get the status of DEFAULT_4XX. Source: "Gateway response types".
 */
export const NOT_FOUND = {
  NotFound: 'MISSING_AUTHENTICATION_TOKEN',
  InvalidSignature: 'INVALID_SIGNATURE',
  ExpiredToken: 'EXPIRED_TOKEN',
  ResourceNotFound: 'RESOURCE_NOT_FOUND',
} as const;
