import type * as v from 'valibot';

/**
 * The resources that a consumer may use. `lib/effects/` gives each effect its permissions and environment.
 */
export type EffectName = 'shop-cache' | 'cast' | 'contact-partner' | 'chat' | 'review';

/**
 * An event, in the file `event.ts` of its folder. Its queues, function, permissions and alarms follow from it.
 * @example
 * export const event = {
 *   meaning: 'A shop was closed',
 *   processing: 'Invalidate the shop cache',
 *   effect: 'shop-cache',
 *   impact: 'Readers still see shops as they were before shop.closed.',
 *   data: object({ shop_id: identifier }),
 * } as const satisfies EventDefinition;
 */
export interface EventDefinition {
  /** What happened at the partner, in the contract's words (`docs/contract.md`, Events). */
  readonly meaning: string;
  /** What we do about it, in the contract's words. */
  readonly processing: string;
  readonly effect: EffectName;
  /** The consequence for users while this event is not processed: the first sentence of its alarms. */
  readonly impact: string;
  readonly data: v.GenericSchema<unknown, object>;
}
