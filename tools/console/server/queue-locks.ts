import { ApiProblem } from './api-problem.ts';

/**
 * Runs reads of a queue one after the other, and none during a redrive. Receiving hides messages for some
 * time, so a second reader would miss them.
 */
export class QueueLocks {
  /** The last pending task of each queue, by the queue's URL. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #redriven = new Set<string>();

  /**
   * Reads a queue after all earlier reads.
   * @throws ApiProblem during a redrive, because that may take long
   */
  async read<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#redriven.has(url)) {
      const detail =
        'it is being redriven, and reading would hide messages from that. Try again when the command has ended';
      throw new ApiProblem('redriven', 409, 'Being redriven', detail);
    }
    return await this.#after(url, work);
  }

  /** Runs a redrive after the earlier reads, and rejects reads until it ends. */
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
