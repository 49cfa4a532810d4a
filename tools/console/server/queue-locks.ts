import { Problem } from './problem.ts';

/**
 * Keeps looks at a queue and its redrives apart, and one look from another. Each hides the messages that it holds, so
 * that the other would not see them.
 */
export class QueueLocks {
  /** The last in line for a queue, by its address. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #redriven = new Set<string>();

  /** Looks once those before are done. @throws Problem during a redrive, which may take long */
  async look<Seen>(url: string, work: () => Promise<Seen>): Promise<Seen> {
    if (this.#redriven.has(url)) {
      const detail =
        'it is being redriven, and a look would hide messages from that. Look again when the task is done';
      throw new Problem('redriven', 409, 'Being redriven', detail);
    }
    return await this.#after(url, work);
  }

  /** Redrives once the looks before are done, and refuses looks until the end. */
  async redrive<Done>(url: string, work: () => Promise<Done>): Promise<Done> {
    this.#redriven.add(url);
    try {
      return await this.#after(url, work);
    } finally {
      this.#redriven.delete(url);
    }
  }

  async #after<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
    const result = (this.#last.get(url) ?? Promise.resolve()).then(work);
    this.#last.set(
      url,
      result.catch(() => {}),
    );
    return await result;
  }
}
