import { createHash, randomUUID } from 'node:crypto';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { type ReplayState, type StateFile, sentOf, TakenOverError, type Unsent } from './replay-state.ts';

/** Characters of a key's hash in base64: 72 bits, enough to keep a million keys apart. */
const HASH_LENGTH = 12;

const hashOf = (key: string) => createHash('sha256').update(key).digest('base64url').slice(0, HASH_LENGTH);

/** Concatenated hashes of keys: the format of `done` in {@link ReplayState}. */
export const hashes = (keys: readonly string[]) => keys.map(hashOf).join('');

const split = (text: string) => text.match(new RegExp(`.{${HASH_LENGTH}}`, 'g')) ?? [];

/**
 * Maximum number of finished objects listed in the state. The others are listed in a separate object, so that the
 * state, which is written after each group of messages, stays below 20 KB. A window of 60 days has about 35,000
 * objects.
 */
export const DONE_IN_STATE = 1_000;

/** Maximum number of rejected messages that are listed. */
const REFUSALS_NAMED = 20;

interface RecordPosition {
  readonly key: string;
  readonly line: number;
}

/** The progress of a replay, in memory and, after a save, in its state. */
export class Checkpoint {
  readonly #file: StateFile;
  readonly #state: ReplayState;
  readonly #run: { readonly by: string; readonly id: string };
  readonly #done: Set<string>;
  /** Hashes of the finished objects that the state lists. */
  #recent: string[];
  #saving: Promise<void> = Promise.resolve();
  #savedSent: number;

  /**
   * Claims a replay for this process.
   * @param state new, or as the last run left it
   * @throws TakenOverError if another process was faster
   */
  static async take(file: StateFile, state: ReplayState, by: string): Promise<Checkpoint> {
    const run = { by, id: randomUUID() };
    await file.write({ ...state, running: { ...run, at: new Date().toISOString() } });
    return new Checkpoint(file, state, run, split((await file.done.read()) ?? ''));
  }

  private constructor(file: StateFile, state: ReplayState, run: { by: string; id: string }, done: string[]) {
    const { running: _, ...left } = structuredClone(state);
    this.#file = file;
    this.#state = left;
    this.#run = run;
    this.#recent = split(state.done);
    this.#done = new Set([...done, ...this.#recent]);
    this.#savedSent = sentOf(state);
    // If the process was killed between two writes, the state still lists objects that are finished.
    for (const key of Object.keys(left.begun)) if (this.isDone(key)) delete left.begun[key];
  }

  get state(): Readonly<ReplayState> {
    return this.#state;
  }

  /** Number of messages sent so far. */
  get sent(): number {
    return sentOf(this.#state);
  }

  /** Messages sent since the last save. A resumed replay sends them again. */
  get unsaved(): number {
    return this.sent - this.#savedSent;
  }

  isDone(key: string): boolean {
    return this.#done.has(hashOf(key));
  }

  isSettled({ key, line }: RecordPosition): boolean {
    const begun = this.#state.begun[key];
    return begun !== undefined && line <= begun.line && !begun.left.includes(line);
  }

  markSent(position: RecordPosition, of: EventName): void {
    this.#settle(position);
    this.#state.sent[of] = (this.#state.sent[of] ?? 0) + 1;
  }

  markUnsent(position: RecordPosition, reason: Unsent): void {
    this.#settle(position);
    this.#state.skipped[reason] += 1;
  }

  markRefused(position: RecordPosition, refusal: ReplayState['refused']['first'][number]): void {
    this.#settle(position);
    const { refused } = this.#state;
    refused.count += 1;
    if (refused.first.length < REFUSALS_NAMED) refused.first.push(refusal);
  }

  /** Marks a record as not yet sent, although later records of its object may be settled. */
  markPending(position: RecordPosition): void {
    this.#settle(position).left.push(position.line);
  }

  /**
   * Marks an object as finished, unless some of its records are not settled.
   * @param damage a description, if the object is damaged
   */
  markObjectRead(key: string, damage: string | undefined): void {
    if ((this.#state.begun[key]?.left.length ?? 0) > 0) return;
    delete this.#state.begun[key];
    this.#done.add(hashOf(key));
    this.#recent.push(hashOf(key));
    if (damage !== undefined) this.#state.damaged.push(damage);
  }

  /**
   * Saves the progress. Saves run one after the other. After a TakenOverError, no save writes.
   * @param end how the run ended; absent while it continues
   * @throws TakenOverError
   */
  save(end?: Pick<ReplayState, 'finishedAt'>): Promise<void> {
    this.#saving = this.#saving.catch(unlessTakenOver).then(() => this.#save(end));
    return this.#saving;
  }

  async #save(end: Pick<ReplayState, 'finishedAt'> | undefined): Promise<void> {
    if (this.#recent.length > DONE_IN_STATE) {
      const listed = this.#recent.length;
      await this.#file.done.write([...this.#done].join(''));
      this.#recent = this.#recent.slice(listed);
    }
    const { sent } = this;
    const running = { ...this.#run, at: new Date().toISOString() };
    await this.#file.write({ ...this.#state, done: this.#recent.join(''), ...(end ?? { running }) });
    this.#savedSent = sent;
  }

  #settle({ key, line }: RecordPosition): { left: number[] } {
    const { line: last, left } = this.#state.begun[key] ?? { line: 0, left: [] };
    const begun = { line: Math.max(last, line), left: left.filter((other) => other !== line) };
    this.#state.begun[key] = begun;
    return begun;
  }
}

/** A failed save does not stop the next one, unless another process owns the replay. */
function unlessTakenOver(error: unknown): void {
  if (error instanceof TakenOverError) throw error;
}
