import { escapeXml } from '../../../local/aws/xml.ts';
import { duration } from '../../cli/terminal/text.ts';
import { type LoadReport, percent } from './report.ts';

/** Pixels. The width is that of a page of text; the gap between panels holds the heading of the lower one. */
const [WIDTH, LEFT, RIGHT, HEAD, HEIGHT, GAP] = [920, 64, 896, 120, 160, 60];

/** From the usual to the rare: one hue, the rarer the stronger. */
const LINES = ['p50', 'p90', 'p99', 'max'] as const;

/** By day and by night each line has a contrast of 3:1, and each text of 4.5:1. */
const STYLE = `
  text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #16191f }
  .title { font-size: 17px; font-weight: 600 } .heading { font-size: 13px; font-weight: 600 } .soft { fill: #525a68 }
  .axis { font-size: 11px; fill: #667080 } .bad { fill: #b3202c } .ground { fill: #fff } .grid { stroke: #e3e5ea }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round }
  .p50 { stroke: #8f8ce6 } .p90 { stroke: #4f4bd1 } .p99 { stroke: #1f1b70 } .max { stroke: #868d9b; stroke-dasharray: 1 4 }
  .wanted { stroke: #525a68; stroke-dasharray: 5 4; stroke-width: 1.5 } .came { stroke: #16191f }
  .accepted { fill: #8fcfa9 } .failed { fill: #d2453f } .broken { stroke: #b3202c; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #eceef2 } .soft { fill: #a5abb8 } .axis { fill: #8d94a2 } .bad { fill: #ff8f8f } .ground { fill: #131417 }
    .grid { stroke: #2a2d33 } .p50 { stroke: #6d69e0 } .p90 { stroke: #a5a3ff } .p99 { stroke: #e4e3ff } .max { stroke: #8d94a2 }
    .wanted { stroke: #a5abb8 } .came { stroke: #eceef2 } .accepted { fill: #1f5c3b } .failed { fill: #ff7d78 }
    .broken { stroke: #ff8f8f }
  }`;

/** The place of a value in a panel, in pixels from its top, and the values that get a line. */
interface Scale {
  readonly y: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Draws latency, effect and rate of a run over its seconds, one panel below the other. */
export function drawReport(report: LoadReport): string {
  const { slices, steps, effect, plan, sender, ended } = report;
  const seconds = Math.max(1, ...slices.map(({ begin, seconds: length }) => begin + length));
  const x = (second: number) => round(LEFT + (second / seconds) * (RIGHT - LEFT));
  const broken = steps.find((step) => step.broken !== undefined && step.sent > 0);
  const line = (name: string, d: string) => `<path class="line ${name}" d="${d}"/>`;
  const breakLine = broken === undefined ? '' : line('broken', `M${x(broken.begin)} 0V${HEIGHT}`);
  const legend = (at: number, name: string, label: string) =>
    `${line(name, `M${at} -16h18`)}${text(at + 24, -12, label)}`;
  const legendBox = (at: number, name: string, label: string) =>
    `<rect class="${name}" x="${at + 6}" y="-21" width="10" height="10" rx="2"/>${text(at + 24, -12, label)}`;

  const latency = (
    key: 'receipt' | 'effect',
    heading: string,
    total: Record<(typeof LINES)[number], number>,
  ) => {
    const measured = slices.filter((slice) => slice[key].count > 0);
    const scale = logarithmic(measured.flatMap((slice) => LINES.map((name) => slice[key][name])));
    const lines = LINES.map((name) => {
      // A slice without values interrupts the line, and "h0" shows a point that stands alone.
      const points = slices.map((slice, index) => {
        const isStart = (slices[index - 1]?.[key].count ?? 0) === 0;
        const point = `${x(slice.begin + slice.seconds / 2)} ${scale.y(slice[key][name])}`;
        return slice[key].count === 0 ? '' : isStart ? `M${point}h0` : `L${point}`;
      });
      return line(name, points.join(''));
    });
    const legends = LINES.map((name, index) =>
      legend(456 + 112 * index, name, `${name}  ${time(total[name])}`),
    );
    return [heading, ...legends, grid(scale, time), breakLine, ...lines];
  };

  const rates = () => {
    const scale = linear(Math.max(1, ...slices.map((one) => Math.max(one.wanted, one.came) / one.seconds)));
    const y = (count: number, { seconds: length }: { readonly seconds: number }) => scale.y(count / length);
    const ends = slices.map((one) => [one, x(one.begin), x(one.begin + one.seconds)] as const);
    const accepted = ends.map(
      ([one, from, to]) => `M${from} ${HEIGHT}V${y(one.accepted, one)}H${to}V${HEIGHT}`,
    );
    const failed = ends.map(([one, from, to]) => {
      const top = y(one.accepted + one.failed, one);
      return `M${from} ${y(one.accepted, one)}V${top}H${to}V${y(one.accepted, one)}`;
    });
    const wanted = ends.map(([one, from, to]) => `${from} ${y(one.wanted, one)}H${to}`);
    const came = slices.map((one) => `${x(one.begin + one.seconds / 2)} ${y(one.came, one)}`);
    const share = sum(slices.map((one) => one.failed)) / Math.max(1, sum(slices.map((one) => one.sent)));
    return [
      title('Deliveries a second', 'by when they were to be sent'),
      legend(430, 'wanted', 'wanted'),
      legendBox(510, 'accepted', 'answered 200'),
      legendBox(628, 'failed', share === 0 ? 'not' : `not  ${percent(share)}`),
      legend(732, 'came', 'answers as they came'),
      grid(scale, (tick) => tick.toLocaleString('en')),
      `<path class="accepted" d="${accepted.join('')}"/><path class="failed" d="${failed.join('')}"/>`,
      line('wanted', `M${wanted.join('L')}`),
      line('came', `M${came.join('L')}`),
      breakLine,
    ];
  };

  const breakText =
    broken && text(x(broken.begin) + 6, 14, `breaks at ${count(broken.rate)} a second`, 'bad');
  const panels = [
    [
      ...latency('receipt', title('Receipt', 'from when it was to be sent to its answer'), report.receipt),
      breakText,
    ],
    ...('why' in effect
      ? []
      : [latency('effect', title('Effect', 'from its receipt to its effect'), effect.latency)]),
    rates(),
  ];
  const bottom = HEAD + panels.length * (HEIGHT + GAP) - GAP;
  const notes = [
    ...(sender.doubts.length > 0
      ? ['The machine that sent was too slow or too busy: the figures are not to be trusted.']
      : []),
    ...(ended === undefined ? [] : ['The run ended early.']),
  ];
  const height = bottom + 34 + 18 * notes.length;
  const name = `${plan.ramp ? 'up to ' : ''}${count(plan.rate)} a second for ${duration(plan.seconds * 1_000)} on ${new URL(report.url).host}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escapeXml(name)}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    text(LEFT, 34, name, 'title'),
    text(LEFT, 56, summary(report), 'soft'),
    text(LEFT, 74, `${report.begun.slice(0, 16).replace('T', ' ')} UTC, run ${report.run}`, 'axis'),
    ...panels.flatMap((panel, index) => [
      `<g transform="translate(0 ${HEAD + index * (HEIGHT + GAP)})">`,
      ...panel.filter((part) => part),
      '</g>',
    ]),
    ...ticksUpTo(seconds, 10).map((second) => text(x(second), bottom + 17, `${second} s`, 'axis', 'middle')),
    ...notes.map((note, index) => text(LEFT, bottom + 40 + index * 18, note, 'bad')),
    '</svg>',
    '',
  ].join('\n');
}

function summary({ deliveries: { wanted, sent, accepted }, endings, effect }: LoadReport): string {
  const without = 'why' in effect ? 0 : effect.missing + (effect.outcomes.DeadLettered ?? 0);
  return [
    sent < wanted ? `${count(sent)} of ${count(wanted)} deliveries sent` : `${count(sent)} deliveries`,
    `${count(accepted)} answered 200`,
    ...endings.filter(({ came }) => came !== 200).map((ending) => `${count(ending.count)} ${ending.came}`),
    'why' in effect
      ? 'effect not read'
      : effect.unread !== undefined
        ? `${count(effect.unread.count)} effects not read`
        : `${without === 0 ? 'none' : count(without)} without effect`,
  ].join(' · ');
}

/** Whole decades: a stall is a hundred times the usual. */
function logarithmic(values: readonly number[]): Scale {
  const exponents = values.filter((value) => value > 0).map(Math.log10);
  const low = Math.floor(Math.min(...exponents, exponents.length === 0 ? 0 : Number.POSITIVE_INFINITY));
  const high = Math.max(low + 1, Math.ceil(Math.max(...exponents, low)));
  const decades = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  // Few decades leave room for lines between.
  const between = high - low > 2 ? [] : decades.slice(0, -1).flatMap((decade) => [2 * decade, 5 * decade]);
  const y = (value: number) =>
    round(HEIGHT * (1 - (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low)));
  return { y, ticks: [...decades, ...between] };
}

function linear(largest: number): Scale {
  return { y: (value) => round(HEIGHT * (1 - value / (largest * 1.05))), ticks: ticksUpTo(largest, 4) };
}

/** Round values from 0 on, about so many. */
function ticksUpTo(largest: number, amount: number): number[] {
  const rough = largest / amount;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(
    1,
    ...[1, 2, 5, 10]
      .map((factor) => factor * decade)
      .filter((one) => one >= rough)
      .slice(0, 1),
  );
  return Array.from({ length: Math.floor(largest / step) + 1 }, (_, index) => index * step);
}

const grid = ({ y, ticks }: Scale, label: (tick: number) => string) =>
  ticks
    .map((tick) => {
      const line = `<path class="grid" d="M${LEFT} ${y(tick)}H${RIGHT}"/>`;
      return `${line}${text(LEFT - 8, y(tick) + 4, label(tick), 'axis', 'end')}`;
    })
    .join('\n');

const title = (heading: string, meaning: string) =>
  `<text x="${LEFT}" y="-12"><tspan class="heading">${heading}</tspan><tspan class="soft" dx="8">${meaning}</tspan></text>`;

const text = (x: number, y: number, content: string, name = '', anchor = 'start') =>
  `<text x="${x}" y="${y}" class="${name}" text-anchor="${anchor}" xml:space="preserve">${escapeXml(content)}</text>`;

/** `0.4 ms`, `120 ms`, `1.2 s`. */
const time = (ms: number) => (ms < 1_000 ? `${digits(ms)} ms` : `${digits(ms / 1_000)} s`);
const digits = (value: number) => (value >= 100 ? Math.round(value) : Number(value.toPrecision(2)));
const count = (value: number) => value.toLocaleString('en');
const round = (pixels: number) => Math.round(pixels * 10) / 10;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
