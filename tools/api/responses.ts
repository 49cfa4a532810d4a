import { ENCODED_BODY_MEGABYTES, EVENT_MEGABYTES, MAX_PROBLEMS } from '../../lambda/limits.ts';
import { invalidSignature, serverError, unusableEvent } from '../../lambda/receiver/answers.ts';
import { refusals } from '../../lib/api/refusals.ts';
import { schemaRef } from './document-info.ts';
import { EVENT_ID, eventId, REQUEST_ID, requestId } from './event-schemas.ts';
import type { JsonSchema } from './json-schema.ts';

/* The answers of the endpoint: those of the receiver, and those of API Gateway without calling the receiver. */

const accepted = {
  queued: 'We have stored the event and will process it.',
  parked: 'We store the event. It has no effect, because we do not support its kind yet.',
} as const;

type AcceptedStatus = keyof typeof accepted;

/**
 * One schema for `queued` and `parked`. With two schemas, a generated PHP client would keep only the last schema, and
 * throw at the other status.
 */
const acceptedSchema: JsonSchema = {
  title: 'accepted',
  description: 'We have the event.',
  type: 'object',
  properties: {
    status: {
      type: 'string',
      enum: Object.keys(accepted),
      description: Object.entries(accepted)
        .map(([status, meaning]) => `\`${status}\`: ${meaning}`)
        .join(' '),
    },
    eventId,
    requestId,
  },
  required: ['status', 'eventId', 'requestId'],
};

const acceptedExample = (status: AcceptedStatus) => ({
  summary: status,
  value: { status, eventId: EVENT_ID, requestId: REQUEST_ID },
});

/** The list of invalid fields in an answer (decision D4). */
const fieldProblems: JsonSchema = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_PROBLEMS,
  items: {
    type: 'object',
    properties: {
      field: {
        type: 'string',
        description: 'Path of the field, such as `data.shop_id`. `body` means the whole body.',
      },
      detail: { type: 'string', description: 'What is wrong with the field. Never contains its value.' },
    },
    required: ['field', 'detail'],
  },
  description: `The invalid fields, at most ${MAX_PROBLEMS}.`,
};

/** Errors that the receiver's own code answers, by the names of their schemas. */
const problems = {
  UnusableEvent: {
    details: unusableEvent([{ field: 'data.shop_id', detail: 'is missing: expected a non-empty string' }]),
    meaning:
      'The signature is valid, but the body is not a usable event. It is stored for review by a person.',
  },
  InvalidSignature: {
    details: invalidSignature,
    meaning:
      'The signature is missing, malformed or wrong. The answer does not say which. Nothing was stored.',
  },
  ServerError: {
    details: serverError,
    meaning: 'The event could not be stored.',
  },
};

type ProblemName = keyof typeof problems;

/** Schema of an error answer in the form of RFC 9457. */
function problemSchema(name: ProblemName): JsonSchema {
  const { details, meaning } = problems[name];
  const { type, title, status, errors } = details;
  return {
    title,
    description: meaning,
    type: 'object',
    properties: {
      type: { type: 'string', const: type, description: 'Identifies the kind of problem. It is not a link.' },
      title: { type: 'string', const: title },
      status: { type: 'integer', const: status },
      detail: { type: 'string', description: 'What is wrong, for people.' },
      ...(errors && { errors: fieldProblems }),
      requestId,
    },
    required: ['type', 'title', 'status', 'detail', ...(errors ? ['errors'] : []), 'requestId'],
  };
}

function problemContent(name: ProblemName) {
  const { details } = problems[name];
  return {
    'application/problem+json': {
      schema: schemaRef(name),
      examples: { problem: { summary: details.title, value: { ...details, requestId: REQUEST_ID } } },
    },
  };
}

const gatewayMessageSchema: JsonSchema = {
  title: 'API Gateway’s own answer',
  description: 'An answer that API Gateway gives itself, before or instead of the receiver.',
  type: 'object',
  properties: { message: { type: ['string', 'null'], description: 'What is wrong, in a few words.' } },
  required: ['message'],
};

const gatewayContent = (message: string) => ({
  'application/json': {
    schema: schemaRef('GatewayMessage'),
    examples: { message: { summary: message, value: { message } } },
  },
});

const AGAIN = 'Send the event again, with growing waits.';

/** Part of the description of an answer that API Gateway gives before it calls the receiver. */
const NOT_KEPT = 'Nothing was stored.';

/**
 * Part of the description of an answer that API Gateway may give after the receiver has stored the event: Lambda
 * continues when API Gateway no longer waits.
 */
const PERHAPS_KEPT = 'The event may have been stored. Sending it twice does no harm.';

/**
 * Answers with a status that only API Gateway has, never the receiver. Source: decision D16 and docs/deploying.md,
 * "Which gateway".
 */
const gatewayAnswers: Readonly<Record<string, { readonly description: string; readonly message: string }>> = {
  403: {
    description: `With a REST API: the path does not begin with \`/api\`. Compare the address with the one that we gave you. ${NOT_KEPT}`,
    message: 'Forbidden',
  },
  404: {
    description: `The path or the method is wrong. Compare the address with the one that we gave you. ${NOT_KEPT}`,
    message: 'Not Found',
  },
  413: {
    description: `The body is too large: above about ${EVENT_MEGABYTES} MB of JSON, or ${ENCODED_BODY_MEGABYTES} MB of another content type or with a REST API. Do not repeat it. A REST API may answer 500 instead. ${NOT_KEPT}`,
    message: 'Request Entity Too Large',
  },
  429: {
    description: `With an HTTP API: too many requests. ${NOT_KEPT} ${AGAIN}`,
    message: 'Too Many Requests',
  },
  502: {
    description: `With an HTTP API: the receiver's answer was invalid. ${PERHAPS_KEPT} ${AGAIN}`,
    message: 'Bad Gateway',
  },
  503: {
    description: `With an HTTP API: the receiver was not available, or took too long. ${PERHAPS_KEPT} ${AGAIN}`,
    message: 'Service Unavailable',
  },
  504: {
    description: `With an HTTP API: the receiver took too long. ${PERHAPS_KEPT} ${AGAIN}`,
    message: 'Gateway Timeout',
  },
};

/** Requests that a REST API rejects with 500, so that the partner repeats them. */
const refusalTexts: Readonly<Record<keyof typeof refusals, string>> = {
  THROTTLED: 'too many requests',
  INTEGRATION_FAILURE: 'the receiver could not be called',
  INTEGRATION_TIMEOUT: 'the receiver took too long',
  DEFAULT_4XX: 'Lambda rejected the request',
  DEFAULT_5XX: 'any other failure',
  WAF_FILTERED: 'the firewall blocked the request',
  REQUEST_TOO_LARGE: 'the body is too large; do not repeat it',
};

const refusalList = Object.entries(refusals)
  .map(([type, seconds]) => {
    const text = refusalTexts[type as keyof typeof refusals];
    return `- ${text}${seconds === undefined ? '' : ` (\`Retry-After: ${seconds}\`)`}`;
  })
  .join('\n');

const retryAfterSeconds = [...new Set(Object.values(refusals).filter((seconds) => seconds !== undefined))];

const byName: Readonly<Record<string, JsonSchema>> = {
  Accepted: {
    description: 'We have the event. Do not send it again.',
    content: {
      'application/json': {
        schema: schemaRef('Accepted'),
        examples: { queued: acceptedExample('queued'), parked: acceptedExample('parked') },
      },
    },
  },
  UnusableEvent: {
    description:
      'The signature is valid, but the body is not a usable event. The answer names the invalid fields. We store the body, and a person reviews it. Do not send it again unchanged.',
    content: problemContent('UnusableEvent'),
  },
  InvalidSignature: {
    description:
      'The signature is missing, malformed or wrong. Nothing was stored. Check how you sign, and send the event again.',
    content: problemContent('InvalidSignature'),
  },
  ServerError: {
    description: `${PERHAPS_KEPT} Send it again, with growing waits, and not before the seconds in \`Retry-After\`, if present.\n\nThe receiver gives this answer if it could not store the event. With a REST API, API Gateway gives it for its own errors, too:\n\n${refusalList}\n\nWith an HTTP API, API Gateway may use its own format.`,
    headers: {
      'Retry-After': {
        description: 'Seconds to wait before you send it again. Only with a REST API.',
        schema: { type: 'integer', enum: retryAfterSeconds },
      },
    },
    content: { ...problemContent('ServerError'), ...gatewayContent('Internal Server Error') },
  },
  GatewayOther: {
    description:
      'Any other status. API Gateway itself has some, for example for headers above 10,240 bytes. Send the event again, with growing waits, and tell us.',
    content: gatewayContent('Bad Request'),
  },
  ...Object.fromEntries(
    Object.entries(gatewayAnswers).map(([status, { description, message }]) => [
      `Gateway${status}`,
      { description, content: gatewayContent(message) },
    ]),
  ),
};

const requestIdHeader = (kind: string) => ({
  description: `Id of the request, with ${kind}. Give it to us if you ask about the request. It equals the \`requestId\` of our own answers, and is the only id in answers of API Gateway.`,
  schema: { type: 'string', examples: [REQUEST_ID] },
});

/**
 * Components of the document that answers refer to.
 *
 * API Gateway adds a request id to every answer. The header is not `x-amzn-RequestId`, which a REST API sends, too,
 * because a client can choose its value. Source: API Gateway developer guide, "Variables for access logging",
 * `$context.extendedRequestId`. For an HTTP API it is observed, not documented.
 */
export const responseComponents = {
  schemas: {
    Accepted: acceptedSchema,
    ...Object.fromEntries(
      (Object.keys(problems) as ProblemName[]).map((name) => [name, problemSchema(name)]),
    ),
    GatewayMessage: gatewayMessageSchema,
  },
  headers: {
    HttpApiRequestId: requestIdHeader('an HTTP API'),
    RestApiRequestId: requestIdHeader('a REST API'),
  },
  responses: Object.fromEntries(
    Object.entries(byName).map(([name, { description, headers, ...response }]) => [
      name,
      {
        description,
        headers: {
          'apigw-requestid': { $ref: '#/components/headers/HttpApiRequestId' },
          'x-amz-apigw-id': { $ref: '#/components/headers/RestApiRequestId' },
          ...(headers ?? {}),
        },
        ...response,
      },
    ]),
  ),
};

const responseRef = (name: string) => ({ $ref: `#/components/responses/${name}` });

export const responses: JsonSchema = {
  200: responseRef('Accepted'),
  400: responseRef('UnusableEvent'),
  401: responseRef('InvalidSignature'),
  500: responseRef('ServerError'),
  ...Object.fromEntries(
    Object.keys(gatewayAnswers).map((status) => [status, responseRef(`Gateway${status}`)]),
  ),
  default: responseRef('GatewayOther'),
};
