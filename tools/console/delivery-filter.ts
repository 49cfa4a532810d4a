import type { Delivery, DeliveryFilter, DeliveryState } from './api.ts';

/** Whether the payload of a delivery has a text, whatever the case. */
export type Contains = (id: string, text: string) => boolean;

/** A {@link DeliveryFilter} that was read. */
export interface Filter {
  readonly search?: string | undefined;
  readonly event?: string | undefined;
  readonly states?: ReadonlySet<DeliveryState> | undefined;
  readonly shop?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

const STATES: Readonly<Record<DeliveryState, true>> = {
  received: true,
  refused: true,
  rejected: true,
  unusable: true,
  failed: true,
  parked: true,
  queued: true,
  retrying: true,
  processed: true,
  stale: true,
  duplicate: true,
  dead: true,
};

export const isState = (text: string): text is DeliveryState => Object.hasOwn(STATES, text);

export const states = Object.keys(STATES);

/** Names of a filter's parts in a query. */
export const FILTER_NAMES: readonly (keyof DeliveryFilter)[] = [
  'search',
  'event',
  'state',
  'shop',
  'since',
  'until',
];

export function admits(filter: Filter, row: Delivery, contains: Contains): boolean {
  const { search, event, states, shop, since, until } = filter;
  if (event !== undefined && row.event !== event) return false;
  if (states !== undefined && !states.has(row.state)) return false;
  if (shop !== undefined && row.shopId !== shop) return false;
  if (since !== undefined && row.receivedAt < since.toISOString()) return false;
  if (until !== undefined && row.receivedAt >= until.toISOString()) return false;
  if (search === undefined) return true;
  return (
    row.id.startsWith(search) || row.eventId?.startsWith(search.toLowerCase()) || contains(row.id, search)
  );
}
