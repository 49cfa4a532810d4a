import { readFileSync } from 'node:fs';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { CONTACT, EXAMPLE_HOST, info, LICENCE } from './document-facts.ts';
import { type DescribedEvent, describedEvents, payloadSchema } from './event-schemas.ts';
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
    tags: [{ name: 'Endpoint', description: 'The only request of this interface.' }],
    paths: { [WEBHOOK_PATH]: { post: receiveEvent(events) } },
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

const INTRODUCTION = `You post each event to one address. We verify the signature, store the event, answer, and process it afterwards.

- **Send one event per request**, as JSON in UTF-8. The signature covers the bytes of the body as you send them: sign last, and send what you have signed.
- **Wait 35 s for an answer.** Our gateway gives up after 30 s.
- **200 means that we have the event.** After 400 or 413 do not repeat. After 403 or 404 fix the address first. After any other status, or no answer, repeat the same bytes, later each time.
- **You may send an event twice**: the same bytes are the same event. Events may come in any order: of two about the same thing the later \`timestamp\` wins.
- **Leave out a field that has no value.** Do not send \`null\`: depending on the field, it is refused with 400 or counts as absent.
- **You may send fields that are not described.** We ignore them.
- **Tell us before you send a new kind of event.** Until we support it, the answer is 200 \`parked\`: we keep the event, and it has no effect.`;

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

function receiveEvent(events: readonly DescribedEvent[]): JsonSchema {
  const samples = events.flatMap((event) => event.samples);
  return {
    operationId: 'receiveEvent',
    tags: ['Endpoint'],
    summary: 'Send one event',
    description: 'We store the event and answer. We process it within seconds.',
    parameters: [{ $ref: '#/components/parameters/Signature' }],
    requestBody: {
      description: 'The event. You sign these bytes.',
      required: true,
      content: {
        'application/json': {
          // By name: of a union without one, oapi-codegen makes a type that is sent as `{}`.
          schema: schemaRef('PartnerEvent'),
          examples: Object.fromEntries(
            samples.map(({ name, event, payload }) => [name, { summary: event, value: payload }]),
          ),
        },
      },
    },
    responses: { 200: { $ref: '#/components/responses/Accepted' }, ...failures },
    'x-codeSamples': codeSamples,
  };
}

/** How to sign and post, in the languages that most partners use: the files of `examples/signing/` as they are. */
const codeSamples = [
  { lang: 'Shell', label: 'curl', file: 'curl/sign-and-post.sh' },
  { lang: 'JavaScript', label: 'Node.js', file: 'node/sign-and-post.mjs' },
  { lang: 'Python', label: 'Python', file: 'python/sign_and_post.py' },
  { lang: 'PHP', label: 'PHP', file: 'php/sign-and-post.php' },
  { lang: 'Go', label: 'Go', file: 'go/main.go' },
].map(({ lang, label, file }) => ({ lang, label, source: readFileSync(`examples/signing/${file}`, 'utf8') }));

function signatureParameter([first]: readonly DescribedEvent[]): JsonSchema {
  const payload = first?.samples[0]?.payload ?? {};
  return {
    name: SIGNATURE_HEADER,
    in: 'header',
    required: true,
    description: signatureDescription,
    schema: signatureSchema,
    examples: {
      hex: {
        summary: `For the body ${JSON.stringify(payload)} and the secret ${LOCAL_SECRET}`,
        value: exampleSignature(payload),
      },
    },
  };
}
