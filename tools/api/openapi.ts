import { readFileSync } from 'node:fs';
import { readSamples } from '../../events/samples.ts';
import { LOCAL_SECRET, signatureOf } from '../../events/signing.ts';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import { BASE64, HEX, PREFIX } from '../../lambda/receiver/signature.ts';
import { type JsonSchema, otherPayloadSchema, payloadSchema, schemaRef } from './event-schemas.ts';
import { responseComponents, responses } from './responses.ts';

const { version, license } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Host of the webhook in examples: a reserved name that nobody can own (RFC 2606). */
const EXAMPLE_HOST = 'webhooks.example.com';

const INTRODUCTION = `You post each event to one address. We verify the signature, store the event, answer, and then process it.

- **Send one event per request**, as JSON in UTF-8. The signature covers the bytes of the body: sign last, and send exactly the bytes that you signed.
- **A generated client** knows the bytes only when it sends. Pass 64 zeros as the signature, and let a hook of the HTTP client (interceptor, middleware) replace them by the signature of the finished body.
- **Wait 35 s for an answer.** Our gateway gives up after 29 s.
- **200 means that we have stored the event.** Do not repeat after 400 or 413. After 403 or 404, fix the address first. After any other status, or no answer, repeat the same bytes, with growing waits.
- **You may send an event twice**: the same bytes are the same event. Events may arrive in any order: for the same shop, staff member or user, the later \`timestamp\` wins.
- **Omit a field that has no value.** Do not send \`null\`: depending on the field, we reject it with 400 or ignore it.
- **You may send additional fields.** We ignore them.
- **Tell us before you send a new kind of event.** Until we support it, the answer is 200 \`parked\`: we store the event, but it has no effect.`;

/**
 * Name of the schema for other events, which is the last alternative. The generator for PHP keeps only the last
 * alternative, so the most general schema must be last.
 */
const OTHER_EVENT = 'OtherEvent';

/** OpenAPI 3.1 document of the webhook endpoint, with every answer of both kinds of API Gateway. */
export function openApiDocument(): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Partner webhooks: what you send us',
      version,
      description: INTRODUCTION,
      // Placeholders to replace when you deploy the stack. Linters require all three fields.
      contact: {
        name: 'The people who gave you the address and the secret',
        url: `https://${EXAMPLE_HOST}/`,
        email: 'webhooks@example.com',
      },
      license: { name: license, identifier: license },
    },
    servers: [
      {
        url: 'https://{host}',
        description: 'A deployed stage',
        variables: {
          host: { default: EXAMPLE_HOST, description: 'We tell you the host.' },
        },
      },
      {
        url: 'http://127.0.0.1:{port}',
        description: 'The whole service on your own machine: `npm ci && npm start`',
        variables: { port: { default: '3000', description: '`npx hookctl start --port` changes it.' } },
      },
    ],
    // A signature belongs to one body, so it is a parameter of each request. As a security scheme, a client would take
    // the signature once, like a key. If the signature were both, a generated client would set it twice, and the answer
    // would be 401.
    security: [],
    tags: [{ name: 'Endpoint', description: 'The only request of this interface.' }],
    paths: { [WEBHOOK_PATH]: { post: receiveEvent() } },
    components: {
      parameters: { Signature: signatureParameter() },
      schemas: {
        // No discriminator: a discriminator would exclude other kinds, and openapi-generator would send
        // `"event":"PartnerEvent"`. Not `oneOf`: most tools ignore the `not` of the last alternative, so two
        // alternatives would match.
        PartnerEvent: {
          title: 'event',
          description: 'An event that we support, or of another kind.',
          anyOf: [...eventNames.map(pascalCase), OTHER_EVENT].map(schemaRef),
        },
        ...Object.fromEntries(eventNames.map((event) => [pascalCase(event), payloadSchema(event)])),
        [OTHER_EVENT]: otherPayloadSchema,
        ...responseComponents.schemas,
      },
      headers: responseComponents.headers,
    },
  };
}

function receiveEvent(): JsonSchema {
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
          // A named schema: for an unnamed union, oapi-codegen makes a type that is sent as `{}`.
          schema: schemaRef('PartnerEvent'),
          examples: Object.fromEntries(
            readSamples().map(({ name, event, payload }) => [name, { summary: event, value: payload }]),
          ),
        },
      },
    },
    responses,
  };
}

const withoutAnchors = ({ source }: RegExp) => source.replace(/^\^|\$$/g, '');

/** Regular expression for every accepted spelling of a signature (decision D1). */
export const SIGNATURE_PATTERN = `^(?:${PREFIX})?(?:${withoutAnchors(HEX)}|${withoutAnchors(BASE64)})$`;

function signatureParameter(): JsonSchema {
  const body = JSON.stringify(readSamples()[0]?.payload);
  return {
    name: 'X-Webhook-Signature',
    in: 'header',
    required: true,
    description: `HMAC-SHA256 of the body's bytes exactly as sent. The key is the UTF-8 bytes of our shared secret. Write it as 64 hex digits of either case, or as base64 or base64url of the 32 bytes, with or without padding. It may begin with \`${PREFIX}\`. Send one value without spaces. Only this signature proves that the request is yours.`,
    schema: { type: 'string', pattern: SIGNATURE_PATTERN },
    examples: {
      hex: {
        summary: `For the body ${body} and the secret ${LOCAL_SECRET}`,
        value: signatureOf({ body: Buffer.from(body), secret: LOCAL_SECRET }),
      },
    },
  };
}
