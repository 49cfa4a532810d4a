import { readSamples } from '../../events/samples.ts';
import type { EffectName } from '../../lambda/events/definition.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { eventPaths } from './event-index.ts';

export interface NewEvent {
  readonly name: string;
  readonly effect: EffectName;
  /** The field of `data` that identifies the shop, staff member or user. @default that of the effect */
  readonly id?: string | undefined;
}

/** Texts for an event's files, by its effect. NAME and ID stand for the event's name and the field with its id. */
interface EventTemplate {
  readonly processing: string;
  readonly impact: string;
  /** Field of `data` with the id, unless another is named. */
  readonly id: string;
  /**
   * Fields of `data` that are used if present, with a value for the sample. Undefined if the value is an id: the sample
   * then gets one that no other sample has.
   */
  readonly fields: Readonly<Record<string, string | number | undefined>>;
  /** Code of the consumer, after the import of `consume`. */
  readonly code: string;
  /** Only for an effect that notifies: the fields that the notification shows after the shop and the id. */
  readonly lines?: readonly string[];
}

const shop_id = 'shop-1001';

const notifying = (topic: string) => `import { notifier } from '../../effects/notifications.ts';
import { content } from './notification.ts';

export const handler = consume('NAME', notifier('NAME', '${topic}', content));
`;

export const eventTemplates: Readonly<Record<EffectName, EventTemplate>> = {
  'shop-cache': {
    processing: 'Invalidate the shop cache',
    impact: 'Readers still see shops as they were before NAME.',
    id: 'shop_id',
    fields: {},
    code: `import { shopInvalidator } from '../../effects/shop-cache.ts';

const invalidateShop = await shopInvalidator();

export const handler = consume('NAME', (event) => invalidateShop({ ...event, shopId: event.data.ID }));
`,
  },
  cast: {
    processing: 'Synchronise the cast',
    impact: 'The cast list stays as it was before NAME.',
    id: 'girl_id',
    fields: { shop_id, name: 'Aoi' },
    code: `import { Cast } from '../../effects/cast.ts';

const cast = new Cast();

export const handler = consume('NAME', (event) => {
  const { ID: girlId, shop_id: shopId, name } = event.data;
  return cast.add({ girlId, shopId, name, payload: event.text }, event);
});
`,
  },
  'contact-partner': {
    processing: 'Update the contact_partner record',
    impact: 'Partner contacts stay as they were before NAME.',
    id: 'user_id',
    fields: { shop_id, display_name: 'Sora', profile_image_url: 'https://images.example.com/sora.png' },
    code: `import { ContactPartner } from '../../effects/contact-partner.ts';

const contacts = new ContactPartner();

export const handler = consume('NAME', (event) => {
  const { ID: userId, ...fields } = event.data;
  return contacts.update({ ...event, userId, fields });
});
`,
  },
  chat: {
    processing: 'Send a notification to the chat room',
    impact: 'The chat room is not notified of NAME.',
    id: 'shop_id',
    fields: { shop_id, name: 'Café Aozora' },
    code: notifying('CHAT_TOPIC_ARN'),
    lines: ['name'],
  },
  review: {
    processing: 'Send a review notification',
    impact: 'Nobody is notified of NAME.',
    id: 'review_id',
    fields: { shop_id, rating: 5, comment: 'Thank you!' },
    code: notifying('REVIEW_TOPIC_ARN'),
    lines: ['rating', 'comment'],
  },
};

/** The files of a new event by path, to be formatted. */
export function eventFiles(event: NewEvent): Record<string, string> {
  const { name, effect } = event;
  const { processing, impact, fields, code, lines, ...template } = eventTemplates[effect];
  const { id = template.id } = event;
  const { definition, consumer, sample } = eventPaths(kebabCase(name));
  const data = { [id]: undefined, ...fields, [id]: undefined };
  const names = Object.keys(data);
  const typeOf = (field: string) => (lines || field !== id ? 'assumedText' : 'identifierOfEitherType');
  const files = {
    [definition]: `import type { EventDefinition } from '../definition.ts';
import { ${[...new Set(names.map(typeOf)), 'object'].join(', ')} } from '../fields.ts';

export const event = {
  meaning: '${sentence(name)}',
  processing: '${processing}',
  effect: '${effect}',
  impact: '${impact.replace('NAME', name)}',
  // Not shown in the contract: assumptions (decision D10).
  data: object({ ${names.map((field) => `${field}: ${typeOf(field)}`).join(', ')} }),
} as const satisfies EventDefinition;
`,
    [consumer]: `import { consume } from '../../consumer/consume.ts';
${code.replaceAll('NAME', name).replace('ID', id)}`,
    [sample]: sampleFile(name, data),
  };
  if (!lines) return files;
  const shown = [...new Set(['shop_id', id, ...lines])];
  const notification = `import type * as v from 'valibot';
import type { NotificationContent } from '../../effects/notification-message.ts';
import type { event } from './event.ts';

export const content = (data: v.InferOutput<typeof event.data>): NotificationContent => ({
  title: '${sentence(name)}',
  lines: [${shown.map((field) => `['${sentence(field.replace(/_id$/, ''))}', data.${field}]`)}],
});
`;
  return { ...files, [consumer.replace('consumer', 'notification')]: notification };
}

/** `shop.closed` → `Shop closed` */
const sentence = (name: string) =>
  name.replaceAll(/[._]/g, ' ').replace(/^./, (first) => first.toUpperCase());

/** A sample five minutes after the newest one. Its ids have a number that no other sample has. */
function sampleFile(event: string, data: EventTemplate['fields']): string {
  const samples = readSamples();
  const numbers = Array.from(JSON.stringify(samples).matchAll(/-(\d+)"/g), ([, digits]) => Number(digits));
  const freeId = (field: string) => `${kebabCase(field.replace(/_id$/, ''))}-${Math.max(...numbers) + 1}`;
  const newest = Math.max(...samples.map(({ payload }) => Date.parse(String(payload.timestamp))));
  const timestamp = new Date(newest + 5 * 60_000).toISOString().replace('.000Z', 'Z');
  return JSON.stringify({ event, data, timestamp }, (field, value) => value ?? freeId(field), 2);
}
