import * as z from 'zod/mini';
import { catalogue, type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import type { EffectName } from '../../lambda/events/definition.ts';

/** The output of the stack by which an effect is found. */
export const FOUND_BY: Readonly<Record<EffectName, string>> = {
  'shop-cache': 'ShopCacheTable',
  cast: 'CastTable',
  'contact-partner': 'ContactPartnerTable',
  chat: 'ChatTopicArn',
  review: 'ReviewTopicArn',
};

/** Every event with the fields of `data` that it needs, and what is done about it. */
export function eventsTable(): string {
  const rows = eventNames.map((event) => {
    const { meaning, processing, effect } = catalogue[event];
    const needs = requiredFields(event).map((field) => `\`${field}\``);
    return `| \`${event}\` | ${meaning} | ${needs.join(', ') || '–'} | ${processing} | \`${FOUND_BY[effect]}\` |`;
  });
  return ['| Event | Meaning | Needs | Processing | Output |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** What JSON Schema has no word for counts as any value: only the names are asked for. */
function requiredFields(event: EventName): readonly string[] {
  const { required = [] } = z.toJSONSchema(catalogue[event].data, { io: 'input', unrepresentable: 'any' });
  return required;
}
