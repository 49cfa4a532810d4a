import { styleText } from 'node:util';
import { CommandError } from '../../terminal/command-error.ts';
import { lines, table } from '../../terminal/layout.ts';
import { Progress } from '../../terminal/progress.ts';
import { shownId } from '../../terminal/terminal.ts';
import { printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { matchesRecord, type PayloadFilter } from '../payload-filter.ts';
import type { Stage } from '../stage.ts';
import type { Effect, PlainItem } from './facts.ts';
import type { Delivery, History, HistoryLocation, HistoryStep } from './history.ts';
import { searchLogs, windowOf } from './log-search.ts';
import { findRecords, inReadingTime } from './records.ts';
import { gapText, skipText, stateTitle, stateWords, stepWords, type Tone } from './state-text.ts';
import { HistoryStore } from './store.ts';
import { type Trace, traceDelivery } from './trace.ts';

/** Minimum characters of a step's detail per line. */
const NARROWEST_DETAIL = 20;

const REJECTIONS_SHOWN = 5;

/** Maximum number of deliveries listed, newest first. A longer list would not help. */
const MAX_LISTED = 100;

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
  const trace = await traceDelivery(stack, id, { ...times, signal, progress: new Progress() });
  if (trace === undefined) {
    if (!json) printLine('Interrupted. The query of the logs is stopped, and nothing was changed.');
    return false;
  }
  if (json) printLine(JSON.stringify(trace, undefined, 2));
  else for (const line of describeTrace(trace, stack, width)) printLine(line);
  return trace.sources.every(({ problem }) => problem === undefined);
}

/**
 * A trace for people: the steps from top to bottom, then the current location.
 * @param width columns of the terminal
 */
export function describeTrace(
  { id, history, effects, sources }: Trace,
  stage: Pick<Stage, 'title' | 'command'>,
  width: number,
): string[] {
  const { event, eventId = '', shopId, timestamp } = history;
  const facts = [
    shopId && `shop ${printable(shopId)}`,
    timestamp && `the partner’s timestamp ${timestamp.replace(/\.?0+Z$/, 'Z')}`,
  ].filter(Boolean);
  return [
    `${styleText('bold', event ?? 'Event')} ${styleText('cyan', shownId(eventId, width))} in ${stage.title}`,
    ...(facts.length === 0 ? [] : lines(facts.join(', '), width).map(gray)),
    '',
    ...describeSteps(history, id, width),
    '',
    ...history.now.flatMap((location) => describeLocation(location, stage, width)),
    ...effects.flatMap((effect) => lines(printable(effectText(effect)), width)),
    ...(sources.length === 0 ? [] : ['']),
    ...sources.flatMap(({ text }) => lines(text, width).map(gray)),
  ];
}

/** Where a message is now, with the next useful command. */
function describeLocation(location: HistoryLocation, stage: Pick<Stage, 'command'>, width: number): string[] {
  const { title, detail, tone } = stateWords(location, clock());
  const text = [printable(detail), nextCommand(location, tone, stage)].filter(Boolean).join(' ');
  const [first = '', ...others] = lines(`${title}: ${text}`, width);
  return [`${styleText(COLOURS[tone], title)}${first.slice(title.length)}`, ...others];
}

/** The command that resumes a paused event, or shows a message on a queue that nothing consumes. */
function nextCommand({ queue, paused }: HistoryLocation, tone: Tone, stage: Pick<Stage, 'command'>) {
  if (queue === undefined) return undefined;
  if (paused !== undefined) return `Resume it: ${stage.command(queue, 'resume')}`;
  return tone === 'bad' ? `Show it: ${stage.command(`show ${queue}`)}` : undefined;
}

/** @param asked id of the request that is always shown. Anybody can send the same bytes any number of times */
function describeSteps(history: History, asked: string, width: number): string[] {
  const rejected = history.steps.flatMap(({ status, requestId = '' }) =>
    status === 401 && !requestId.startsWith(asked) ? [requestId] : [],
  );
  const left = new Set(rejected.slice(REJECTIONS_SHOWN));
  const steps = history.steps.filter(({ requestId = '' }) => !left.has(requestId));
  const more = `… and ${left.size} more requests with these bytes, all answered 401`;
  const described = steps.flatMap((step, index) => {
    const before = steps[index - 1];
    const date = step.at.slice(0, 10);
    const isNewDay = date !== before?.at.slice(0, 10);
    const space = before !== undefined && (isNewDay || isBeginning(step)) ? [''] : [];
    const head = isNewDay ? [gray(before === undefined ? `${date}, times in UTC` : date)] : [];
    return [...space, ...head, ...describeStep(step, before, history, width)];
  });
  return left.size === 0 ? described : [...described, '', gray(more)];
}

/** Whether a delivery, a redrive or a replay begins with this step. */
const isBeginning = ({ kind, attempt, origin }: HistoryStep) =>
  kind === 'received' ||
  (attempt === 1 && kind !== 'archived' && origin !== undefined && origin.kind !== 'delivery');

function describeStep(
  step: HistoryStep,
  before: HistoryStep | undefined,
  history: History,
  width: number,
): string[] {
  const { title, detail, tone } = stepWords(step, history, clock());
  const front = `${step.at.slice(11, 23)}  ${gapText(step, before).padStart(GAP_WIDTH)}  `;
  const indent = TITLE_WIDTH + 2;
  const available = Math.max(NARROWEST_DETAIL, width - front.length - 2 - indent);
  const [first = '', ...others] = lines(printable(detail), available);
  const head = `${gray(front)}${styleText(COLOURS[tone], `● ${printable(title)}`)}`;
  const margin = `${' '.repeat(front.length)}${gray('│')} ${' '.repeat(indent)}`;
  const gap = ' '.repeat(Math.max(0, indent - title.length));
  return [`${head}${gap}${first}`.trimEnd(), ...others.map((line) => `${margin}${line}`)];
}

const clock = () => ({ now: Date.now(), time: (iso: string) => iso.slice(11, 19) });

const gray = (text: string) => styleText('gray', text);

/** The stored item with its key, or the notification, in one line. */
function effectText(effect: Effect): string {
  if (effect.kind === 'notification') {
    return `Notification on ${effect.topic}: ${(effect.texts.default ?? '').replaceAll(/\n+/g, ', ')}`;
  }
  const { table, key, after } = effect;
  return after == null ? `${table}: item ${key} was deleted` : `${table}: ${itemText(after)}`;
}

/** Leaves out the partner's `data` as sent, which can be long, and the versions that order events. */
function itemText(item: PlainItem): string {
  return Object.entries(item)
    .filter(([name]) => name !== 'data' && !name.endsWith('version'))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

/**
 * Lists the deliveries in the archive of one shop, or with a text in their payload, without their payloads.
 * @returns false if something could not be read; the output says what
 * @throws CommandError if the stage has no archive
 */
export async function printSearch(
  { stack, signal, printLine, width }: Operation,
  filter: PayloadFilter,
  { json, ...times }: Parameters<typeof windowOf>[0] & { readonly json: boolean },
): Promise<boolean> {
  const window = windowOf(times);
  if (!stack.hasArchive)
    throw new CommandError('The stage has no archive, so there are no payloads to search');
  const store = new HistoryStore();
  const reading = { ...window, signal: inReadingTime(signal), progress: new Progress() };
  const archive = await findRecords(stack, reading, (record) => matchesRecord(filter, record));
  for (const fact of archive.found) store.add(fact);
  const newest = () => store.list().slice(0, MAX_LISTED);
  const events = new Set(newest().flatMap(({ eventId }) => eventId ?? []));
  const pattern = `"eventId":"(${[...events].join('|')})`;
  const logs = events.size > 0 ? await searchLogs(stack, pattern, window, signal) : undefined;
  store.add(...(logs?.lines ?? []));
  if (signal.aborted) {
    if (!json) printLine('Interrupted. Nothing was changed.');
    return false;
  }
  const searched = [archive, logs].flatMap((one) => one?.source ?? []);
  const sources = [
    ...searched.map(({ text }) => text),
    'Payloads that wait on a queue or are too large for the archive’s records were not searched.',
  ];
  const deliveries = newest();
  const total = store.list().length;
  const lines = json
    ? [JSON.stringify({ deliveries, total, sources }, undefined, 2)]
    : [...describeFound(deliveries, total, width), '', ...sources];
  for (const line of lines) printLine(line);
  return searched.every(({ problem }) => problem === undefined);
}

function describeFound(deliveries: readonly Delivery[], total: number, width: number): string[] {
  const rows = deliveries.map(({ id, receivedAt, event = '', shopId = '', state, reason, error = '' }) => {
    const received = `${receivedAt.slice(0, 10)} ${receivedAt.slice(11, 19)}`;
    const why = reason === undefined ? error : skipText(reason);
    return [received, event, shopId, stateTitle(state).title, why, shownId(id, width)].map(printable);
  });
  const columns = ['received (UTC)', 'event', 'shop', 'state', 'reason or error', 'request'];
  const headings = columns.map((heading) => ({ heading }));
  return [
    `${total === 1 ? '1 delivery' : `${total} deliveries`} in the archive.`,
    ...(total === 0 ? [] : ['', ...table(headings, rows, width)]),
    ...(total > rows.length ? ['', `Only the newest ${rows.length} are listed.`] : []),
  ];
}
