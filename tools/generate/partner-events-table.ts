import * as z from 'zod/mini';
import { catalogue, eventNames } from '../../lambda/contract/catalogue.ts';
import { IGNORED } from './api/field-schemas.ts';
import { dataSchema } from './api/json-schema.ts';

const field = z.object({
  type: z.optional(z.string()),
  items: z.optional(z.object({ type: z.string() })),
  oneOf: z.optional(z.array(z.object({ type: z.string() }))),
  anyOf: z.optional(z.array(z.object({ type: z.array(z.string()), title: z.string() }))),
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

/** The types of a field; where any is taken and some are read, those that are read. */
function typeText({ type, items, oneOf = [], anyOf = [] }: z.infer<typeof field>): string {
  if (items !== undefined) return `array of ${items.type}`;
  const read = anyOf.filter(({ title }) => title !== IGNORED);
  return [type ?? [], oneOf.map((one) => one.type), read.map((one) => one.type)].flat(2).join(' or ');
}
