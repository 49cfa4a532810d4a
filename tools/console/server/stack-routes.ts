import { readSamples } from '../../../events/samples.ts';
import { catalogue, eventNames } from '../../../lambda/contract/catalogue.ts';
import type { EventInfo, StackInfo } from '../api.ts';
import { tablesOf } from '../tables.ts';
import { json, type Route } from './route.ts';

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
        tables: tablesOf(stage),
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
