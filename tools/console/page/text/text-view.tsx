import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useViewport } from '../shared/use-viewport.ts';
import { windowOf } from '../shared/window.ts';
import type { Lines } from './lines.ts';
import { cutLines, endOfPiece, type Pieces, shownIndent } from './pieces.ts';
import { Visible } from './visible.tsx';

/** Pixels, as in the stylesheet. */
const ROW_HEIGHT = 18;

/** Beside the text: the padding of a row. In pixels, as in the stylesheet. */
const PADDING = 24;

/** Characters that are measured to know how wide one is. */
const MEASURED = 100;

interface TextViewProps {
  lines: Lines;
  label: string;
  /** Rows that it is high at most; it fills what it stands in where there is none. */
  rows?: number;
}

/**
 * A text of any size. Only the rows in view are drawn, and a line that is longer than the view is wide goes on in the
 * next row: a line of 4 MB costs what a short one does.
 */
export function TextView({ lines, label, rows }: TextViewProps) {
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
      class="text-view"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which the keyboard must reach
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
            <Visible whole text={lines.text.slice(start, Math.min(end, keyEnd))} />
          </span>
        )}
        {start < keyEnd && end > keyEnd && keyEnd > lineStart && ' '}
        {end > valueStart && (
          <span
            class={lines.keyEnds === undefined ? undefined : valueClass(lines.text.charCodeAt(valueStart))}
          >
            <Visible whole text={lines.text.slice(Math.max(start, valueStart), end)} />
          </span>
        )}
      </span>
    </div>
  );
}

/** By the first character of a JSON value. */
function valueClass(code: number): string | undefined {
  if (code === 0x22) return 'json-string';
  if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return 'json-number';
  return code >= 0x61 && code <= 0x7a ? 'json-literal' : undefined;
}
