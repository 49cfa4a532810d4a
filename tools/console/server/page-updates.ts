import type { Notice, StreamEvent } from '../api.ts';

export type PageUpdate = Extract<StreamEvent, { event: 'notice' | 'queues' }>;

/** What an update is about: the subject of a notice, or the event's name. */
export const subjectOf = (item: PageUpdate) => (item.event === 'notice' ? item.data.about : item.event);

/** Updates for all open pages, besides deliveries. Only the newest update of each subject counts. */
export class PageUpdates {
  /** The newest update of each subject. */
  readonly #newest = new Map<string, PageUpdate>();
  readonly #listeners = new Set<(item: PageUpdate) => void>();

  publish(item: PageUpdate): void {
    // Good news is for the pages that are open. A page that opens later would show it as if it were new.
    if (item.event === 'notice' && item.data.level === 'info') this.#newest.delete(subjectOf(item));
    else this.#newest.set(subjectOf(item), item);
    for (const listener of this.#listeners) listener(item);
  }

  notice(data: Notice): void {
    this.publish({ event: 'notice', data });
  }

  /** The newest update of each subject, for a page that opens. */
  get current(): readonly PageUpdate[] {
    return [...this.#newest.values()];
  }

  /** @returns a function that unsubscribes */
  subscribe(listener: (item: PageUpdate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
