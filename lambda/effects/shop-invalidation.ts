import { isRepair } from '../queue/replay.ts';
import type { EffectOutcome } from './outcome.ts';
import { ShopCache, type ShopUpdate } from './shop-cache.ts';

export interface ShopChange extends ShopUpdate {
  /** The event that changes the shop. */
  readonly eventId: string;
}

/**
 * What makes everything that is cached of a shop be read anew: it invalidates the shop cache, then what
 * CloudFront has of the shop.
 * @throws Error where the environment names half a distribution
 */
export async function shopInvalidator(): Promise<(change: ShopChange) => Promise<EffectOutcome>> {
  const shopCache = ShopCache.fromEnvironment();
  const { DISTRIBUTION_ID, INVALIDATION_PATHS } = process.env;
  // Only where the stack names one, or is half configured, which is said at start-up.
  const distribution =
    DISTRIBUTION_ID || INVALIDATION_PATHS
      ? (await import('./distribution.ts')).Distribution.fromEnvironment()
      : undefined;

  return async ({ eventId, ...update }) => {
    const { replay } = update;
    const repairs = isRepair(replay);
    const outcome = await shopCache.invalidate(update);
    // Also of a stale event: it may be one whose invalidation failed after its write. A repair that failed there
    // writes again, so where it did not write another event has taken its place.
    if (!repairs || outcome === 'Processed') {
      // Under the event's reference alone CloudFront would take a repair for done.
      const reference = repairs ? `${eventId}-${replay?.name}` : eventId;
      await distribution?.invalidate({ shopId: update.shopId, reference });
    }
    return outcome;
  };
}
