import type { DatabaseSync } from 'node:sqlite';

/**
 * Collects the writes of one turn of the event loop into one transaction: what is done in one piece, such as the move
 * of a message to its dead-letter queue, is on disk as a whole or not at all.
 */
export class Transaction {
  readonly #onProblem: (message: string) => void;
  #database: DatabaseSync | undefined;
  #isOpen = false;
  #failure: unknown;

  /** @param onProblem told once, when the disk takes no more */
  constructor(onProblem: (message: string) => void) {
    this.#onProblem = onProblem;
  }

  start(database: DatabaseSync): void {
    // A commit is with the system, not yet with the disk: the process may be killed, not the machine.
    database.exec('PRAGMA synchronous = NORMAL');
    this.#database = database;
  }

  /** Writes, to be committed with the turn, unless somebody does so earlier. @throws as {@link commit} does */
  write<Result>(work: () => Result): Result {
    this.#open();
    try {
      return work();
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** @throws where what was written is not on disk, and ever after: memory is ahead of it */
  commit(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#isOpen) return;
    try {
      this.#database?.exec('COMMIT');
      this.#isOpen = false;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Commits. Nothing is written any more. */
  close(): void {
    this.#commitOrLeave();
    this.#failure ??= new Error('The stack has stopped');
  }

  #open(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isOpen) return;
    this.#database?.exec('BEGIN');
    this.#isOpen = true;
    setImmediate(() => this.#commitOrLeave());
  }

  /** What fails here fails again for whoever waits for an answer. */
  #commitOrLeave(): void {
    try {
      this.commit();
    } catch {}
  }

  #failed(error: unknown): unknown {
    this.#failure = error;
    const { message } = error as Error;
    this.#onProblem(`What is kept cannot be written, so nothing is acknowledged any more: ${message}`);
    return error;
  }
}
