import { LOCAL_SECRET } from '../../../events/signing.ts';
import { WEBHOOK_PATH } from '../../../lambda/contract/webhook-path.ts';
import { CONTACT, EXAMPLE_HOST, info, LICENCE } from './document-facts.ts';
import {
  type DescribedEvent,
  describedEvents,
  otherPayload,
  otherPayloadSchema,
  payloadSchema,
} from './event-schemas.ts';
import type { JsonSchema } from './field-schemas.ts';
import { gatewayAnswers, gatewayMessageSchema } from './gateway-answers.ts';
import { acceptedSchema, gatewayResponse, responses } from './openapi-responses.ts';
import { problemNames, problemSchema } from './problems.ts';
import { requestIdHeaderReferences, requestIdHeaders } from './request-id-headers.ts';
import { schemaRef } from './schema-reference.ts';
import {
  exampleSignature,
  SIGNATURE_HEADER,
  signatureDescription,
  signatureSchema,
} from './signature-header.ts';

/** OpenAPI 3.1 of what the partner calls: the one endpoint, with every answer of both kinds of API Gateway. */
export function openApiDocument(): JsonSchema {
  const events = describedEvents();
  return {
    openapi: '3.1.0',
    info: {
      ...info('Partner webhooks: what you send us', INTRODUCTION),
      contact: CONTACT,
      license: { name: LICENCE, identifier: LICENCE },
    },
    servers: [
      {
        url: 'https://{host}',
        description: 'A deployed stage',
        variables: {
          host: { default: EXAMPLE_HOST, description: 'We tell you which it is.' },
        },
      },
      {
        url: 'http://127.0.0.1:{port}',
        description: 'The whole service on your own machine, by `npm ci && npm start`',
        variables: { port: { default: '3000', description: '`npm start -- --port` sets another.' } },
      },
    ],
    // A signature is of one body, and so a parameter of each request. As a security scheme it would be a key that a client
    // is given once; as both, a generated client sets it twice, which is 401.
    security: [],
    tags: [
      { name: 'Endpoint', description: 'The one request that there is.' },
      { name: 'Events', description: 'What has happened at yours: what the request carries.' },
    ],
    paths: { [WEBHOOK_PATH]: { post: receiveEvent(events) } },
    webhooks: Object.fromEntries(events.map((event) => [event.event, { post: webhook(event) }])),
    components: {
      parameters: { Signature: signatureParameter(events) },
      schemas: {
        PartnerEvent: {
          title: 'event',
          description: 'One event of a kind that we know.',
          oneOf: events.map(({ schemaName }) => schemaRef(schemaName)),
          discriminator: {
            propertyName: 'event',
            mapping: Object.fromEntries(
              events.map(({ event, schemaName }) => [event, schemaRef(schemaName).$ref]),
            ),
          },
        },
        ...Object.fromEntries(events.map((event) => [event.schemaName, payloadSchema(event)])),
        OtherEvent: otherPayloadSchema(events),
        Queued: acceptedSchema('queued'),
        Parked: acceptedSchema('parked'),
        ...Object.fromEntries(problemNames.map((name) => [name, problemSchema(name)])),
        GatewayMessage: gatewayMessageSchema,
      },
      headers: requestIdHeaders,
      responses: withRequestIds({
        ...responses,
        ...Object.fromEntries(
          gatewayAnswers.map((answer) => [`Gateway${answer.status}`, gatewayResponse(answer)]),
        ),
      }),
    },
  };
}

const INTRODUCTION = `You post events to one address; we prove by a signature that they are yours, make them safe, answer, and process them afterwards.

- **One event a request**, as JSON in UTF-8. What is signed are the bytes of the body as they are sent: sign last, and send what you have signed.
- **200 means that we have it.** Repeat 401 and 500, later each time; 429, 502, 503 and 504 as well. What gets 400 will get it again: we have kept it, and a person looks at it.
- **An event may be sent twice**: the same bytes are the same event. Events may come in any order: of two about the same thing the later \`timestamp\` wins.
- **More fields and more kinds of events** may be sent without asking us. What we do not know is kept.`;

const withRequestIds = (byName: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  Object.fromEntries(
    Object.entries(byName).map(([name, { description, headers, ...response }]) => [
      name,
      { description, headers: { ...requestIdHeaderReferences, ...(headers ?? {}) }, ...response },
    ]),
  );

/** All answers that do not depend on the event. */
const failures = {
  400: { $ref: '#/components/responses/UnusableEvent' },
  401: { $ref: '#/components/responses/InvalidSignature' },
  500: { $ref: '#/components/responses/ServerError' },
  ...Object.fromEntries(
    gatewayAnswers.map(({ status }) => [status, { $ref: `#/components/responses/Gateway${status}` }]),
  ),
  default: { $ref: '#/components/responses/GatewayOther' },
};

const signed = [{ $ref: '#/components/parameters/Signature' }];

const requestBody = (
  schema: JsonSchema,
  examples: readonly { readonly name: string; readonly summary: string; readonly payload: object }[],
) => ({
  description: 'The event. Its bytes are what is signed.',
  required: true,
  content: {
    'application/json': {
      schema,
      examples: Object.fromEntries(
        examples.map(({ name, summary, payload }) => [name, { summary, value: payload }]),
      ),
    },
  },
});

function receiveEvent(events: readonly DescribedEvent[]): JsonSchema {
  const samples = events.flatMap(({ samples }) => samples);
  return {
    operationId: 'receiveEvent',
    tags: ['Endpoint'],
    summary: 'Send one event',
    description: 'Keeps the event and answers; what follows from it happens afterwards, in seconds.',
    parameters: signed,
    requestBody: requestBody({ oneOf: [schemaRef('PartnerEvent'), schemaRef('OtherEvent')] }, [
      ...samples.map((sample) => ({ ...sample, summary: sample.event })),
      { name: 'any-other', summary: 'any other event', payload: otherPayload },
    ]),
    responses: { 200: { $ref: '#/components/responses/Accepted' }, ...failures },
  };
}

/** The same request, as a reader looks for it who thinks of webhooks: by the event. */
function webhook({ event, name, schemaName, meaning, processing, samples }: DescribedEvent): JsonSchema {
  return {
    operationId: `send-${name}`,
    tags: ['Events'],
    summary: meaning,
    description: `You send \`${event}\` to \`${WEBHOOK_PATH}\`; we ${processing}. It is the request of \`receiveEvent\`, with this one event.`,
    parameters: signed,
    requestBody: requestBody(
      schemaRef(schemaName),
      samples.map((sample) => ({ ...sample, summary: meaning })),
    ),
    responses: { 200: { $ref: '#/components/responses/Queued' }, ...failures },
  };
}

function signatureParameter([first]: readonly DescribedEvent[]): JsonSchema {
  const payload = first?.samples[0]?.payload ?? otherPayload;
  return {
    name: SIGNATURE_HEADER,
    in: 'header',
    required: true,
    description: signatureDescription,
    schema: signatureSchema,
    examples: {
      hex: {
        summary: `Of the body ${JSON.stringify(payload)}, with the secret ${LOCAL_SECRET}`,
        value: exampleSignature(payload),
      },
    },
  };
}
