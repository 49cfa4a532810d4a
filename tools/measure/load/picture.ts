import { escapeXml } from '../../../local/aws/xml.ts';
import { duration } from '../../cli/terminal/text.ts';
import { barsOf, gridLines, lineOf, type Point, text } from './drawing.ts';
import type { Percentiles } from './latencies.ts';
import { type LoadReport, percent } from './report.ts';
import { type Box, logarithmic, type Scale, shortNumber, shortTime, ticksOf, upTo } from './scales.ts';

/** Pixels. The width is that of a page of text. */
const WIDTH = 920;
const LEFT = 64;
const RIGHT = 24;
const HEAD = 86;
const PANEL = { latency: 168, rate: 132 };
const PANEL_HEAD = 34;
const PANEL_GAP = 26;
const FOOT = 34;

/** Points up to which each is marked: more would hide the line. */
const MOST_MARKS = 40;

/** Percentiles from the usual to the rare: one hue, the rarer the stronger, and the longest of all apart. */
const LINES = ['p50', 'p90', 'p99', 'max'] as const;

/** What is light by day is dark by night; each line has 3:1 against its ground, each text 4.5:1. */
const STYLE = `
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #16191f; font-size: 12px }
  .ground { fill: #ffffff } .title { font-size: 17px; font-weight: 600 } .heading { font-weight: 600; font-size: 13px }
  .soft { fill: #525a68 } .axis { fill: #667080; font-size: 11px } .bad { fill: #b3202c }
  .grid { stroke: #e3e5ea } .base { stroke: #868d9b } .line { fill: none; stroke-width: 2; stroke-linejoin: round }
  .p50 { stroke: #8f8ce6; --mark: #8f8ce6 } .p90 { stroke: #4f4bd1; --mark: #4f4bd1 } .p99 { stroke: #1f1b70; --mark: #1f1b70 }
  .max { stroke: #868d9b; --mark: #868d9b; stroke-dasharray: 2 3; stroke-width: 1.5 } .mark { fill: var(--mark); stroke: none }
  .wanted { stroke: #525a68; stroke-width: 1.5; stroke-dasharray: 5 3 } .came { stroke: #16191f } .accepted { fill: #8fcfa9 } .failed { fill: #d2453f }
  .broken { stroke: #b3202c; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #eceef2 } .ground { fill: #131417 } .soft { fill: #a5abb8 } .axis { fill: #8d94a2 } .bad { fill: #ff8f8f }
    .grid { stroke: #2a2d33 } .base { stroke: #6b7280 }
    .p50 { stroke: #6d69e0; --mark: #6d69e0 } .p90 { stroke: #a5a3ff; --mark: #a5a3ff } .p99 { stroke: #e4e3ff; --mark: #e4e3ff }
    .max { stroke: #8d94a2; --mark: #8d94a2 } .wanted { stroke: #a5abb8 } .came { stroke: #eceef2 } .accepted { fill: #1f5c3b } .failed { fill: #ff7d78 }
    .broken { stroke: #ff8f8f }
  }`;

/** Draws a run: receipt, effect and rate over its seconds, one below the other. */
export function drawReport(report: LoadReport): string {
  const { slices, effect } = report;
  const seconds = Math.max(1, ...slices.map(({ begin, seconds: length }) => begin + length));
  const across: Scale = {
    at: (second) => LEFT + (second / seconds) * (WIDTH - LEFT - RIGHT),
    ticks: ticksOf(seconds, 10),
  };
  let top = HEAD;
  const panel = (height: number): Box => {
    const box = {
      left: LEFT,
      right: WIDTH - RIGHT,
      top: top + PANEL_HEAD,
      bottom: top + PANEL_HEAD + height,
    };
    top = box.bottom + PANEL_GAP;
    return box;
  };
  const panels = [
    drawLatency(report, 'Receipt', 'from when it was to be sent to its answer', panel(PANEL.latency), across),
    ...('why' in effect
      ? []
      : [drawLatency(report, 'Effect', 'from its receipt to its effect', panel(PANEL.latency), across)]),
    drawRates(report, panel(PANEL.rate), across),
  ];
  const bottom = top - PANEL_GAP;
  const notes = notesOf(report);
  const height = bottom + FOOT + notes.length * 18;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escapeXml(titleOf(report))}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    text(LEFT, 34, titleOf(report), 'title'),
    text(LEFT, 56, summaryOf(report), 'soft'),
    text(LEFT, 74, `${report.begun.slice(0, 16).replace('T', ' ')} UTC, run ${report.run}`, 'axis'),
    ...panels,
    ...across.ticks.map((second) => text(across.at(second), bottom + 17, `${second} s`, 'axis', 'middle')),
    ...notes.map((note, index) => text(LEFT, bottom + FOOT + 6 + index * 18, note, 'bad')),
    '</svg>',
    '',
  ].join('\n');
}

function titleOf({ url, plan }: LoadReport): string {
  const rate = `${plan.ramp ? 'up to ' : ''}${plan.rate.toLocaleString('en')} a second`;
  return `${rate} for ${duration(plan.seconds * 1_000)} on ${new URL(url).host}`;
}

function summaryOf({ deliveries: { wanted, sent, accepted }, endings, effect }: LoadReport): string {
  const others = endings
    .filter(({ came }) => came !== 200)
    .map(({ came, count }) => `${count.toLocaleString('en')} ${came}`);
  const without = 'why' in effect ? 0 : effect.missing + (effect.outcomes.DeadLettered ?? 0);
  return [
    sent < wanted
      ? `${sent.toLocaleString('en')} of ${wanted.toLocaleString('en')} deliveries sent`
      : `${sent.toLocaleString('en')} deliveries`,
    `${accepted.toLocaleString('en')} answered 200`,
    ...others,
    'why' in effect
      ? 'effect not read'
      : effect.unread !== undefined
        ? `${effect.unread.count.toLocaleString('en')} effects not read`
        : without === 0
          ? 'none without effect'
          : `${without.toLocaleString('en')} without effect`,
  ].join(' · ');
}

/** What whoever looks at the picture alone must know. */
function notesOf({ sender, ended }: LoadReport): string[] {
  return [
    ...(sender.doubts.length === 0
      ? []
      : ['The machine that sent was too slow or too busy: the figures are not to be trusted.']),
    ...(ended === undefined ? [] : ['The run ended early.']),
  ];
}

/** The lines of the percentiles. The scale is logarithmic: a stall is a hundred times the usual. */
function drawLatency(
  report: LoadReport,
  heading: 'Receipt' | 'Effect',
  meaning: string,
  box: Box,
  across: Scale,
): string {
  const key = heading === 'Receipt' ? 'receipt' : 'effect';
  const total: Percentiles | undefined =
    key === 'receipt' ? report.receipt : 'why' in report.effect ? undefined : report.effect.latency;
  const measured = report.slices.filter((slice) => slice[key].count > 0);
  const values = measured.flatMap((slice) => LINES.map((line) => slice[key][line]));
  const up = logarithmic(values, box);
  const lines = LINES.map((line) => {
    const points = report.slices.map((slice): Point | undefined =>
      slice[key].count === 0
        ? undefined
        : [across.at(slice.begin + slice.seconds / 2), up.at(slice[key][line])],
    );
    return lineOf(points, line, measured.length <= MOST_MARKS && line !== 'max');
  });
  const legend = LINES.map((line, index) => {
    const x = box.right - (LINES.length - index) * 112 + 8;
    return [
      `<path class="line ${line}" d="M${x} ${box.top - 16}h18"/>`,
      text(x + 24, box.top - 12, `${line}  ${total === undefined ? '' : shortTime(total[line])}`),
    ].join('\n');
  });
  return [
    title(box, heading, meaning),
    ...legend,
    gridLines(up, box, shortTime),
    drawBreak(report, box, across, key === 'receipt'),
    ...lines,
  ].join('\n');
}

/** Bars of what was answered, upon each other, the rate that was wanted, and that of the answers when they came. */
function drawRates(report: LoadReport, box: Box, across: Scale): string {
  const { slices } = report;
  const most = Math.max(1, ...slices.map(({ wanted, came, seconds }) => Math.max(wanted, came) / seconds));
  const up = upTo(most, box);
  const bars = slices.map(({ begin, seconds, accepted, failed }) =>
    barsOf(
      [across.at(begin), across.at(begin + seconds)],
      [
        ['accepted', accepted / seconds],
        ['failed', failed / seconds],
      ],
      up,
    ),
  );
  const wanted = slices
    .map(({ begin, seconds, wanted: of }, index) => {
      const y = up.at(of / seconds).toFixed(1);
      return `${index === 0 ? 'M' : 'L'}${across.at(begin).toFixed(1)} ${y}H${across.at(begin + seconds).toFixed(1)}`;
    })
    .join('');
  const came = slices.map(
    ({ begin, seconds, came: of }): Point => [across.at(begin + seconds / 2), up.at(of / seconds)],
  );
  const failed = slices.reduce((sum, slice) => sum + slice.failed, 0);
  const sent = slices.reduce((sum, slice) => sum + slice.sent, 0);
  const legend = (
    [
      ['wanted', 'wanted', 466],
      ['accepted', 'answered 200', 380],
      ['failed', `not${failed === 0 ? '' : `  ${percent(failed / sent)}`}`, 262],
      ['came', 'answers as they came', 164],
    ] as const
  ).map(([name, label, before]) => {
    const x = box.right - before;
    const swatch =
      name === 'wanted' || name === 'came'
        ? `<path class="line ${name}" d="M${x} ${box.top - 16}h18"/>`
        : `<rect class="${name}" x="${x + 6}" y="${box.top - 21}" width="10" height="10" rx="2"/>`;
    return `${swatch}\n${text(x + 24, box.top - 12, label)}`;
  });
  return [
    title(box, 'Deliveries a second', 'by when they were to be sent'),
    ...legend,
    gridLines(up, box, shortNumber),
    ...bars,
    `<path class="line wanted" d="${wanted}"/>`,
    lineOf(came, 'came', false),
    drawBreak(report, box, across, false),
  ].join('\n');
}

/** What a panel shows, at its left above. */
const title = (box: Box, heading: string, meaning: string) =>
  `<text x="${box.left}" y="${box.top - 12}"><tspan class="heading">${heading}</tspan><tspan class="soft" dx="8">${meaning}</tspan></text>`;

/** Where a ramp breaks. */
function drawBreak({ steps }: LoadReport, box: Box, across: Scale, isSaid: boolean): string {
  const first = steps.find(({ broken, sent }) => broken !== undefined && sent > 0);
  if (first === undefined) return '';
  const x = across.at(first.begin);
  return [
    `<path class="broken" d="M${x.toFixed(1)} ${box.top}V${box.bottom}"/>`,
    ...(isSaid
      ? [text(x + 6, box.top + 14, `breaks at ${first.rate.toLocaleString('en')} a second`, 'bad')]
      : []),
  ].join('\n');
}
