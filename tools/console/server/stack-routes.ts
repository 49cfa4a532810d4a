import { readSamples } from '../../../events/samples.ts';
import { catalogue, eventNames } from '../../../lambda/contract/catalogue.ts';
import type { EventInfo, StackInfo, TableInfo } from '../api.ts';
import { json, type Route } from './route.ts';

/** Tables that the console shows, by their outputs; `lib/effects.ts` says how their rows are found. */
const TABLES: readonly TableInfo[] = [
  { name: 'ShopCacheTable', key: 'shop_id' },
  { name: 'CastTable', key: 'girl_id' },
  { name: 'ContactPartnerTable', key: 'user_id' },
];

export const stackRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/stack',
    handler: (_call, { source: { stage, since }, readOnly, local }) =>
      json({
        title: stage.title,
        local: local !== undefined,
        readOnly,
        ...(since && { since: since.toISOString() }),
        webhookUrl: stage.webhookUrl,
        ...(local && { secret: local.secret }),
        events: events(),
        tables: TABLES.filter(({ name }) => stage.outputs[name] !== undefined),
      } satisfies StackInfo),
  },
];

function events(): EventInfo[] {
  const samples = new Map(readSamples().map(({ event, payload }) => [event, payload]));
  return eventNames.map((name) => {
    const { meaning, processing } = catalogue[name];
    return { name, meaning, processing, sample: JSON.stringify(samples.get(name) ?? {}) };
  });
}
