import type { Trace } from '../stage/history/timeline.ts';
import type { Stage } from '../stage/stage.ts';
import type {
  Delivery,
  FunctionLine,
  PayloadSearch,
  RecordedAnswer,
  RecordedEffect,
  RecordedRequest,
} from './api.ts';
import type { Deliveries } from './deliveries.ts';

/**
 * Where the console gets what it shows of deliveries: from within the local stack, or of a stage from its logs, archive
 * and tables. Everything else (queues, dead letters, tables) is asked of AWS' APIs in either case.
 */
export interface Source {
  readonly stack: Stage;
  /** Deliveries are known from then on; absent where they are from the stack's start. */
  readonly since?: Date;
  /** What is known of deliveries; it grows by itself from the start. */
  readonly deliveries: Deliveries;
  /** @returns undefined where nothing is known of it */
  request(delivery: Delivery): Promise<RecordedRequest | undefined>;
  answer(delivery: Delivery): Promise<RecordedAnswer | undefined>;
  /** The bytes that the partner sent; undefined where they are not kept. */
  body(delivery: Delivery): Promise<Uint8Array | undefined>;
  effects(delivery: Delivery, trace: Trace | undefined): Promise<readonly RecordedEffect[]>;
  /** Lines of functions about it; none of a stage, whose console has them. */
  logs(delivery: Delivery): readonly FunctionLine[];
  /**
   * Whether the payload of a delivery has a text, whatever the case, as far as is known at once.
   */
  contains(id: string, text: string): boolean;
  /**
   * Looks through what is not known at once, and adds what it finds to the deliveries; {@link contains} knows it then.
   * @returns undefined where there is nothing to look through
   */
  search(text: string, window: SearchWindow): Promise<PayloadSearch | undefined>;
  /** Ends what it has begun. */
  close(): Promise<void>;
}

export interface SearchWindow {
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly signal: AbortSignal;
}
