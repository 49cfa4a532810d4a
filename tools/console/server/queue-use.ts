import { Problem } from './problem.ts';

/**
 * Keeps looks at a queue and redrives of it apart, and one look from another: each hides the messages that it has in
 * hand, so that the other would take them for gone.
 */
export class QueueUse {
  /** The last in line for a queue, by its address. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #redriven = new Set<string>();

  /** Looks once those before are done. @throws Problem where the queue is being redriven, which may take long */
  async look<Seen>(url: string, work: () => Promise<Seen>): Promise<Seen> {
    if (this.#redriven.has(url)) {
      throw new Problem(
        'redriven',
        409,
        'Being redriven',
        'it is being redriven, and a look would hide messages from that: look again once the task is done',
      );
    }
    return await this.#after(url, work);
  }

  /** Redrives once the looks before are done, and lets nobody look until the end. */
  async redrive<Done>(url: string, work: () => Promise<Done>): Promise<Done> {
    this.#redriven.add(url);
    try {
      return await this.#after(url, work);
    } finally {
      this.#redriven.delete(url);
    }
  }

  async #after<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(url) ?? Promise.resolve();
    const result = before.then(work);
    const settled = result.then(
      () => {},
      () => {},
    );
    this.#last.set(url, settled);
    return await result;
  }
}
