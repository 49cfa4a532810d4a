import { styleText } from 'node:util';
import { ARCHIVE_BUFFER_SECONDS } from '../../../lambda/limits.ts';
import { lines } from '../../terminal/layout.ts';
import { lateProgress } from '../../terminal/progress.ts';
import { shownId } from '../../terminal/terminal.ts';
import { counted, duration, printable } from '../../terminal/text.ts';
import { textWidth } from '../../terminal/text-width.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { mergedAttempts } from './derive-history.ts';
import type { Effect } from './facts.ts';
import type { Sources } from './find-facts.ts';
import type { History, HistoryLocation, HistoryStep } from './history.ts';
import { effectText } from './local-effects.ts';
import type { windowOf } from './log-search.ts';
import { stateWords, stepWords, type Tone } from './state-text.ts';
import { type Trace, traceDelivery } from './trace.ts';

/** Price of a scanned byte, in US dollars. Source: https://aws.amazon.com/cloudwatch/pricing/, Logs Insights. */
const SCANNED_BYTE_DOLLARS = 0.005 / 2 ** 30;

/** Width below which a step's detail is printed under its title instead of next to it. */
const NARROW = 90;

/** Maximum characters of a step's detail per line. Longer lines are hard to read. */
const WIDEST_DETAIL = 100;

/** Rejected requests with the same bytes that are shown. */
const REJECTIONS_SHOWN = 5;

/**
 * Columns for the gap between steps, such as `+999 ms`, and for `dead letter`. A longer text shifts only its own line.
 */
const GAP_WIDTH = 7;
const TITLE_WIDTH = 11;

const COLOURS: Readonly<Record<Tone, Parameters<typeof styleText>[0]>> = {
  good: 'green',
  warning: 'yellow',
  bad: 'red',
  neutral: 'gray',
};

/**
 * Prints the history of one event.
 * @returns false if something could not be read; the output says what
 * @throws CommandError if there is no such event
 */
export async function printTrace(
  { stack, signal, printLine, width }: Operation,
  id: string,
  { json, ...times }: Parameters<typeof windowOf>[0] & { readonly json: boolean },
): Promise<boolean> {
  const trace = await traceDelivery(stack, id, { ...times, signal, progress: lateProgress() });
  if (trace === undefined) {
    if (!json) printLine('Interrupted. The query of the logs is stopped, and nothing was changed.');
    return false;
  }
  if (json) printLine(JSON.stringify(trace, undefined, 2));
  else for (const line of describeTrace(trace, stack, width)) printLine(line);
  const { logs, archive, queues } = trace.sources;
  const isRefused = [logs, queues].some((source) => source?.refused);
  return !isRefused && archive?.state !== 'refused' && !archive?.damaged.length;
}

/**
 * A trace for people: the steps from top to bottom, then the current location.
 * @param width columns of the terminal
 */
export function describeTrace(
  { id, history, effects, sources }: Trace,
  stage: Pick<Stage, 'title' | 'local' | 'command'>,
  width: number,
): string[] {
  const { shopId, timestamp } = history;
  const facts = [
    shopId && `shop ${printable(shopId)}`,
    timestamp && `the partner’s timestamp ${timestamp.replace(/\.?0+Z$/, 'Z')}`,
  ].filter(Boolean);
  return [
    titleOf(history, stage, width),
    ...wrap(facts.join(', '), width).map(gray),
    '',
    ...describeSteps(history, id, width),
    '',
    ...describeLocations(history, stage, width),
    ...describeEffects(effects, width),
    '',
    ...describeSources(sources, stage.local).flatMap((line) => wrap(line, width).map(gray)),
  ];
}

const titleOf = (
  { event, eventId }: Pick<History, 'event' | 'eventId'>,
  { title }: Pick<Stage, 'title'>,
  width: number,
): string =>
  `${styleText('bold', event ?? 'Event')} ${styleText('cyan', shownId(eventId ?? '', width))} in ${title}`;

/** Lines that say where the event's messages are now, with the next useful command. */
export function describeLocations({ now }: History, stage: Pick<Stage, 'command'>, width: number): string[] {
  return now.flatMap((location) => {
    const { title, detail, tone } = stateWords(location, clock());
    const text = [printable(detail), nextCommand(location, tone, stage)].filter(Boolean).join(' ');
    const [first = '', ...others] = wrap(`${title}: ${text}`, width);
    const rest = first.slice(title.length);
    return [`${styleText(COLOURS[tone], first.slice(0, title.length))}${rest}`, ...others];
  });
}

export const describeEffects = (effects: readonly Effect[], width: number): string[] =>
  effects.flatMap((effect) => wrap(printable(effectText(effect)), width));

/** The command that resumes a paused event, or shows a message on a queue that nothing consumes. */
function nextCommand({ queue, paused }: HistoryLocation, tone: Tone, stage: Pick<Stage, 'command'>) {
  if (queue === undefined) return undefined;
  if (paused !== undefined) return `Resume it: ${stage.command(queue, 'resume')}`;
  return tone === 'bad' ? `Show it: ${stage.command(`show ${queue}`)}` : undefined;
}

/**
 * Prints a history step by step while it grows.
 * @returns a function that gives the new steps. The first call also gives the title
 */
export function growingTrace(stage: Pick<Stage, 'title'>, width: number): (history: History) => string[] {
  const newSteps = stepPrinter(width, keyOf);
  let isFirst = true;
  return (history) => {
    const printed = newSteps(history);
    const title = isFirst && printed.length > 0 ? ['', titleOf(history, stage, width)] : [];
    isFirst &&= printed.length === 0;
    return [...title, ...printed];
  };
}

/** @returns a function that gives the steps whose keys it has not seen before, under their dates */
function stepPrinter(width: number, key: (step: HistoryStep) => unknown): (history: History) => string[] {
  const known = new Set<unknown>();
  let day = '';
  return (history) =>
    history.steps.flatMap((step, index) => {
      if (known.has(key(step))) return [];
      const isFirst = known.size === 0;
      known.add(key(step));
      const date = step.at.slice(0, 10);
      const space = !isFirst && (date !== day || isBeginning(step)) ? [''] : [];
      const head = date === day ? [] : [gray(isFirst ? `${date}, times in UTC` : date)];
      day = date;
      const gap = gapOf(step, history.steps[index - 1]).padStart(GAP_WIDTH);
      return [...space, ...head, ...describeStep(step, history, gap, width)];
    });
}

/** Identifies a step while the history grows, although its time or message may become known later. */
const keyOf = ({ kind, at, origin, attempt, requestId, messageId }: HistoryStep) =>
  JSON.stringify([kind, requestId ?? messageId, origin, attempt, kind === 'noted' && at]);

function describeSteps(history: History, asked: string, width: number): string[] {
  const { steps, left } = withoutRepetitions(mergedAttempts(history.steps), asked);
  const more = left === 0 ? [] : ['', gray(`… and ${left} more requests with these bytes, all answered 401`)];
  return [...stepPrinter(width, (step) => step)({ ...history, steps }), ...more];
}

/**
 * Limits rejected requests, because anybody can send the same bytes any number of times.
 * @param asked id of the request that is always shown
 */
function withoutRepetitions(steps: readonly HistoryStep[], asked: string) {
  const rejected = steps.flatMap(({ status, requestId = '' }) =>
    status === 401 && !requestId.startsWith(asked) ? [requestId] : [],
  );
  const left = new Set(rejected.slice(REJECTIONS_SHOWN));
  return { steps: steps.filter(({ requestId = '' }) => !left.has(requestId)), left: left.size };
}

/** Whether a delivery, a redrive or a replay begins with this step. */
const isBeginning = ({ kind, attempt, origin }: HistoryStep) =>
  kind === 'received' ||
  (attempt === 1 && kind !== 'archived' && origin !== undefined && origin.kind !== 'delivery');

function describeStep(step: HistoryStep, history: History, gap: string, width: number): string[] {
  const { title, detail, tone } = stepWords(step, history, clock());
  const front = `${step.at.slice(11, 23)}  ${gap}  `;
  const isNarrow = width < NARROW;
  const indent = isNarrow ? 2 : TITLE_WIDTH + 2;
  // Output to a file or a pipe is not wrapped.
  const available = Number.isFinite(width)
    ? Math.min(WIDEST_DETAIL, width - front.length - 2 - indent)
    : width;
  const details = wrap(printable(detail), available);
  const head = `${gray(front)}${styleText(COLOURS[tone], `● ${printable(title)}`)}`;
  const first = isNarrow ? '' : `${' '.repeat(Math.max(0, indent - title.length))}${details.shift() ?? ''}`;
  const margin = `${' '.repeat(front.length)}${gray('│')} ${' '.repeat(indent)}`;
  return [`${head}${first}`.trimEnd(), ...details.map((line) => `${margin}${line}`)];
}

const clock = () => ({ now: Date.now(), time: (iso: string) => iso.slice(11, 19) });

const gray = (text: string) => styleText('gray', text);

/** Time since the previous step, such as `+12 ms`. */
function gapOf({ at }: HistoryStep, before: HistoryStep | undefined): string {
  if (before === undefined) return '';
  const gap = Date.parse(at) - Date.parse(before.until ?? before.at);
  if (gap <= 0) return '';
  // The two largest units are enough, because the line also shows the time.
  return `+${gap < 1000 ? `${gap} ms` : duration(gap).split(' ').slice(0, 2).join(' ')}`;
}

/** Lines that say which sources were searched, and what is missing. */
function describeSources({ logs, archive, queues }: Sources, local: boolean): string[] {
  const { since, until, bytesScanned, truncated, refused } = logs;
  const dollars = bytesScanned * SCANNED_BYTE_DOLLARS;
  const cost = local ? '' : `, ${size(bytesScanned)} scanned for ${dollars.toFixed(4)} dollars`;
  const more = truncated ? ' There are more lines: narrow the window with --since and --until.' : '';
  return [
    refused === undefined
      ? `Logs from ${toTheMinute(since)} to ${toTheMinute(until)}: ${counted(logs.lines, 'line')}${cost}.${more}`
      : `The logs could not be read, so rejected requests and failed attempts are missing: ${refused}.`,
    ...(archive === undefined ? [] : describeArchive(archive)),
    queues?.refused && `The dead-letter queue could not be read: ${queues.refused}.`,
    queues?.complete === false &&
      queues.refused === undefined &&
      'Some messages on the dead-letter queue could not be checked.',
  ].filter((line) => typeof line === 'string');
}

function describeArchive({
  state,
  reason,
  objects,
  records,
  damaged,
}: NonNullable<Sources['archive']>): string[] {
  if (state === 'none') return ['The stage has no archive (archive.days is 0).'];
  if (state === 'refused') return [`The archive could not be read: ${reason}.`];
  const late =
    state === 'early'
      ? ` A record may be missing: Firehose collects for up to ${ARCHIVE_BUFFER_SECONDS / 60} minutes.`
      : '';
  return [
    `Archive: ${counted(records, 'record')} read in ${counted(objects, 'object')}.${late}`,
    ...damaged.map((fault) => `Damaged, and skipped from there on: ${printable(fault)}`),
  ];
}

const toTheMinute = (time: string) => `${time.slice(0, 16)}Z`;

function size(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Wraps words to a width. Cuts a longer word. */
function wrap(text: string, width: number): string[] {
  const words = text.split(' ').flatMap((word) => cut(word, width));
  return text === '' ? [] : lines(words.join(' '), width);
}

function cut(word: string, width: number): string[] {
  if (textWidth(word) <= width) return [word];
  const length = Math.max(1, width);
  return Array.from({ length: Math.ceil(word.length / length) }, (_, index) =>
    word.slice(index * length, (index + 1) * length),
  );
}
