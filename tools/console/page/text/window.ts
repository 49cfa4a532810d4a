/**
 * Height in pixels that the scrolled area has at most. Browsers clamp taller elements, Firefox at 17.9 million pixels,
 * and lose fractions of a pixel before that.
 */
const TALLEST = 8_000_000;

/** Rows beyond the edges that are drawn as well, so that a quick scroll meets no blank. */
const OVERSCAN = 12;

export interface Window {
  /** Index of the first row that is drawn, and of the one after the last. */
  readonly first: number;
  readonly end: number;
  /** Where the first of them stands in the scrolled area, in pixels. */
  readonly top: number;
  /** Of the scrolled area, in pixels. */
  readonly height: number;
}

interface Viewport {
  readonly scrollTop: number;
  /** Of what is seen of the scrolled area, in pixels. */
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}

/** Which rows of many are drawn. Where all of them would be too tall for a browser, scrolling goes faster instead. */
export function windowOf({ scrollTop, height, rowHeight, count }: Viewport): Window {
  const whole = count * rowHeight;
  const area = Math.min(whole, TALLEST);
  const scrollable = Math.max(1, area - height);
  const scrolled = Math.min(Math.max(0, scrollTop), scrollable);
  const position = whole <= area ? scrolled : (scrolled / scrollable) * (whole - height);
  const first = Math.min(Math.max(0, count - 1), Math.max(0, Math.floor(position / rowHeight) - OVERSCAN));
  const end = Math.min(count, Math.ceil((position + height) / rowHeight) + OVERSCAN);
  return { first, end, top: scrolled + first * rowHeight - position, height: area };
}

/** Where to scroll such that a row is seen; `scrollTop` as it is where it is already. */
export function scrollToRow(index: number, { scrollTop, height, rowHeight, count }: Viewport): number {
  const whole = count * rowHeight;
  const area = Math.min(whole, TALLEST);
  const faster = whole <= area ? 1 : (whole - height) / Math.max(1, area - height);
  const position = scrollTop * faster;
  const top = index * rowHeight;
  if (top < position) return top / faster;
  if (top + rowHeight > position + height) return (top + rowHeight - height) / faster;
  return scrollTop;
}
