import { escapeXml } from '../../../local/aws/xml.ts';
import type { Box, Scale } from './scales.ts';

export type Point = readonly [x: number, y: number];

/** Pixels between two bars. */
const BAR_GAP = 1;

export function text(
  x: number,
  y: number,
  content: string,
  name = '',
  anchor: 'start' | 'middle' | 'end' = 'start',
): string {
  const style = [
    ...(name === '' ? [] : [` class="${name}"`]),
    ...(anchor === 'start' ? [] : [` text-anchor="${anchor}"`]),
  ].join('');
  return `<text x="${round(x)}" y="${round(y)}"${style} xml:space="preserve">${escapeXml(content)}</text>`;
}

/** A line at each tick, and what it stands for at the left. */
export function gridLines(
  { at, ticks }: Scale,
  { left, right, bottom }: Box,
  label: (tick: number) => string,
): string {
  return ticks
    .map((tick) => {
      const y = round(at(tick));
      const name = y >= bottom ? 'base' : 'grid';
      return `<path class="${name}" d="M${left} ${y}H${right}"/>\n${text(left - 8, y + 4, label(tick), 'axis', 'end')}`;
    })
    .join('\n');
}

/** A line through points, interrupted where there is none. @param marked whether each point is to be seen */
export function lineOf(points: readonly (Point | undefined)[], name: string, marked: boolean): string {
  let path = '';
  let isOpen = false;
  for (const point of points) {
    if (point !== undefined) path += `${isOpen ? 'L' : 'M'}${round(point[0])} ${round(point[1])}`;
    isOpen = point !== undefined;
  }
  const marks = marked ? points.filter((point) => point !== undefined) : [];
  return [
    `<path class="line ${name}" d="${path}"/>`,
    ...marks.map(([x, y]) => `<circle class="${name} mark" cx="${round(x)}" cy="${round(y)}" r="2.5"/>`),
  ].join('\n');
}

/** Parts of one bar, from below. */
export function barsOf(
  [left, right]: Point,
  parts: readonly (readonly [name: string, value: number])[],
  { at }: Scale,
): string {
  let below = 0;
  return parts
    .filter(([, value]) => value > 0)
    .map(([name, value]) => {
      const bottom = at(below);
      below += value;
      const top = at(below);
      const width = Math.max(1, right - left - BAR_GAP);
      return `<rect class="${name}" x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(bottom - top)}"/>`;
    })
    .join('\n');
}

const round = (pixels: number) => Math.round(pixels * 10) / 10;
