import * as z from 'zod/mini';
import { catalogue, type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import type { EffectName } from '../../lambda/events/definition.ts';
import { dataSchema } from '../api/json-schema.ts';
import { markdownTable } from './markdown-table.ts';

/** The stack output that belongs to each effect. */
const EFFECT_OUTPUTS: Readonly<Record<EffectName, string>> = {
  'shop-cache': 'ShopCacheTable',
  cast: 'CastTable',
  'contact-partner': 'ContactPartnerTable',
  chat: 'ChatTopicArn',
  review: 'ReviewTopicArn',
};

const typed = z.object({ type: z.string() });

const field = z.object({
  type: z.optional(z.string()),
  items: z.optional(typed),
  oneOf: z.optional(z.array(typed)),
  anyOf: z.optional(z.array(typed)),
});

const dataOf = z.object({
  properties: z._default(z.record(z.string(), field), {}),
  required: z._default(z.array(z.string()), []),
});

const schemaOf = (event: EventName) => dataOf.parse(dataSchema(event, 'input'));

/**
 * A table for `docs/how-it-works.md`: every event with its processing, its required fields of `data`, and its output.
 */
export function eventsTable(): string {
  const rows = eventNames.map((event) => {
    const { processing, effect } = catalogue[event];
    const needs = schemaOf(event).required.map((name) => `\`${name}\``);
    return [`\`${event}\``, processing, needs.join(', ') || '–', `\`${EFFECT_OUTPUTS[effect]}\``];
  });
  return markdownTable(['Event', 'Processing', 'Needs', 'Output'], rows);
}

/**
 * A table for `docs/partner.md`: every event with each field of `data` that is read. Fields of one type are listed
 * together.
 */
export function partnerEventsTable(): string {
  const rows = eventNames.map((event) => {
    const { properties, required } = schemaOf(event);
    const byType = Map.groupBy(Object.entries(properties), ([, schema]) => typeText(schema));
    const fields = [...byType].map(([type, named]) => {
      const names = named.map(([name]) => `\`${name}${required.includes(name) ? '' : '?'}\``);
      return `${names.join(', ')}: ${type}`;
    });
    return [`\`${event}\``, catalogue[event].meaning, fields.join('; ')];
  });
  return markdownTable(['`event`', 'When', '`data`'], rows);
}

function typeText({ type, items, oneOf = [], anyOf = [] }: z.infer<typeof field>): string {
  if (items !== undefined) return `array of ${items.type}`;
  return [type ?? [], [...oneOf, ...anyOf].map((one) => one.type)].flat().join(' or ');
}
