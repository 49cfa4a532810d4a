import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { dataSchema, type JsonSchema } from '../api/json-schema.ts';

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/**
 * A table for `docs/partner.md`: every event with each field of `data` that is read. Fields of one type are listed
 * together.
 */
export function partnerEventsTable(): string {
  const rows = eventNames.map((event) => {
    const { properties, required = [] } = dataSchema(event);
    const byType = Map.groupBy(Object.entries(properties), ([, schema]) => typeText(schema));
    const fields = [...byType].map(([type, named]) => {
      const names = named.map(([name]) => `\`${name}${required.includes(name) ? '' : '?'}\``);
      return `${names.join(', ')}: ${type}`;
    });
    return [`\`${event}\``, catalogue[event].meaning, fields.join('; ')];
  });
  return markdownTable(['`event`', 'When', '`data`'], rows);
}

function typeText(schema: JsonSchema): string {
  const { type: ofItems } = (schema.items ?? {}) as JsonSchema;
  if (ofItems !== undefined) return `array of ${ofItems}`;
  const alternatives = (schema.oneOf ?? schema.anyOf ?? [schema]) as readonly JsonSchema[];
  return alternatives.map(({ type }) => type).join(' or ');
}
