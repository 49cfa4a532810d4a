import { readSamples, type Sample } from '../../events/samples.ts';
import type { EffectName } from '../../lambda/events/catalogue.ts';
import { kebabCase, pascalCase } from '../../lambda/events/event-names.ts';
import { CommandError } from '../cli/terminal/command-error.ts';

/** A further event, as somebody asks for it. */
export interface NewEvent {
  /** Such as `shop.closed`. */
  readonly name: string;
  readonly effect: EffectName;
  /** The field of `data` that says which shop, staff member or user: `shop_id`. */
  readonly id: string;
  /** What happened at the partner: `Shop closed`. */
  readonly meaning: string;
}

/** What an effect makes of an event. */
interface EffectTexts {
  /** What we do about it: the contract's words. */
  readonly processing: string;
  /** What users lose while it is not processed. */
  readonly impact: string;
  /** Whether no event of this effect can do without its id. */
  readonly needsId: boolean;
  /** Fields of `data` that are used where present, with a value for the sample. */
  readonly fields: (ids: SampleIds) => Readonly<Record<string, string | number>>;
  /** The consumer's file. */
  readonly consumer: (event: NewEvent) => string;
  /** Of an effect that tells people: the lines of it, in the schema's file. */
  readonly words?: (event: NewEvent) => string;
}

/** An id that no sample has, by its field: `girl_id` → `girl-2004`. */
type SampleIds = (field: string) => string;

/** A shop that samples have already. */
const SHOP = 'shop-1001';

/** Numbers of ids in samples begin here. */
const FIRST_NUMBER = 1001;

/** Between one sample and the next, in milliseconds. */
const BETWEEN_SAMPLES = 5 * 60_000;

/** Names in a consumer: `shop.closed` → `shopClosed`. */
export const camelCase = (name: string) => pascalCase(name).replace(/^./, (first) => first.toLowerCase());

/** `shop_id` → `Shop` */
const label = (id: string) =>
  id
    .replace(/_id$/, '')
    .replaceAll('_', ' ')
    .replace(/^./, (first) => first.toUpperCase());

export const effectTexts: Readonly<Record<EffectName, (name: string) => EffectTexts>> = {
  'shop-cache': (name) => ({
    processing: 'Invalidate the shop cache',
    impact: `Readers go on seeing a shop as it was before ${name}.`,
    needsId: true,
    fields: () => ({}),
    consumer: ({ id }) => `import { shopInvalidator } from '../../effects/shop-invalidation.ts';
import { consume } from '../../consumer/consume.ts';

const invalidateShop = await shopInvalidator();

/** ${name}: invalidates what is cached of the shop. */
export const handler = consume('${name}', ({ data, eventId, receivedAt, version, replay }) =>
  invalidateShop({ shopId: data.${id}, eventId, at: receivedAt, version, replay }),
);
`,
  }),
  cast: (name) => ({
    processing: 'Synchronise the cast',
    impact: `The cast list stays as it was before ${name}.`,
    needsId: true,
    fields: () => ({ shop_id: SHOP, name: 'Aoi' }),
    consumer: ({ id }) => `import { Cast } from '../../effects/cast.ts';
import { consume } from '../../consumer/consume.ts';

const cast = Cast.fromEnvironment();

/** ${name}: synchronises the cast by bringing the staff member up to date. */
export const handler = consume('${name}', ({ data, sentData, receivedAt, version, replay }) =>
  cast.add(
    { girlId: data.${id}, shopId: data.shop_id, name: data.name, sentData },
    { at: receivedAt, version, replay },
  ),
);
`,
  }),
  'contact-partner': (name) => ({
    processing: 'Update the contact_partner record',
    impact: `Partner contacts stay as they were before ${name}.`,
    needsId: true,
    fields: (ids) => ({
      shop_id: SHOP,
      display_name: 'Sora',
      profile_image_url: `https://images.example.com/${ids('user_id')}.png`,
    }),
    consumer: ({ id }) => `import { ContactPartner } from '../../effects/contact-partner.ts';
import { consume } from '../../consumer/consume.ts';

const contacts = ContactPartner.fromEnvironment();

/** ${name}: updates the contact_partner record. */
export const handler = consume('${name}', ({ data, receivedAt, version, replay }) => {
  const { ${id}: userId, ...fields } = data;
  return contacts.update({ userId, fields, at: receivedAt, version, replay });
});
`,
  }),
  chat: (name) => ({
    processing: 'Send a notification to the chat room',
    impact: `The chat room is not told of ${name}.`,
    needsId: false,
    fields: () => ({ shop_id: SHOP, name: 'Café Aozora' }),
    consumer: () => `import { words } from './schema.ts';
import { notifier } from '../../effects/notifications.ts';
import { consume } from '../../consumer/consume.ts';

const tellChatRoom = notifier('${name}', 'CHAT_TOPIC_ARN');

/** ${name}: tells the chat room. */
export const handler = consume('${name}', ({ eventId, timestamp, data, replay }, context) =>
  tellChatRoom({ eventId, timestamp, data, replay, ...words(data) }, context),
);
`,
    words: ({ id }) => `    ['Shop', data.shop_id],
${id === 'shop_id' ? '' : `    ['${label(id)}', data.${id}],\n`}    ['Name', data.name],`,
  }),
  review: (name) => ({
    processing: 'Send a review notification',
    impact: `Nobody is told of ${name}.`,
    needsId: false,
    fields: (ids) => ({
      shop_id: SHOP,
      review_id: ids('review_id'),
      rating: 5,
      comment: 'Thank you!',
    }),
    consumer: () => `import { words } from './schema.ts';
import { notifier } from '../../effects/notifications.ts';
import { consume } from '../../consumer/consume.ts';

const tellReviewers = notifier('${name}', 'REVIEW_TOPIC_ARN');

/** ${name}: sends a review notification. */
export const handler = consume('${name}', ({ eventId, timestamp, data, replay }, context) =>
  tellReviewers({ eventId, timestamp, data, replay, ...words(data) }, context),
);
`,
    words: ({ id }) => `    ['Shop', data.shop_id],
${id === 'shop_id' ? '' : `    ['${label(id)}', data.${id}],\n`}    ['Rating', data.rating],
    ['Comment', data.comment],
    ['Review', data.review_id],`,
  }),
};

export const CATALOGUE = 'lambda/events/catalogue.ts';

/** The files of an event that are its own. */
export const eventPaths = (name: string) => ({
  schema: `lambda/events/${kebabCase(name)}/schema.ts`,
  consumer: `lambda/events/${kebabCase(name)}/consumer.ts`,
  sample: `events/${kebabCase(name)}.json`,
});

/**
 * The four files of a further event, formatted but for lines that turn out too long: a running stack takes up a save at once,
 * and would take up a second one.
 * @param catalogue the catalogue's text as it is now
 * @throws CommandError where the catalogue has another form than this file knows
 */
export function eventFiles(event: NewEvent, catalogue: string): Map<string, string> {
  const paths = eventPaths(event.name);
  const texts = effectTexts[event.effect](event.name);
  const ids = freeIds(readSamples());
  const fields = { [event.id]: ids(event.id), ...without(texts.fields(ids), event.id) };
  return new Map([
    [CATALOGUE, withEntry(catalogue, event, texts)],
    [paths.schema, schemaFile(event, texts, Object.keys(fields))],
    [paths.consumer, texts.consumer(event)],
    [paths.sample, sampleFile(event.name, fields)],
  ]);
}

/** Of texts without backslashes. */
const quoted = (text: string) => (text.includes("'") ? JSON.stringify(text) : `'${text}'`);

function withEntry(catalogue: string, event: NewEvent, { processing, impact }: EffectTexts): string {
  const schema = camelCase(event.name);
  const imports = "import type * as z from 'zod/mini';\n";
  const end = '} as const satisfies Record<string, EventDefinition>;\n';
  if (!catalogue.includes(imports) || !catalogue.includes(end)) {
    throw new CommandError(`${CATALOGUE} has not the form that an entry could be put into`);
  }
  const entry = `  '${event.name}': {
    meaning: ${quoted(event.meaning)},
    processing: ${quoted(processing)},
    effect: '${event.effect}',
    impact: ${quoted(impact)},
    data: ${schema},
  },
`;
  return catalogue
    .replace(imports, () => `${imports}import { ${schema} } from './${kebabCase(event.name)}/schema.ts';\n`)
    .replace(end, () => entry + end);
}

function schemaFile(event: NewEvent, { needsId, words }: EffectTexts, fields: readonly string[]): string {
  const { name, id, meaning } = event;
  const schema = camelCase(name);
  const needed = needsId ? [id] : [];
  const used = fields.filter((field) => !needed.includes(field));
  const types = [...(needsId ? ['identifierOfEitherType'] : []), ...(used.length > 0 ? ['assumedText'] : [])];
  const assumed = needsId
    ? `\`${id}\`${used.length > 0 ? ', and the others where present' : ''}`
    : 'these fields where present';
  return `import * as z from 'zod/mini';
import { ${types.sort().join(', ')} } from '../fields.ts';
${words ? "import type { Words } from '../words.ts';\n" : ''}
/** \`data\` of ${name}: not shown in the contract. Assumed: ${assumed}. */
export const ${schema} = z.object({
${fields.map((field) => `  ${field}: ${needed.includes(field) ? 'identifierOfEitherType' : 'assumedText'},`).join('\n')}
});
${
  words
    ? `
/** What people are told of it. */
export const words = (data: z.infer<typeof ${schema}>): Words => ({
  title: ${quoted(meaning)},
  lines: [
${words(event)}
  ],
});
`
    : ''
}`;
}

function sampleFile(event: string, data: object): string {
  const newest = Math.max(...readSamples().map(({ payload }) => Date.parse(String(payload.timestamp))));
  const timestamp = new Date(newest + BETWEEN_SAMPLES).toISOString().replace('.000Z', 'Z');
  return `${JSON.stringify({ event, data, timestamp }, undefined, 2)}\n`;
}

/** Counts on from the ids that samples have. */
function freeIds(samples: readonly Sample[]): SampleIds {
  const taken = JSON.stringify(samples);
  return (field) => {
    const kind = field.replace(/_id$/, '').replaceAll('_', '-');
    const numbers = [...taken.matchAll(new RegExp(`"${kind}-(\\d+)"`, 'g'))].map(([, digits]) =>
      Number(digits),
    );
    return `${kind}-${Math.max(FIRST_NUMBER - 1, ...numbers) + 1}`;
  };
}

function without<Value>(fields: Readonly<Record<string, Value>>, name: string): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field !== name));
}
