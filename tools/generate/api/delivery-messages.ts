import type { Messages } from './channel.ts';
import { type DescribedEvent, otherPayload } from './event-schemas.ts';
import { schemaRef } from './schema-reference.ts';
import {
  exampleSignature,
  SIGNATURE_HEADER,
  signatureDescription,
  signatureSchema,
} from './signature-header.ts';

const common = {
  contentType: 'application/json',
  headers: {
    type: 'object',
    properties: { [SIGNATURE_HEADER]: { ...signatureSchema, description: signatureDescription } },
    required: [SIGNATURE_HEADER],
  },
};

const exampleOf = (name: string, summary: string, payload: object) => ({
  name,
  summary,
  headers: { [SIGNATURE_HEADER]: exampleSignature(payload) },
  payload,
});

/** What the partner posts: every event, and any other. */
export const deliveryMessages = (events: readonly DescribedEvent[]): Messages => ({
  ...Object.fromEntries(
    events.map(({ event, name, schemaName, meaning, samples }) => [
      `${schemaName}Delivery`,
      {
        name: `${name}-delivery`,
        title: `Delivery of ${event}`,
        summary: meaning,
        ...common,
        payload: schemaRef(schemaName),
        examples: samples.map((sample) => exampleOf(sample.name, meaning, sample.payload)),
      },
    ]),
  ),
  OtherDelivery: {
    name: 'other-delivery',
    title: 'Delivery of any other event',
    summary: 'An event of a kind that is not in the catalogue',
    ...common,
    payload: schemaRef('OtherEvent'),
    examples: [exampleOf('other-event', 'an event of an unknown kind', otherPayload)],
  },
});
