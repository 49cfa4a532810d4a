import { createHash, randomUUID } from 'node:crypto';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { type ReplayState, type StateFile, sentOf, TakenOverError, type Unsent } from './state.ts';

/** Characters of base64 of a key's hash: 72 bits, so that no two of a million keys are the same. */
const HASH_LENGTH = 12;

const hashOf = (key: string) => createHash('sha256').update(key).digest('base64url').slice(0, HASH_LENGTH);

/** Hashes of keys, as `done` of a state has them. */
export const hashes = (keys: readonly string[]) => keys.map(hashOf).join('');

const split = (text: string) => text.match(new RegExp(`.{${HASH_LENGTH}}`, 'g')) ?? [];

/**
 * Finished objects that the state lists itself, at most. All others are in an object of their own, so that the state,
 * which is written after each group of messages, stays below 20 KB. A window of 60 days has some 35,000.
 */
export const DONE_IN_STATE = 1_000;

/** Refused messages that are named. */
const REFUSALS_NAMED = 20;

/** A line of an object. */
interface Place {
  readonly key: string;
  readonly line: number;
}

/** How far a replay is, in memory and, once it is saved, in its state. */
export class Checkpoint {
  readonly #file: StateFile;
  readonly #state: ReplayState;
  readonly #run: { readonly by: string; readonly id: string };
  readonly #done: Set<string>;
  /** Of finished objects, those that the state lists. */
  #recent: string[];
  #saving: Promise<void> = Promise.resolve();
  #savedSent: number;

  /**
   * Takes a replay over for this process.
   * @param state as it was begun, or left
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
    // Finished objects are written before the state. A kill in between leaves them here, too.
    for (const key of Object.keys(left.begun)) if (this.isDone(key)) delete left.begun[key];
  }

  get state(): Readonly<ReplayState> {
    return this.#state;
  }

  /** Messages. */
  get sent(): number {
    return sentOf(this.#state);
  }

  /** Messages that were sent since the last save: a resumed replay sends them again. */
  get unsaved(): number {
    return this.sent - this.#savedSent;
  }

  isDone(key: string): boolean {
    return this.#done.has(hashOf(key));
  }

  isSettled({ key, line }: Place): boolean {
    const begun = this.#state.begun[key];
    return begun !== undefined && line <= begun.line && !begun.left.includes(line);
  }

  noteSent(place: Place, of: EventName): void {
    this.#settle(place);
    this.#state.sent[of] = (this.#state.sent[of] ?? 0) + 1;
  }

  noteUnsent(place: Place, reason: Unsent): void {
    this.#settle(place);
    this.#state.skipped[reason] += 1;
  }

  noteRefused(place: Place, refusal: ReplayState['refused']['first'][number]): void {
    this.#settle(place);
    const { refused } = this.#state;
    refused.count += 1;
    if (refused.first.length < REFUSALS_NAMED) refused.first.push(refusal);
  }

  /** Notes a line that is yet to be sent, while later ones may be settled. */
  noteLeft(place: Place): void {
    this.#settle(place).left.push(place.line);
  }

  /** Notes that an object was read to its end. @param damage what is wrong with it */
  noteEnd(key: string, damage: string | undefined): void {
    if ((this.#state.begun[key]?.left.length ?? 0) > 0) return;
    delete this.#state.begun[key];
    this.#done.add(hashOf(key));
    this.#recent.push(hashOf(key));
    if (damage !== undefined) this.#state.damaged.push(damage);
  }

  /**
   * Writes all that is noted. Saves follow one another. After a TakenOverError, none writes again.
   * @param end how the run ended; absent while it goes on
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

  #settle({ key, line }: Place): { left: number[] } {
    const { line: last, left } = this.#state.begun[key] ?? { line: 0, left: [] };
    const begun = { line: Math.max(last, line), left: left.filter((other) => other !== line) };
    this.#state.begun[key] = begun;
    return begun;
  }
}

/** A failed save does not stop the next one, unless the replay belongs to another process. */
function unlessTakenOver(error: unknown): void {
  if (error instanceof TakenOverError) throw error;
}
