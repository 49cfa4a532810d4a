import * as z from 'zod/mini';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { dataSchema } from '../partner/api/json-schema.ts';

const typed = z.object({ type: z.string() });

const field = z.object({
  type: z.optional(z.string()),
  items: z.optional(typed),
  oneOf: z.optional(z.array(typed)),
  anyOf: z.optional(z.array(typed)),
});

const data = z.object({
  properties: z.optional(z.record(z.string(), field)),
  required: z.optional(z.array(z.string())),
});

/** Every event for whoever sends it: with each field of `data` that is read, and its type. */
export function partnerEventsTable(): string {
  const rows = eventNames.map((event) => {
    const { properties = {}, required = [] } = data.parse(dataSchema(event, 'input'));
    const fields = Object.entries(properties).map(
      ([name, schema]) => `\`${name}${required.includes(name) ? '' : '?'}\` ${typeText(schema)}`,
    );
    return `| \`${event}\` | ${catalogue[event].meaning} | ${fields.join(', ')} |`;
  });
  return ['| `event` | When | `data` |', '|---|---|---|', ...rows].join('\n');
}

function typeText({ type, items, oneOf = [], anyOf = [] }: z.infer<typeof field>): string {
  if (items !== undefined) return `array of ${items.type}`;
  return [type ?? [], [...oneOf, ...anyOf].map((one) => one.type)].flat().join(' or ');
}
