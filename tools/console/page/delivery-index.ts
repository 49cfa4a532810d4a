import type { Delivery } from '../../stage/history/history.ts';

/** Deliveries by time of receipt, newest first. Optimised for thousands that arrive in order and change. */
export class DeliveryIndex {
  readonly #byId = new Map<string, Delivery>();
  /** Ids, oldest first: pushing a new id is cheap, unshifting is not. */
  #order: string[] = [];
  #isSorted = true;

  get(id: string): Delivery | undefined {
    return this.#byId.get(id);
  }

  put(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) {
      const before = this.#byId.get(delivery.id);
      const last = this.#order.at(-1);
      this.#byId.set(delivery.id, delivery);
      if (before === undefined) {
        const newest = last === undefined ? undefined : this.#byId.get(last);
        if (newest !== undefined && isEarlier(delivery, newest)) this.#isSorted = false;
        this.#order.push(delivery.id);
      } else if (before.receivedAt !== delivery.receivedAt) {
        this.#isSorted = false;
      }
    }
  }

  remove(ids: readonly string[]): void {
    const gone = new Set(ids.filter((id) => this.#byId.delete(id)));
    if (gone.size > 0) this.#order = this.#order.filter((id) => !gone.has(id));
  }

  /** Newest first. */
  all(): readonly Delivery[] {
    if (!this.#isSorted) {
      const all = [...this.#byId.values()].sort((a, b) => (isEarlier(a, b) ? -1 : isEarlier(b, a) ? 1 : 0));
      this.#order = all.map(({ id }) => id);
      this.#isSorted = true;
    }
    return this.#order.toReversed().flatMap((id) => this.#byId.get(id) ?? []);
  }
}

/** Equal times are ordered by id, so that the order is stable. */
function isEarlier(a: Delivery, b: Delivery): boolean {
  return a.receivedAt < b.receivedAt || (a.receivedAt === b.receivedAt && a.id < b.id);
}
