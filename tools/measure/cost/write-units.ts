import { catalogue, type EventName, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import type { EffectName } from '../../../lambda/events/definition.ts';

const KILOBYTE = 1024;

/** Attributes that a row has besides the partner's data, and their names. */
const ROW_OVERHEAD_BYTES = 250;

/** A cached shop, which another service writes (`docs/decisions.md`): assumed. */
const CACHED_SHOP_BYTES = 3 * KILOBYTE;

/** DynamoDB write units that an effect takes in each place where they are counted apart. */
export interface WriteUnits {
  readonly table: number;
  /** In the index of the cast; 0 elsewhere. */
  readonly index: number;
}

/**
 * The write units of one event with an effect. A write is rounded up to 1 KB, is paid for where its condition does not hold,
 * and an update counts the larger of the row before and after it.
 * Source: DynamoDB developer guide, "DynamoDB read and write operations".
 */
export function writeUnits(effect: EffectName, payloadBytes: number): WriteUnits {
  const row = Math.ceil((payloadBytes + ROW_OVERHEAD_BYTES) / KILOBYTE);
  const byEffect: Record<EffectName, WriteUnits> = {
    // An invalidation removes the cached shop: it counts the row with it.
    'shop-cache': { table: Math.ceil((CACHED_SHOP_BYTES + ROW_OVERHEAD_BYTES) / KILOBYTE), index: 0 },
    cast: { table: row, index: row },
    'contact-partner': { table: row, index: 0 },
    // Idempotency: the note that it is in progress, and the note that it is done.
    chat: { table: 2, index: 0 },
    review: { table: 2, index: 0 },
  };
  return byEffect[effect];
}

/** The events that have an effect. */
export function eventsWith(effect: EffectName): EventName[] {
  return eventNames.filter((event) => catalogue[event].effect === effect);
}

/** The table that an event's effect writes to. */
export function tableOf(event: EventName): string {
  return isNotification(event) ? 'idempotency' : catalogue[event].effect;
}
