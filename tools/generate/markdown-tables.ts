import { catalogue, type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import { dataSchema } from '../api/json-schema.ts';

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

interface FieldJson {
  readonly type?: string;
  readonly items?: FieldJson;
  readonly oneOf?: readonly FieldJson[];
  readonly anyOf?: readonly FieldJson[];
}

const schemaOf = (event: EventName) => {
  const { properties, required = [] } = dataSchema(event);
  return {
    properties: properties as Readonly<Record<string, FieldJson>>,
    required: required as readonly string[],
  };
};

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

function typeText({ type, items, oneOf = [], anyOf = [] }: FieldJson): string {
  if (items !== undefined) return `array of ${items.type}`;
  return [type ?? [], [...oneOf, ...anyOf].map((one) => one.type ?? [])].flat(2).join(' or ');
}
