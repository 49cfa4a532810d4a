import type { Notice, StreamEvent } from './api.ts';

export type PageUpdate = Extract<StreamEvent, { event: 'task' | 'notice' | 'queues' | 'faults' }>;

/** Updates for all open pages, besides deliveries. Only the newest update of each subject counts. */
export class PageUpdates {
  /** The newest update of each subject: a task's id, what a notice is about, or the event's name. */
  readonly #newest = new Map<string, PageUpdate>();
  readonly #listeners = new Set<(subject: string, item: PageUpdate) => void>();

  publish(item: PageUpdate): void {
    const subject = subjectOf(item);
    this.#newest.set(subject, item);
    const ended = [...this.#newest].filter(
      ([, { event, data }]) => event === 'task' && data.state !== 'running',
    );
    for (const [id] of ended.slice(0, -MAX_TASKS)) this.#newest.delete(id);
    for (const listener of this.#listeners) listener(subject, item);
  }

  notice(data: Notice): void {
    this.publish({ event: 'notice', data });
  }

  /** Drops the last state of the queues, which is outdated, so that pages that open later do not get it. */
  forgetQueues(): void {
    this.#newest.delete('queues');
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

/** Maximum number of finished tasks to store. One action of the page may start 100. */
export const MAX_TASKS = 150;

function subjectOf({ event, data }: PageUpdate): string {
  if (event === 'task') return data.id;
  return event === 'notice' ? data.about : event;
}
