import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatJson } from './format-json.ts';
import { cutLines, endOfPiece, type Lines, type Pieces, rawLines, shownIndent } from './lines.ts';
import { Visible } from './visible.tsx';

/** Pixels. Must match the stylesheet. */
const ROW_HEIGHT = 18;

/** Horizontal padding of a row in pixels. Must match the stylesheet. */
const PADDING = 24;

/** Number of characters measured to find the width of one. */
const MEASURED = 100;

interface ViewerProps {
  lines: Lines;
  label: string;
  /** Maximum height in rows. Undefined: as high as its container. */
  rows?: number;
}

/**
 * Shows a text of any size. Only visible rows are drawn, and a long line wraps to the next row, so a line of 4 MB costs
 * no more than a short one.
 */
export function Viewer({ lines, label, rows }: ViewerProps) {
  const element = useRef<HTMLElement>(null);
  const ruler = useRef<HTMLSpanElement>(null);
  const [characterWidth, setCharacterWidth] = useState(7.2);
  const { width, height, scrollTop } = useViewport(element);
  useLayoutEffect(() => {
    const measured = ruler.current?.getBoundingClientRect().width ?? 0;
    if (measured > 0) setCharacterWidth(measured / MEASURED);
  }, []);
  const digits = String(lines.starts.length).length;
  const columns = Math.floor((width - PADDING) / characterWidth) - digits - 2;
  const pieces = useMemo(
    () => (width === 0 ? undefined : cutLines(lines, columns)),
    [lines, columns, width === 0],
  );
  const count = pieces?.count ?? 0;
  const { first, end, top, height: area } = windowOf({ scrollTop, height, rowHeight: ROW_HEIGHT, count });
  const indexes = Array.from({ length: end - first }, (_, offset) => first + offset);
  return (
    <section
      ref={element}
      class="viewer"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
      tabIndex={0}
      style={
        rows === undefined ? {} : { height: `${Math.min(rows, Math.max(1, count)) * ROW_HEIGHT + 16}px` }
      }
    >
      <span ref={ruler} class="ruler" aria-hidden="true">
        {'0'.repeat(MEASURED)}
      </span>
      <div class="text-area" style={{ height: `${area}px` }}>
        <div style={{ transform: `translateY(${top}px)` }}>
          {pieces !== undefined &&
            indexes.map((index) => (
              <TextRow
                key={index}
                lines={lines}
                pieces={pieces}
                index={index}
                digits={digits}
                columns={columns}
              />
            ))}
        </div>
      </div>
    </section>
  );
}

/** A text within other content: formatted if it is JSON. */
export function TextBlock({ text, label, rows }: { text: string; label: string; rows: number }) {
  const lines = useMemo(() => {
    const json = formatJson(text);
    return json.ok ? json.lines : rawLines(text);
  }, [text]);
  return <Viewer lines={lines} label={label} rows={rows} />;
}

interface TextRowProps {
  lines: Lines;
  pieces: Pieces;
  index: number;
  digits: number;
  columns: number;
}

function TextRow({ lines, pieces, index, digits, columns }: TextRowProps) {
  const line = pieces.lines[index] ?? 0;
  const isFirst = pieces.lines[index - 1] !== line;
  const start = pieces.starts[index] ?? 0;
  const end = endOfPiece(pieces, lines, index);
  const indent = shownIndent(lines.depths?.[line] ?? 0, columns);
  const keyEnd = lines.keyEnds?.[line] ?? 0;
  const lineStart = lines.starts[line] ?? 0;
  const valueStart = Math.max(lineStart, keyEnd);
  return (
    <div class="text-row">
      <span class="text-number" style={{ width: `${digits + 1}ch` }}>
        {isFirst ? line + 1 : ''}
      </span>
      <span class="text-line" style={{ paddingLeft: `${indent}ch` }}>
        {start < keyEnd && keyEnd > lineStart && (
          <span class="json-key">
            <Strings text={lines.text.slice(start, Math.min(end, keyEnd))} />
          </span>
        )}
        {start < keyEnd && end > keyEnd && keyEnd > lineStart && ' '}
        {end > valueStart && (
          <span
            class={lines.keyEnds === undefined ? undefined : valueClass(lines.text.charCodeAt(valueStart))}
          >
            <Strings text={lines.text.slice(Math.max(start, valueStart), end)} />
          </span>
        )}
      </span>
    </div>
  );
}

/** Hebrew, Arabic and other letters written from right to left. Source: Unicode's Bidi_Class R and AL. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Isolates the content of each string, so that right-to-left text does not move the punctuation around it. */
function Strings({ text }: { text: string }) {
  if (!RIGHT_TO_LEFT.test(text)) return <Visible whole text={text} />;
  const parts = text.split(/(?<!\\)(")/);
  return parts.map((part, index) => (part === '"' ? part : <Visible key={index} whole text={part} />));
}

/** Class for the first character of a JSON value. */
function valueClass(code: number): string | undefined {
  if (code === 0x22) return 'json-string';
  if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return 'json-number';
  return code >= 0x61 && code <= 0x7a ? 'json-literal' : undefined;
}

/** Inner size and scroll position of an element, updated once per frame. */
function useViewport(element: RefObject<HTMLElement | null>) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [scrollTop, setScrollTop] = useState(0);
  const frame = useRef(0);
  useLayoutEffect(() => {
    const scrolled = element.current;
    if (scrolled === null) return;
    const measure = () => setSize({ width: scrolled.clientWidth, height: scrolled.clientHeight });
    const onScroll = () => {
      cancelAnimationFrame(frame.current);
      frame.current = requestAnimationFrame(() => setScrollTop(scrolled.scrollTop));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(scrolled);
    scrolled.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      scrolled.removeEventListener('scroll', onScroll);
      cancelAnimationFrame(frame.current);
    };
  }, [element]);
  return { ...size, scrollTop };
}

/**
 * Maximum height of the scrolled area in pixels. Browsers clamp taller elements, Firefox at 17.9 million pixels, and
 * lose fractions of a pixel before that.
 */
const TALLEST = 8_000_000;

/** Extra rows drawn beyond the edges, so that fast scrolling shows no gaps. */
const OVERSCAN = 12;

interface Viewport {
  readonly scrollTop: number;
  /** Visible pixels of the scrolled area. */
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}

/**
 * Calculates which rows to draw. If all rows would be too tall for a browser, scrolling is accelerated.
 * @returns index of the first row and of the one after the last; top of the first row and height of the area, in pixels
 */
export function windowOf({ scrollTop, height, rowHeight, count }: Viewport) {
  const whole = count * rowHeight;
  const area = Math.min(whole, TALLEST);
  const scrollable = Math.max(1, area - height);
  const scrolled = Math.min(Math.max(0, scrollTop), scrollable);
  const position = whole <= area ? scrolled : (scrolled / scrollable) * (whole - height);
  const first = Math.min(Math.max(0, count - 1), Math.max(0, Math.floor(position / rowHeight) - OVERSCAN));
  const end = Math.min(count, Math.ceil((position + height) / rowHeight) + OVERSCAN);
  return { first, end, top: scrolled + first * rowHeight - position, height: area };
}
