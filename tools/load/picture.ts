import type { LoadPart } from './measurements.ts';
import type { LoadReport } from './report.ts';

/** Pixels. The width is that of a page of text. */
const [WIDTH, LEFT, RIGHT, TOP, HEIGHT, GAP] = [920, 64, 896, 80, 160, 50];

/** In light and dark mode, each line has a contrast of 3:1, and each text of 4.5:1. */
const STYLE = `
  rect { fill: #fff } text { font: 12px system-ui, sans-serif; fill: #16191f } path { fill: none; stroke-width: 2 }
  .line0 { stroke: #8f8ce6 } .line1 { stroke: #4f4bd1 } .line2 { stroke: #1f1b70 }
  @media (prefers-color-scheme: dark) {
    rect { fill: #131417 } text { fill: #eceef2 }
    .line0 { stroke: #6d69e0 } .line1 { stroke: #a5a3ff } .line2 { stroke: #e4e3ff }
  }`;

/** Draws the receipt, the effect and the rate of each part of a run, one below the other. */
export function drawReport({ parts, effects, plan, url, begun, total, doubt, ended }: LoadReport): string {
  const line = (name: string, of: (part: LoadPart) => number) => ({ name, values: parts.map(of) });
  const latency = (of: 'receipt' | 'effect') =>
    (['p50', 'p99', 'max'] as const).map((name) => line(name, (part) => part[of].toJSON()[name]));
  const rates = (['wanted', 'accepted', 'failed'] as const).map((name) =>
    line(name, (part) => part[name] / part.seconds),
  );
  const unknown = 'why' in effects ? ': unknown' : '';
  const height = TOP + 3 * (HEIGHT + GAP);
  const notes = [doubt && ', sent too late: do not trust it', ended && ', ended early'].join('');
  const sums = `${total.sent} deliveries in ${plan.seconds} s, ${total.accepted} answered 200${notes}`;
  const title = `${new URL(url).host}, ${begun.slice(0, 16)}Z: ${sums}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${title}</title><style>${STYLE}</style><rect width="${WIDTH}" height="${height}"/>`,
    `<text x="${LEFT}" y="30">${title}</text>`,
    drawPanel(0, 'Receipt in ms, from the planned sending to the answer', latency('receipt')),
    drawPanel(1, `Effect in ms, from the receipt${unknown}`, latency('effect')),
    drawPanel(2, 'Deliveries a second', rates),
    `<text x="${RIGHT}" y="${height - 20}" text-anchor="end">${plan.seconds} s</text>`,
    '</svg>\n',
  ].join('\n');
}

function drawPanel(panel: number, heading: string, lines: { name: string; values: number[] }[]): string {
  const largest = Math.max(1, ...lines.flatMap(({ values }) => values));
  const paths = lines.map(({ name, values }, index) => {
    const points = values.map((value, at) => {
      const x = LEFT + ((at + 0.5) / values.length) * (RIGHT - LEFT);
      return `${Math.round(x)} ${Math.round(HEIGHT * (1 - value / largest))}`;
    });
    const left = RIGHT - 300 + 100 * index;
    const legend = `<path class="line${index}" d="M${left} -18h18"/><text x="${left + 24}" y="-14">${name}</text>`;
    // "h0" draws a single point.
    return `<path class="line${index}" d="M${points.join('L')}h0"/>${legend}`;
  });
  const axis = `<text x="0" y="10">${Math.round(largest).toLocaleString('en')}</text><text x="0" y="${HEIGHT}">0</text>`;
  const place = `translate(0 ${TOP + panel * (HEIGHT + GAP)})`;
  return `<g transform="${place}"><text x="${LEFT}" y="-14">${heading}</text>${axis}${paths.join('\n')}</g>`;
}
