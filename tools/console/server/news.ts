import type { Notice, Task } from '../api.ts';

/** Tasks that a page which opens is told of: those that are done, too, as it may have seen them begin. */
const TASKS_KEPT = 20;

type NewsItem =
  | { readonly event: 'task'; readonly data: Task }
  | { readonly event: 'notice'; readonly data: Notice };

/** What every page that is open is told, beside deliveries. */
export class News {
  readonly #tasks = new Map<string, Task>();
  readonly #notices = new Map<string, Notice>();
  readonly #listeners = new Set<(item: NewsItem) => void>();

  /** How a task stands now. */
  task(task: Task): void {
    this.#tasks.set(task.id, task);
    for (const id of this.#tasks.keys()) {
      if (this.#tasks.size <= TASKS_KEPT) break;
      this.#tasks.delete(id);
    }
    this.#tell({ event: 'task', data: task });
  }

  /** Replaces the notice about the same. */
  notice(notice: Notice): void {
    this.#notices.set(notice.about, notice);
    this.#tell({ event: 'notice', data: notice });
  }

  /** What a page that opens has to know. */
  current(): NewsItem[] {
    return [
      ...[...this.#notices.values()].map((data) => ({ event: 'notice' as const, data })),
      ...[...this.#tasks.values()].map((data) => ({ event: 'task' as const, data })),
    ];
  }

  /** @returns ends it */
  subscribe(listener: (item: NewsItem) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(item: NewsItem): void {
    for (const listener of this.#listeners) listener(item);
  }
}
