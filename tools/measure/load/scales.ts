/** Pixels of the edges of a panel. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Where values stand in a picture. */
export interface Scale {
  /** Pixels. */
  readonly at: (value: number) => number;
  /** Values that are worth a line. */
  readonly ticks: readonly number[];
}

/** From whole decade to whole decade: at least one. */
export function logarithmic(values: readonly number[], { top, bottom }: Box): Scale {
  const positive = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(positive.length === 0 ? 1 : Math.min(...positive)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(positive.length === 0 ? 10 : Math.max(...positive))));
  const decades = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  // Few decades leave room for what is between.
  const between = high - low > 2 ? [] : decades.slice(0, -1).flatMap((decade) => [2 * decade, 5 * decade]);
  return {
    at: (value) => {
      const share = (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low);
      return bottom - share * (bottom - top);
    },
    ticks: [...decades, ...between],
  };
}

/** From 0 to what holds the largest. */
export function upTo(largest: number, { top, bottom }: Box): Scale {
  const ticks = ticksOf(largest * 1.05, 4);
  const most = Math.max(largest * 1.05, ticks.at(-1) ?? 1);
  return { at: (value) => bottom - (value / most) * (bottom - top), ticks };
}

/** Round values from 0 up to a largest one. @param most how many, about */
export function ticksOf(largest: number, most: number): number[] {
  const rough = largest / most;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * decade).find((one) => one >= rough) ?? decade;
  const whole = Math.max(1, step);
  return Array.from({ length: Math.floor(largest / whole) + 1 }, (_, index) => index * whole);
}

/** `0.4 ms`, `120 ms`, `1.2 s`. */
export const shortTime = (milliseconds: number) =>
  milliseconds < 1_000 ? `${digits(milliseconds)} ms` : `${digits(milliseconds / 1_000)} s`;

export const shortNumber = (value: number) => value.toLocaleString('en');

const digits = (value: number) => String(value >= 100 ? Math.round(value) : Number(value.toPrecision(2)));
