import type { Notice, StreamEvent } from './api.ts';

/** Maximum number of finished tasks kept. One action of the page may start 100. */
export const MAX_TASKS = 150;

export type NewsItem = Extract<StreamEvent, { event: 'task' | 'notice' | 'queues' | 'faults' }>;

/** What every open page gets besides deliveries. */
export class News {
  /** By subject: a newer item replaces an older one. */
  readonly #newest = new Map<string, NewsItem>();
  readonly #listeners = new Set<(subject: string, item: NewsItem) => void>();

  tell(item: NewsItem): void {
    const subject = subjectOf(item);
    this.#newest.set(subject, item);
    const ended = [...this.#newest].filter(
      ([, { event, data }]) => event === 'task' && data.state !== 'running',
    );
    for (const [id] of ended.slice(0, -MAX_TASKS)) this.#newest.delete(id);
    for (const listener of this.#listeners) listener(subject, item);
  }

  notice(data: Notice): void {
    this.tell({ event: 'notice', data });
  }

  /** Pages that open later do not get the last queues. */
  forgetQueues(): void {
    this.#newest.delete('queues');
  }

  /** The newest item of each subject, for a page that opens. */
  current(): Map<string, NewsItem> {
    return new Map(this.#newest);
  }

  /** @returns a function that unsubscribes */
  subscribe(listener: (subject: string, item: NewsItem) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function subjectOf({ event, data }: NewsItem): string {
  if (event === 'task') return data.id;
  return event === 'notice' ? data.about : event;
}
