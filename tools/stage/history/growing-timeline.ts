import { describeStep, gapOf, gray } from './describe.ts';
import { wordOf } from './step-text.ts';
import type { Step, Timeline } from './timeline.ts';

/** Columns of what is not known yet: `+999 ms`, `dead letter`. A longer one moves its own line. */
const GAP_WIDTH = 7;
const WORD_WIDTH = 11;

/** A timeline line by line, as its steps become known. */
export class GrowingTimeline {
  readonly #width: number;
  readonly #said = new Set<string>();
  #day = '';

  constructor(width: number) {
    this.#width = width;
  }

  /** Whether nothing was said yet. */
  get isNew(): boolean {
    return this.#said.size === 0;
  }

  /** @returns lines for the steps that were not known before, in the columns of a whole trace */
  grow({ steps }: Timeline): string[] {
    return steps.flatMap((step, index) => {
      const key = keyOf(step);
      if (this.#said.has(key)) return [];
      this.#said.add(key);
      const [date = '', clock = ''] = step.at.split('T');
      const day = date === this.#day ? [] : [gray(`${date}, times in UTC`)];
      this.#day = date;
      const gap = gapOf(step, steps[index - 1]).padStart(GAP_WIDTH);
      const wordWidth = Math.max(WORD_WIDTH, wordOf(step).length);
      const front = `${clock.slice(0, 12)}  ${gap}  `;
      return [...day, ...describeStep(step, steps, front, { wordWidth, width: this.#width })];
    });
  }
}

/** The same step has the same, also when its time is known more exactly later. */
function keyOf(step: Step): string {
  const { what, at, ...rest } = step;
  const of = 'origin' in rest ? [rest.messageId, rest.attempt] : [rest.requestId];
  return JSON.stringify([what, ...of, what === 'noted' ? at : undefined]);
}
