import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { prices } from '../../../lib/prices.ts';
import { shownId } from '../../terminal/screen.ts';
import { duration, printable } from '../../terminal/text.ts';
import type { Stage } from '../stage.ts';
import { placeText } from './place-text.ts';
import { factsOf, wordOf } from './step-text.ts';
import type { ArchiveSearched, Sources, Step, Timeline, Trace } from './timeline.ts';

type Colour = Parameters<typeof styleText>[0];

/** Width below which facts stand below what happened, and not beside it. */
const NARROW = 90;

/** Characters of a step's facts in a line of a terminal at most: a longer one is hard to read. */
const WIDEST_FACTS = 100;

/** Rejected requests that are shown of those with the same bytes. */
const REJECTIONS_SHOWN = 5;

const GIGABYTE = 2 ** 30;

/** A trace for people: where the event is, and what led there, from top to bottom. @param width as of a terminal */
export function describeTrace(
  { id, timeline, sources }: Trace,
  stack: Pick<Stage, 'title' | 'local' | 'command'>,
  width: number,
): string[] {
  const { shopId, timestamp } = timeline;
  const facts = [
    shopId === undefined ? undefined : `shop ${printable(shopId)}`,
    timestamp === undefined ? undefined : `the partner’s timestamp ${timestamp.replace(/\.?0+Z$/, 'Z')}`,
  ].filter((fact) => fact !== undefined);
  return [
    titleOf(timeline, stack, width),
    ...(facts.length > 0 ? wrap(facts.join(', '), width).map(gray) : []),
    ...describeSteps(timeline, id, width),
    '',
    ...describePlaces(timeline, stack, width),
    '',
    ...describeSources(sources, stack.local).flatMap((line) => wrap(line, width).map(gray)),
  ];
}

/** Which event it is, and where. */
export function titleOf(
  { event, eventId }: Pick<Timeline, 'event' | 'eventId'>,
  { title }: Pick<Stage, 'title'>,
  width: number,
): string {
  return `${styleText('bold', event ?? 'Event')} ${styleText('cyan', shownId(eventId, width))} in ${title}`;
}

/** Where the event is now. */
export function describePlaces({ now }: Timeline, stack: Pick<Stage, 'command'>, width: number): string[] {
  return now.flatMap((place) => {
    const { text, colour } = placeText(place, stack);
    return wrap(text, width).map((line, index) => (index === 0 ? styleText(colour, line) : line));
  });
}

/** Each day under its date; in front of each step its time, and how long after the one before it was. */
function describeSteps({ steps: all }: Timeline, asked: string, width: number): string[] {
  const { steps, left } = withoutRepetitions(all, asked);
  const rows = steps.map((step, index) => ({ step, gap: gapOf(step, steps[index - 1]) }));
  const gapWidth = Math.max(0, ...rows.map(({ gap }) => gap.length));
  const wordWidth = Math.max(...steps.map((step) => wordOf(step).length));
  const lines: string[] = [];
  let day = '';
  for (const { step, gap } of rows) {
    const [date = '', clock = ''] = step.at.split('T');
    if (date !== day) lines.push('', gray(day === '' ? `${date}, times in UTC` : date));
    else if (beginsAnew(step)) lines.push('');
    day = date;
    const front = `${clock.slice(0, 12)}  ${gap.padStart(gapWidth)}  `;
    lines.push(...describeStep(step, all, front, { wordWidth, width }));
  }
  if (left > 0) lines.push('', gray(`… and ${left} more requests with these bytes, all answered 401`));
  return lines;
}

/** Anybody can send the same bytes again and again. @param asked the request that is always shown */
function withoutRepetitions(steps: readonly Step[], asked: string) {
  const rejected = steps.flatMap((step) =>
    step.what === 'answered' && step.status === 401 && step.requestId !== asked ? [step.requestId] : [],
  );
  const left = new Set(rejected.slice(REJECTIONS_SHOWN));
  return {
    steps: steps.filter((step) => !('requestId' in step && left.has(step.requestId ?? ''))),
    left: left.size,
  };
}

/** Whether a delivery, a redrive or a replay begins with a step. */
function beginsAnew(step: Step): boolean {
  if (step.what === 'received') return true;
  if (!('origin' in step) || step.what === 'archived') return false;
  return step.attempt === 1 && step.origin.kind !== 'delivery';
}

export function describeStep(
  step: Step,
  steps: readonly Step[],
  front: string,
  { wordWidth, width }: { wordWidth: number; width: number },
): string[] {
  const colour = colourOf(step);
  const word = wordOf(step);
  const room = width - front.length - '● '.length;
  const text = printable(factsOf(step, steps));
  const isNarrow = width < NARROW;
  const indent = isNarrow ? 2 : wordWidth + 2;
  // In a file or a pipe nothing wraps.
  const facts = wrap(text, Number.isFinite(width) ? Math.min(WIDEST_FACTS, room - indent) : width);
  const head = `${gray(front)}${styleText(colour, '●')} `;
  const margin = `${' '.repeat(front.length)}${gray('│')} ${' '.repeat(indent)}`;
  const [first = '', ...others] = facts;
  const isBeside = !isNarrow || (others.length === 0 && room >= wordWidth + 2 + stringWidth(first));
  if (!isBeside) return [`${head}${styleText(colour, word)}`, ...facts.map((line) => `${margin}${line}`)];
  const beside = `${styleText(colour, word)}${' '.repeat(wordWidth - word.length + 2)}${first}`;
  return [`${head}${beside}`.trimEnd(), ...others.map((line) => `${margin}${line}`)];
}

export const gray = (text: string) => styleText('gray', text);

function colourOf(step: Step): Colour {
  switch (step.what) {
    case 'effect':
      return 'green';
    case 'failed':
    case 'unseen':
      return 'yellow';
    case 'dead-lettered':
      return 'red';
    case 'answered':
      return step.status === 200 ? 'green' : step.status === 400 ? 'yellow' : 'red';
    case 'noted':
      return step.level === 'ERROR' ? 'red' : 'yellow';
    default:
      return 'gray';
  }
}

/** How long after the one before it a step was, as `+12 ms`. */
export function gapOf({ at }: Step, before: Step | undefined): string {
  if (before === undefined) return '';
  const gap = Date.parse(at) - Date.parse(before.at);
  if (gap === 0) return '';
  // The larger unit is enough beside the times.
  return `+${gap < 1000 ? `${gap} ms` : duration(gap).split(' ').slice(0, 2).join(' ')}`;
}

function describeSources({ logs, archive }: Sources, local: boolean): string[] {
  const { since, until, lines, bytesScanned, truncated } = logs;
  const dollars = (bytesScanned / GIGABYTE) * prices.logsInsightsGigabyte;
  const cost = local ? '' : `, ${size(bytesScanned)} scanned for ${dollars.toFixed(4)} dollars`;
  const searched = `Logs from ${toTheMinute(since)} to ${toTheMinute(until)}: ${lines} ${lines === 1 ? 'line' : 'lines'}${cost}.`;
  return [
    truncated ? `${searched} There are more: narrow it with --since and --until.` : searched,
    ...(archive === undefined ? [] : describeArchive(archive)),
  ];
}

function describeArchive({ state, reason, objects, records, damaged }: ArchiveSearched): string[] {
  const looked = `Archive: ${records} ${records === 1 ? 'record' : 'records'} looked at, in ${objects} ${objects === 1 ? 'object' : 'objects'}`;
  const damage = damaged.map((fault) => `Damaged, and skipped from there on: ${printable(fault)}`);
  switch (state) {
    case 'none':
      return ['The stack keeps no archive (archive.days is 0).'];
    case 'refused':
      return [`The archive could not be read: ${reason}.`];
    case 'early':
      return [`${looked}. The newest are not there yet: Firehose collects up to 15 minutes.`, ...damage];
    case 'searched':
      return [`${looked}.`, ...damage];
  }
}

const toTheMinute = (time: string) => `${time.slice(0, 16)}Z`;

function size(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Words in lines of a width; one that is longer is cut. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((whole) => cut(whole, width))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && stringWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return line === '' ? lines : [...lines, line];
}

function cut(word: string, width: number): string[] {
  if (stringWidth(word) <= width) return [word];
  const size = Math.max(1, width);
  return Array.from({ length: Math.ceil(word.length / size) }, (_, index) =>
    word.slice(index * size, (index + 1) * size),
  );
}
