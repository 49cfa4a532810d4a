import { readSamples } from '../../events/samples.ts';
import type { EffectName } from '../../lambda/events/definition.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { eventPaths } from './event-index.ts';

/** A new event, as requested. */
export interface NewEvent {
  /** Such as `shop.closed`. */
  readonly name: string;
  readonly effect: EffectName;
  /** The field of `data` that identifies the shop, staff member or user: `shop_id`. */
  readonly id: string;
  /** The partner's change that causes it: `Shop closed`. */
  readonly meaning: string;
}

/** Content of an event's files, by its effect. */
interface Template {
  readonly processing: string;
  readonly impact: (name: string) => string;
  /** Whether the event must have its id. */
  readonly needsId: boolean;
  /** Fields of `data` that are used if present, with a value for the sample. Undefined: an id that no sample has. */
  readonly fields: Readonly<Record<string, string | number | undefined>>;
  readonly consumer: (event: NewEvent) => string;
  /** For an effect that notifies: labels by field, for the lines of a notification after the shop and the id. */
  readonly lines?: Readonly<Record<string, string>>;
}

/** A shop that other samples use. */
const SHOP = 'shop-1001';

/** Numbers of ids in samples begin here. */
const FIRST_NUMBER = 1001;

/** Between one sample and the next, in milliseconds. */
const SAMPLE_INTERVAL = 5 * 60_000;

const notifyingConsumer = (variable: string) => (event: NewEvent) =>
  `import { notifier } from '../../effects/notifications.ts';
import { content } from './notification.ts';

export const handler = consume('${event.name}', notifier('${event.name}', '${variable}', content));
`;

export const templates: Readonly<Record<EffectName, Template>> = {
  'shop-cache': {
    processing: 'Invalidate the shop cache',
    impact: (name) => `Readers still see shops as they were before ${name}.`,
    needsId: true,
    fields: {},
    consumer: ({ name, id }) => `import { shopInvalidator } from '../../effects/shop-cache.ts';

const invalidateShop = await shopInvalidator();

export const handler = consume('${name}', (event) => invalidateShop({ ...event, shopId: event.data.${id} }));
`,
  },
  cast: {
    processing: 'Synchronise the cast',
    impact: (name) => `The cast list stays as it was before ${name}.`,
    needsId: true,
    fields: { shop_id: SHOP, name: 'Aoi' },
    consumer: ({ name, id }) => `import { Cast } from '../../effects/cast.ts';

const cast = new Cast();

export const handler = consume('${name}', (event) => {
  const { ${id}: girlId, shop_id: shopId, name } = event.data;
  return cast.add({ girlId, shopId, name, payload: event.text }, event);
});
`,
  },
  'contact-partner': {
    processing: 'Update the contact_partner record',
    impact: (name) => `Partner contacts stay as they were before ${name}.`,
    needsId: true,
    fields: {
      shop_id: SHOP,
      display_name: 'Sora',
      profile_image_url: 'https://images.example.com/sora.png',
    },
    consumer: ({ name, id }) => `import { ContactPartner } from '../../effects/contact-partner.ts';

const contacts = new ContactPartner();

export const handler = consume('${name}', (event) => {
  const { ${id}: userId, ...fields } = event.data;
  return contacts.update({ ...event, userId, fields });
});
`,
  },
  chat: {
    processing: 'Send a notification to the chat room',
    impact: (name) => `The chat room is not notified of ${name}.`,
    needsId: false,
    fields: { shop_id: SHOP, name: 'Café Aozora' },
    consumer: notifyingConsumer('CHAT_TOPIC_ARN'),
    lines: { name: 'Name' },
  },
  review: {
    processing: 'Send a review notification',
    impact: (name) => `Nobody is notified of ${name}.`,
    needsId: false,
    fields: { shop_id: SHOP, review_id: undefined, rating: 5, comment: 'Thank you!' },
    consumer: notifyingConsumer('REVIEW_TOPIC_ARN'),
    lines: { rating: 'Rating', comment: 'Comment', review_id: 'Review' },
  },
};

/** The files of a new event by path. They are formatted, except for lines that may be too long. */
export function eventFiles(event: NewEvent): Map<string, string> {
  const template = templates[event.effect];
  const name = kebabCase(event.name);
  const paths = eventPaths(name);
  const fields = { [event.id]: undefined, ...template.fields, [event.id]: undefined };
  const consumer = `import { consume } from '../../consumer/consume.ts';\n${template.consumer(event)}`;
  return new Map([
    [paths.definition, definitionFile(event, template, Object.keys(fields))],
    [paths.consumer, consumer],
    ...(template.lines
      ? [
          [
            paths.consumer.replace('consumer', 'notification'),
            notificationFile(event, template.lines),
          ] as const,
        ]
      : []),
    [paths.sample, sampleFile(event.name, fields)],
  ]);
}

/** For texts without backslashes. */
const quoted = (text: string) => (text.includes("'") ? JSON.stringify(text) : `'${text}'`);

function definitionFile(
  { name, effect, id, meaning }: NewEvent,
  { processing, impact, needsId }: Template,
  fields: readonly string[],
): string {
  const typeOf = (field: string) => (needsId && field === id ? 'identifierOfEitherType' : 'assumedText');
  return `import * as z from 'zod/mini';
import type { EventDefinition } from '../definition.ts';
import { ${[...new Set(fields.map(typeOf))].sort().join(', ')} } from '../fields.ts';

export const event = {
  meaning: ${quoted(meaning)},
  processing: ${quoted(processing)},
  effect: '${effect}',
  impact: ${quoted(impact(name))},
  // Not shown in the contract: assumptions (decision D10).
  data: z.object({
${fields.map((field) => `    ${field}: ${typeOf(field)},`).join('\n')}
  }),
} as const satisfies EventDefinition;
`;
}

function notificationFile({ id, meaning }: NewEvent, labels: Readonly<Record<string, string>>): string {
  const lines = { shop_id: 'Shop', [id]: label(id), ...labels };
  return `import type * as z from 'zod/mini';
import type { NotificationContent } from '../../effects/notification-message.ts';
import type { event } from './event.ts';

export const content = (data: z.infer<typeof event.data>): NotificationContent => ({
  title: ${quoted(meaning)},
  lines: [
${Object.entries(lines)
  .map(([field, text]) => `    ['${text}', data.${field}],`)
  .join('\n')}
  ],
});
`;
}

/** `shop_id` → `Shop` */
const label = (id: string) =>
  id
    .replace(/_id$/, '')
    .replaceAll('_', ' ')
    .replace(/^./, (first) => first.toUpperCase());

function sampleFile(event: string, fields: Template['fields']): string {
  const samples = readSamples();
  const data = Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, value ?? freeId(field, JSON.stringify(samples))]),
  );
  const newest = Math.max(...samples.map(({ payload }) => Date.parse(String(payload.timestamp))));
  const timestamp = new Date(newest + SAMPLE_INTERVAL).toISOString().replace('.000Z', 'Z');
  return `${JSON.stringify({ event, data, timestamp }, undefined, 2)}\n`;
}

/** An unused id: `girl_id` → `girl-2004`. */
function freeId(field: string, taken: string): string {
  const kind = field.replace(/_id$/, '').replaceAll('_', '-');
  const numbers = [...taken.matchAll(new RegExp(`"${kind}-(\\d+)"`, 'g'))].map(([, digits]) =>
    Number(digits),
  );
  return `${kind}-${Math.max(FIRST_NUMBER - 1, ...numbers) + 1}`;
}
