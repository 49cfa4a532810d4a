import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { DoneObjects } from './done-objects.ts';
import type { Refusal } from './sender.ts';
import type { ReplayState } from './state.ts';
import type { Skip } from './tally.ts';

/** Messages that SQS refuses for good, and that are named. */
const REFUSALS_NAMED = 20;

/** Why a record is not sent. */
export type Unsent = Skip | 'payloadGone';

/** What became of a part of an object, up to one of its lines. */
export interface Part {
  readonly key: string;
  readonly event: EventName;
  readonly line: number;
  readonly sent: number;
  readonly skipped: readonly Unsent[];
  readonly refused: readonly Refusal[];
}

/** How far a replay has come. */
export class Ledger {
  readonly done: DoneObjects;
  readonly #begun: ReplayState;
  readonly #sent: Record<string, number>;
  readonly #skipped: Record<Unsent, number>;
  readonly #refused: ReplayState['refused'];
  readonly #damaged: string[];
  #position: ReplayState['position'];

  /** @param state as it was begun, or left */
  constructor(state: ReplayState) {
    this.#begun = state;
    this.done = new DoneObjects(state.done);
    this.#sent = { ...state.sent };
    this.#skipped = { ...state.skipped };
    this.#refused = { count: state.refused.count, first: [...state.refused.first] };
    this.#damaged = [...state.damaged];
    this.#position = state.position;
  }

  /** Messages. */
  get sent(): number {
    return sentOf({ sent: this.#sent });
  }

  /** The line of an object behind which to go on. */
  lineOf(key: string): number {
    return this.#position?.key === key ? this.#position.line : 0;
  }

  /** Notes a part before which nothing of its object is left. */
  note({ key, event, line, sent, skipped, refused }: Part): void {
    this.#position = { key, line };
    this.#sent[event] = (this.#sent[event] ?? 0) + sent;
    for (const reason of skipped) this.#skipped[reason] += 1;
    this.#refused.count += refused.length;
    for (const refusal of refused) {
      if (this.#refused.first.length < REFUSALS_NAMED) this.#refused.first.push({ event, ...refusal });
    }
  }

  /** Notes an object of which nothing is left. @param damage what of it cannot be read */
  noteObject(key: string, damage: string | undefined): void {
    this.done.add(key);
    this.#position = undefined;
    if (damage !== undefined) this.#damaged.push(damage);
  }

  /** The state at this moment, as somebody runs it, or has ended. */
  state(now: Pick<ReplayState, 'running' | 'finishedAt'>): ReplayState {
    const { position: _, running: __, ...begun } = this.#begun;
    return {
      ...begun,
      ...(this.#position !== undefined && { position: this.#position }),
      done: this.done.text(),
      sent: this.#sent,
      skipped: this.#skipped,
      refused: this.#refused,
      damaged: this.#damaged,
      ...now,
    };
  }
}

/** Messages that were sent. */
export const sentOf = ({ sent }: Pick<ReplayState, 'sent'>) =>
  Object.values(sent).reduce((sum, count) => sum + count, 0);
