import { escapeXml } from '../../../local/aws/xml.ts';
import { duration } from '../../cli/terminal/text.ts';
import type { Percentiles } from './measurements.ts';
import { type LoadReport, percent } from './report.ts';

/** Pixels. The width is that of a page of text. The gap between panels contains the heading of the lower panel. */
const [WIDTH, LEFT, RIGHT, HEAD, HEIGHT, GAP] = [920, 64, 896, 120, 160, 60];

/** From usual to rare: one hue, stronger for rarer values. */
const LINES = ['p50', 'p90', 'p99', 'max'] as const;

/** In light and dark mode, each line has a contrast of 3:1, and each text of 4.5:1. */
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

/** The position of a value in a panel, in pixels from its top, and the values that get a line. */
interface Scale {
  readonly y: (value: number) => number;
  readonly ticks: readonly number[];
}

interface Panel {
  readonly heading: string;
  readonly meaning: string;
  readonly scale: Scale;
  readonly unit: (tick: number) => string;
  /** Lines and areas from back to front: class, text of the legend, path. */
  readonly series: readonly (readonly [name: string, label: string, path: string])[];
}

/** Draws latency, effect and rate of a run over its seconds, in panels from top to bottom. */
export function drawReport(report: LoadReport): string {
  const { slices, steps, effect, plan, sender, ended } = report;
  const seconds = Math.max(1, ...slices.map(({ begin, seconds: length }) => begin + length));
  const x = (second: number) => round(LEFT + (second / seconds) * (RIGHT - LEFT));

  const latency = (key: 'receipt' | 'effect', title: [string, string], total: Percentiles): Panel => {
    const measured = slices.filter((slice) => slice[key].count > 0);
    const scale = logarithmic(measured.flatMap((slice) => LINES.map((name) => slice[key][name])));
    // A slice without values interrupts the line. "h0" draws a single point.
    const path = (name: (typeof LINES)[number]) =>
      slices.map((slice, index) => {
        const point = `${x(slice.begin + slice.seconds / 2)} ${scale.y(slice[key][name])}h0`;
        return slice[key].count === 0 ? '' : `${slices[index - 1]?.[key].count ? 'L' : 'M'}${point}`;
      });
    const [heading, meaning] = title;
    const series = LINES.map((name) => [name, `${name}  ${time(total[name])}`, path(name).join('')] as const);
    return { heading, meaning, scale, unit: time, series };
  };

  const rates = (): Panel => {
    const scale = linear(Math.max(1, ...slices.map((one) => Math.max(one.wanted, one.came) / one.seconds)));
    const bars = slices.map(({ begin, seconds: length, ...counts }) => {
      const y = (amount: number) => scale.y(amount / length);
      const [from, middle, to] = [x(begin), x(begin + length / 2), x(begin + length)];
      const [accepted, all] = [y(counts.accepted), y(counts.accepted + counts.failed)];
      return {
        wanted: `${from} ${y(counts.wanted)}H${to}`,
        accepted: `M${from} ${HEIGHT}V${accepted}H${to}V${HEIGHT}z`,
        failed: `M${from} ${accepted}V${all}H${to}V${accepted}z`,
        came: `${middle} ${y(counts.came)}`,
      };
    });
    const share = sum(slices.map((one) => one.failed)) / Math.max(1, sum(slices.map((one) => one.sent)));
    return {
      heading: 'Deliveries a second',
      meaning: 'by planned time of sending',
      scale,
      unit: count,
      series: [
        ['accepted', 'answered 200', bars.map(({ accepted }) => accepted).join('')],
        ['failed', share === 0 ? 'not' : `not  ${percent(share)}`, bars.map(({ failed }) => failed).join('')],
        ['wanted', 'wanted', `M${bars.map(({ wanted }) => wanted).join('L')}`],
        ['came', 'answers by arrival', `M${bars.map(({ came }) => came).join('L')}`],
      ],
    };
  };

  const panels = [
    latency('receipt', ['Receipt', 'from the planned sending to the answer'], report.receipt),
    ...('why' in effect
      ? []
      : [latency('effect', ['Effect', 'from the receipt to the effect'], effect.latency)]),
    rates(),
  ];
  const broken = steps.find((step) => step.broken !== undefined && step.sent > 0);
  const bottom = HEAD + panels.length * (HEIGHT + GAP) - GAP;
  const notes = [
    ...(sender.doubts.length === 0
      ? []
      : ['The sending machine was too slow or too busy: do not trust the figures.']),
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
      ...draw(panel),
      ...(broken === undefined ? [] : [line('broken', `M${x(broken.begin)} 0V${HEIGHT}`)]),
      '</g>',
    ]),
    ...(broken === undefined
      ? []
      : [text(x(broken.begin) + 6, HEAD + 14, `breaks at ${count(broken.rate)} a second`, 'bad')]),
    ...ticksUpTo(seconds, 10).map((second) => text(x(second), bottom + 17, `${second} s`, 'axis', 'middle')),
    ...notes.map((note, index) => text(LEFT, bottom + 40 + index * 18, note, 'bad')),
    '</svg>',
    '',
  ].join('\n');
}

function draw({ heading, meaning, scale: { y, ticks }, unit, series }: Panel): string[] {
  let legendEnd = RIGHT + 16;
  return [
    `<text x="${LEFT}" y="-12"><tspan class="heading">${heading}</tspan><tspan class="soft" dx="8">${meaning}</tspan></text>`,
    ...ticks.map((tick) => {
      const grid = `<path class="grid" d="M${LEFT} ${y(tick)}H${RIGHT}"/>`;
      return `${grid}${text(LEFT - 8, y(tick) + 4, unit(tick), 'axis', 'end')}`;
    }),
    ...series.map(([name, , path]) => line(name, path)),
    ...series.toReversed().map(([name, label, path]) => {
      // A swatch, the text at about 7 pixels a letter, and a space.
      legendEnd -= 24 + 7 * label.length + 16;
      const swatch = path.endsWith('z') ? `M${legendEnd + 8} -11v-10h10v10z` : `M${legendEnd} -16h18`;
      return `${line(name, swatch)}${text(legendEnd + 24, -12, label)}`;
    }),
  ];
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

/** Whole decades: a stall takes a hundred times the usual latency. */
function logarithmic(values: readonly number[]): Scale {
  const exponents = values.filter((value) => value > 0).map(Math.log10);
  const low = exponents.length === 0 ? 0 : Math.floor(Math.min(...exponents));
  const high = Math.max(low + 1, Math.ceil(Math.max(low, ...exponents)));
  const decades = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  // With few decades there is room for lines in between.
  const between = high - low > 2 ? [] : decades.slice(0, -1).flatMap((decade) => [2 * decade, 5 * decade]);
  const share = (value: number) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low);
  return { y: (value) => round(HEIGHT * (1 - share(value))), ticks: [...decades, ...between] };
}

const linear = (largest: number): Scale => ({
  y: (value) => round(HEIGHT * (1 - value / (largest * 1.05))),
  ticks: ticksUpTo(largest, 4),
});

/** Round values from 0 on. @param amount approximate number of values */
function ticksUpTo(largest: number, amount: number): number[] {
  const decade = 10 ** Math.floor(Math.log10(largest / amount));
  const step = [1, 2, 5, 10].map((factor) => factor * decade).find((one) => one >= largest / amount) ?? 1;
  const whole = Math.max(1, step);
  return Array.from({ length: Math.floor(largest / whole) + 1 }, (_, index) => index * whole);
}

const line = (name: string, path: string) => `<path class="line ${name}" d="${path}"/>`;

const text = (x: number, y: number, content: string, name = '', anchor = 'start') =>
  `<text x="${x}" y="${y}" class="${name}" text-anchor="${anchor}" xml:space="preserve">${escapeXml(content)}</text>`;

/** Text such as `0.4 ms`, `120 ms`, `1.2 s`. */
const time = (ms: number) => (ms < 1_000 ? `${digits(ms)} ms` : `${digits(ms / 1_000)} s`);
const digits = (value: number) => (value >= 100 ? Math.round(value) : Number(value.toPrecision(2)));
const count = (value: number) => value.toLocaleString('en');
const round = (pixels: number) => Math.round(pixels * 10) / 10;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
