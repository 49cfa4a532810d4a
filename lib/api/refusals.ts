/** Seconds after which a sender should retry. */
const SOON = 5;
const LATER = 30;
/** The window of AWS WAF's rate rule. */
const RATE_WINDOW = 300;

/**
 * What a REST API itself refuses, and after how many seconds to send it again. The kinds of a failed integration are
 * named besides their default: whether they take its status is documented one way and reported the other. If Lambda's own
 * 429 is passed through, it takes the default of 4XX. About a body that is too large the guide says both that its answer can
 * be changed and that it cannot. It has no time to repeat, because it does not get smaller. Source: API Gateway developer
 * guide, "Gateway response types" and "Amazon API Gateway important notes for REST APIs".
 */
export const refusals = {
  THROTTLED: SOON,
  INTEGRATION_FAILURE: SOON,
  INTEGRATION_TIMEOUT: LATER,
  DEFAULT_4XX: SOON,
  DEFAULT_5XX: LATER,
  WAF_FILTERED: RATE_WINDOW,
  REQUEST_TOO_LARGE: undefined,
} as const;

/**
 * The kinds of a request for something that the API does not have: without a signature of AWS, with one that is not valid
 * or has expired, and with a valid one. They are named so that no scanner gets the status of DEFAULT_4XX. Source: "Gateway response
 * types".
 */
export const NOT_FOUND = {
  NotFound: 'MISSING_AUTHENTICATION_TOKEN',
  InvalidSignature: 'INVALID_SIGNATURE',
  ExpiredToken: 'EXPIRED_TOKEN',
  ResourceNotFound: 'RESOURCE_NOT_FOUND',
} as const;
