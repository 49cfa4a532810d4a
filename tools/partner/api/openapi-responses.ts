import type { JsonSchema } from './field-schemas.ts';
import { type GatewayAnswer, PERHAPS_KEPT, refusalList, retryAfterSeconds } from './gateway-answers.ts';
import { EVENT_ID, eventId, REQUEST_ID, requestId } from './ids.ts';
import { type ProblemName, problemExample } from './problems.ts';
import { schemaRef } from './schema-reference.ts';

type Status = 'queued' | 'parked';

const meanings: Readonly<Record<Status, string>> = {
  queued: 'We have stored the event and will process it.',
  parked: 'We keep the event. It has no effect, because we do not support its kind yet.',
};

/** The body of 200. */
export const acceptedSchema = (status: Status): JsonSchema => ({
  title: status,
  description: meanings[status],
  type: 'object',
  properties: {
    status: { type: 'string', const: status, description: 'What became of the event.' },
    eventId,
    requestId,
  },
  required: ['status', 'eventId', 'requestId'],
});

const acceptedExample = (status: Status) => ({
  summary: status,
  value: { status, eventId: EVENT_ID, requestId: REQUEST_ID },
});

const problemContent = (name: ProblemName) => ({
  'application/problem+json': {
    schema: schemaRef(name),
    examples: { problem: { summary: problemExample(name).title, value: problemExample(name) } },
  },
});

const gatewayContent = (message: string) => ({
  'application/json': {
    schema: schemaRef('GatewayMessage'),
    examples: { message: { summary: message, value: { message } } },
  },
});

/** The answers of the receiver, some of which API Gateway gives as well, by name. */
export const responses: Readonly<Record<string, JsonSchema>> = {
  Accepted: {
    description: 'We have the event. Do not send it again.',
    content: {
      'application/json': {
        schema: { oneOf: [schemaRef('Queued'), schemaRef('Parked')] },
        examples: { queued: acceptedExample('queued'), parked: acceptedExample('parked') },
      },
    },
  },
  UnusableEvent: {
    description:
      'The body is signed, but not a usable event: the answer names the fields. It was kept, and a person looks at it. Do not send it again as it is.',
    content: problemContent('UnusableEvent'),
  },
  InvalidSignature: {
    description:
      'The signature is missing, malformed or wrong. Nothing was kept. Compare how you sign, and send the event again.',
    content: problemContent('InvalidSignature'),
  },
  ServerError: {
    description: `${PERHAPS_KEPT} Send it again, later each time, and not before the seconds of \`Retry-After\` if there are any.\n\nThe receiver answers so if it could not store the event. Behind a REST API, API Gateway answers the same for what it refuses by itself:\n\n${refusalList}\n\nBehind an HTTP API it may answer in its own form.`,
    headers: {
      'Retry-After': {
        description: 'Seconds to wait before it is sent again. Behind a REST API only.',
        schema: { type: 'integer', enum: retryAfterSeconds },
      },
    },
    content: { ...problemContent('ServerError'), ...gatewayContent('Internal Server Error') },
  },
  GatewayOther: {
    description:
      'Any other status. API Gateway gives some by itself, for example for headers above 10,240 bytes. Send the event again, later each time, and tell us.',
    content: gatewayContent('Bad Request'),
  },
};

/** An answer that API Gateway alone gives. */
export const gatewayResponse = ({ description, message }: GatewayAnswer): JsonSchema => ({
  description,
  content: gatewayContent(message),
});
