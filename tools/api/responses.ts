import { ENCODED_BODY_MEGABYTES, EVENT_MEGABYTES, MAX_PROBLEMS } from '../../lambda/limits.ts';
import { invalidSignature, serverError, unusableEvent } from '../../lambda/receiver/answers.ts';
import { GATEWAY_ERRORS } from '../../lib/api/gateway-errors.ts';
import { EVENT_ID, eventId, type JsonSchema, REQUEST_ID, requestId, schemaRef } from './event-schemas.ts';

/* The answers of the endpoint: those of the receiver, and those of API Gateway without calling the receiver. */

/** Part of the description of an answer that API Gateway gives before it calls the receiver. */
const NOT_KEPT = 'Nothing was stored.';

/** Lambda continues when API Gateway no longer waits, so the receiver may still store the event. */
const PERHAPS_KEPT = 'The event may have been stored. Sending it twice does no harm.';

const AGAIN = 'Send the event again, with growing waits.';

const GATEWAY = 'With an HTTP API: ';

/**
 * One schema for every status. With several schemas, a generated PHP client would keep only the last schema, and
 * throw at the others.
 */
const acceptedSchema: JsonSchema = {
  title: 'accepted',
  description: 'We have the event.',
  type: 'object',
  properties: {
    status: {
      type: 'string',
      enum: ['queued', 'parked', 'ignored'],
      description:
        '`queued`: we have stored the event and will process it. `parked`: we store the event, but it has no effect, because we do not support its kind yet. `ignored`: we do not use this kind, and have not stored the event.',
    },
    eventId,
    requestId,
  },
  required: ['status', 'eventId', 'requestId'],
};

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
    description:
      'The signature is valid, but the body is not a usable event. The answer names the invalid fields. We store the body, and a person reviews it. Do not send it again unchanged.',
  },
  InvalidSignature: {
    details: invalidSignature,
    description: `The signature is missing, malformed or wrong. The answer does not say which. ${NOT_KEPT} Check how you sign, and send the event again.`,
  },
  ServerError: {
    details: serverError,
    description: `The event could not be stored, or we do not know. ${PERHAPS_KEPT} Send it again, with growing waits, and not before the seconds in \`Retry-After\`, if present. With a REST API, API Gateway gives this answer for its own errors, too, also for a body that is too large. With an HTTP API, it may use its own format.`,
  },
};

type ProblemName = keyof typeof problems;

const PROBLEM_NAMES = Object.keys(problems) as ProblemName[];

/** Schema of an error answer in the form of RFC 9457. */
function problemSchema(name: ProblemName): JsonSchema {
  const { type, title, status, errors } = problems[name].details;
  return {
    title,
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

const gatewayMessageSchema: JsonSchema = {
  title: 'API Gateway’s own answer',
  description: 'An answer that API Gateway gives itself, before or instead of the receiver.',
  type: 'object',
  properties: { message: { type: ['string', 'null'], description: 'What is wrong, in a few words.' } },
  required: ['message'],
};

/**
 * Answers with a status that only API Gateway has, never the receiver. Source: decision D16 and docs/deploying.md,
 * "Which gateway".
 */
const gatewayAnswers: Readonly<Record<string, readonly [message: string, description: string]>> = {
  403: [
    'Forbidden',
    `With a REST API: the path does not begin with \`/api\`. Compare the address with the one that we gave you. ${NOT_KEPT}`,
  ],
  404: [
    'Not Found',
    `The path or the method is wrong. Compare the address with the one that we gave you. ${NOT_KEPT}`,
  ],
  413: [
    'Request Entity Too Large',
    `The body is too large: above about ${EVENT_MEGABYTES} MB of JSON, or ${ENCODED_BODY_MEGABYTES} MB of another content type or with a REST API. Do not repeat it. A REST API may answer 500 instead. ${NOT_KEPT}`,
  ],
  429: ['Too Many Requests', `${GATEWAY}too many requests. ${NOT_KEPT} ${AGAIN}`],
  502: ['Bad Gateway', `${GATEWAY}the receiver's answer was invalid. ${PERHAPS_KEPT} ${AGAIN}`],
  503: [
    'Service Unavailable',
    `${GATEWAY}the receiver was not available, or took too long. ${PERHAPS_KEPT} ${AGAIN}`,
  ],
  504: ['Gateway Timeout', `${GATEWAY}the receiver took too long. ${PERHAPS_KEPT} ${AGAIN}`],
  default: [
    'Bad Request',
    `Any other status. API Gateway itself has some, for example for headers above 10,240 bytes. ${AGAIN} Tell us, too.`,
  ],
};

const requestIdHeader = (kind: string) => ({
  description: `Id of the request, with ${kind}. Give it to us if you ask about the request. It equals the \`requestId\` of our own answers, and is the only id in answers of API Gateway.`,
  schema: { type: 'string', examples: [REQUEST_ID] },
});

/**
 * API Gateway adds a request id to every answer. The header is not `x-amzn-RequestId`, which a REST API sends, too,
 * because a client can choose its value. Source: API Gateway developer guide, "Variables for access logging",
 * `$context.extendedRequestId`. For an HTTP API it is observed, not documented.
 */
const headers = {
  'apigw-requestid': { $ref: '#/components/headers/HttpApiRequestId' },
  'x-amz-apigw-id': { $ref: '#/components/headers/RestApiRequestId' },
};

const example = (summary: string, value: object) => ({ [summary]: { summary, value } });

const gatewayContent = (message: string) => ({
  'application/json': { schema: schemaRef('GatewayMessage'), examples: example(message, { message }) },
});

const accepted = (status: string) => example(status, { status, eventId: EVENT_ID, requestId: REQUEST_ID });

function problemResponse(name: ProblemName): JsonSchema {
  const { details, description } = problems[name];
  const isServerError = name === 'ServerError';
  return {
    description,
    headers: {
      ...headers,
      ...(isServerError && {
        'Retry-After': {
          description: 'Seconds to wait before you send it again. Only with a REST API.',
          schema: {
            type: 'integer',
            enum: [...new Set(Object.values(GATEWAY_ERRORS).filter((seconds) => seconds !== undefined))],
          },
        },
      }),
    },
    content: {
      'application/problem+json': {
        schema: schemaRef(name),
        examples: example(details.title, { ...details, requestId: REQUEST_ID }),
      },
      ...(isServerError && gatewayContent('Internal Server Error')),
    },
  };
}

/** Components of the document that answers refer to. */
export const responseComponents = {
  schemas: {
    Accepted: acceptedSchema,
    ...Object.fromEntries(PROBLEM_NAMES.map((name) => [name, problemSchema(name)])),
    GatewayMessage: gatewayMessageSchema,
  },
  headers: {
    HttpApiRequestId: requestIdHeader('an HTTP API'),
    RestApiRequestId: requestIdHeader('a REST API'),
  },
};

/** The answers by status. */
export const responses: JsonSchema = {
  200: {
    description: 'We have the event. Do not send it again.',
    headers,
    content: {
      'application/json': {
        schema: schemaRef('Accepted'),
        examples: { ...accepted('queued'), ...accepted('parked') },
      },
    },
  },
  ...Object.fromEntries(PROBLEM_NAMES.map((name) => [problems[name].details.status, problemResponse(name)])),
  ...Object.fromEntries(
    Object.entries(gatewayAnswers).map(([status, [message, description]]) => [
      status,
      { description, headers, content: gatewayContent(message) },
    ]),
  ),
};
