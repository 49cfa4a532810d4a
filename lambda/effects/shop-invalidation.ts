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
    // A skipped event is invalidated, too: its invalidation may have failed after its write, and a newer event may be
    // stored since. A repair writes again after such a failure, so if it did not write, a newer event is stored.
    if (!repairs || outcome === 'Processed') {
      // Under the event's reference alone CloudFront would take a repair for done.
      const reference = repairs ? `${eventId}-${replay?.name}` : eventId;
      await distribution?.invalidate({ shopId: update.shopId, reference });
    }
    return outcome;
  };
}
