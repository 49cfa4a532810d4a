import { buildTimeline } from './build-timeline.ts';
import { GrowingTimeline } from './growing-timeline.ts';
import type { LogLine } from './log-line.ts';
import type { Timeline } from './timeline.ts';

/** States in which nothing more happens to an event by itself. */
const ENDS = ['done', 'dead letter', 'parked', 'quarantined', 'not accepted'];

/** One delivery that is on its way. Another one of the same bytes is not its business. */
export class AwaitedDelivery {
  readonly eventId: string;
  /** API Gateway's, which the lines about it bear. */
  readonly requestId: string;
  readonly #lines: LogLine[] = [];
  readonly #growing: GrowingTimeline;

  /** @param width of the terminal */
  constructor(ids: { readonly eventId: string; readonly requestId: string }, width: number) {
    this.eventId = ids.eventId;
    this.requestId = ids.requestId;
    this.#growing = new GrowingTimeline(width);
  }

  add(line: LogLine): void {
    this.#lines.push(line);
  }

  get lineCount(): number {
    return this.#lines.length;
  }

  get timeline(): Timeline {
    return buildTimeline(this.eventId, this.#lines, [], Date.now());
  }

  /** Whether nothing more happens to it by itself. The receiver's line may come after the consumer's. */
  get hasSettled(): boolean {
    const { steps, now } = this.timeline;
    return steps.some(({ what }) => what === 'answered') && ENDS.includes(now[0].state);
  }

  get hadEffect(): boolean {
    return this.timeline.now[0].state === 'done';
  }

  /** Whether nothing was said of it yet. */
  get isNew(): boolean {
    return this.#growing.isNew;
  }

  /** @returns lines for the steps that were not known before */
  grow(): string[] {
    return this.#growing.grow(this.timeline);
  }
}
