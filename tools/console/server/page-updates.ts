import type { Notice, StreamEvent } from '../api.ts';

export type PageUpdate = Extract<StreamEvent, { event: 'notice' | 'queues' | 'faults' }>;

/** Updates for all open pages, besides deliveries. Only the newest update of each subject counts. */
export class PageUpdates {
  /** The newest update of each subject: what a notice is about, or the event's name. */
  readonly #newest = new Map<string, PageUpdate>();
  readonly #listeners = new Set<(subject: string, item: PageUpdate) => void>();

  publish(item: PageUpdate): void {
    const subject = item.event === 'notice' ? item.data.about : item.event;
    this.#newest.set(subject, item);
    for (const listener of this.#listeners) listener(subject, item);
  }

  notice(data: Notice): void {
    this.publish({ event: 'notice', data });
  }

  /** The newest update of each subject, for a page that opens. */
  current(): Map<string, PageUpdate> {
    return new Map(this.#newest);
  }

  /** @returns a function that unsubscribes */
  subscribe(listener: (subject: string, item: PageUpdate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
