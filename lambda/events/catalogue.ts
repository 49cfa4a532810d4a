import type * as v from 'valibot';
import type { EffectName, EventDefinition } from './definition.ts';
import { events } from './index.ts';

/** Every event, by its name. An event is a folder next to this file; `npm run generate` lists them in `index.ts`. */
export const catalogue = events satisfies Record<string, EventDefinition>;

export type EventName = keyof typeof catalogue;

export type EventData<Name extends EventName> = v.InferOutput<(typeof catalogue)[Name]['data']>;

export const eventNames = Object.keys(catalogue) as EventName[];

/** Own keys only, so that `constructor` and `__proto__` are unknown kinds like any other. */
export function isEventName(name: string): name is EventName {
  return Object.hasOwn(catalogue, name);
}

/** Whether an event notifies people, through SNS. */
export function isNotification(event: EventName): boolean {
  const effect: EffectName = catalogue[event].effect;
  return effect === 'chat' || effect === 'review';
}
