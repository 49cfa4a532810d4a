import type { HeldMessage } from './message.ts';
import type { Fate } from './walk.ts';

/** What became of one message. */
export interface Outcome {
  /** `settled` only once the message is safely elsewhere. */
  readonly fate: Fate;
  readonly redriven: boolean;
  /** Follows a count of messages: `moved to the queue of shop.updated`. */
  readonly what: string;
  /** The others would fare no better: the redrive ends. */
  readonly hopeless?: boolean;
}

/** Redrives one message. @returns undefined for one that this redrive has nothing to do with */
export type RedriveOne = (message: HeldMessage) => Promise<Outcome | undefined>;
