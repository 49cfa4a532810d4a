import { styleText } from 'node:util';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { type Column, table } from '../../terminal/layout.ts';
import { ago, duration, printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { PayloadFilter } from '../payload-filter.ts';
import type { Stage } from '../stage.ts';
import { type Pause, pausesOf } from './pause.ts';
import { queueState, removedQueues, type WaitingQueue, waitingQueues } from './queue.ts';
import { eventCount, filterWords, gaps, selectMessages } from './selected-messages.ts';

/**
 * Maximum number of messages inspected for their age and their copies. SQS returns messages in no order. If there are
 * more, the age is a minimum.
 */
const MAX_SAMPLED = 100;

type ListedQueue = Awaited<ReturnType<typeof listQueue>>;

type ListedEventQueue = Awaited<ReturnType<typeof listEventQueue>>;

/**
 * Prints the number of messages on each queue, and the paused events. With a filter,
 * prints how many messages match on each queue that nothing consumes: on the others, receiving a message would count as
 * an attempt.
 */
export async function dlqList(operation: Operation, filter: PayloadFilter, json: boolean): Promise<void> {
  const { stack, printLine } = operation;
  const isFiltered = (filter.shop ?? filter.search) !== undefined;
  const all = [...waitingQueues(stack), ...(await removedQueues(stack))];
  const queues = await Promise.all(
    all.map((queue) => listQueue(operation, queue, isFiltered ? filter : undefined)),
  );
  const [eventQueues, paused] = isFiltered
    ? [[], []]
    : await Promise.all([
        Promise.all(stack.events.map((event) => listEventQueue(stack, event))),
        pausesOf(stack),
      ]);
  const lines = isFiltered
    ? matchLines(operation, filter, queues)
    : listLines(operation, queues, eventQueues, paused);
  const found = { stack: stack.title, queues, eventQueues, paused };
  for (const line of json ? [JSON.stringify(found, undefined, 2)] : lines) printLine(line);
}

function matchLines({ stack, width }: Operation, filter: PayloadFilter, queues: readonly ListedQueue[]) {
  const matching = queues.filter(({ events }) => events !== undefined);
  const [first] = matching;
  return [
    ...(first === undefined
      ? ['No message matches.']
      : table(WAITING_COLUMNS, matching.map(waitingRow), width)),
    ...queues.flatMap((queue) => queue.gaps),
    'The queues of events were not searched. trace <id> finds what is on them.',
    ...(first ? [`See why: ${stack.command(`show ${first.queue}${filterWords(filter)}`)}`] : []),
  ];
}

function listLines(
  { stack, width }: Operation,
  queues: readonly ListedQueue[],
  eventQueues: readonly ListedEventQueue[],
  paused: readonly Pause[],
) {
  const busy = eventQueues.filter((queue) => !isEmpty(queue));
  const isPaused = (event: EventName) => paused.some((pause) => pause.event === event && !pause.running);
  const section = (heading: string, columns: readonly Column[], rows: readonly string[][]) =>
    rows.length === 0 ? [] : ['', heading, '', ...table(columns, rows, width)];
  const waiting = (heading: string, shown: readonly ListedQueue[]) =>
    section(heading, WAITING_COLUMNS, shown.map(waitingRow));
  return [
    `Messages in ${stack.title}. SQS counts may be a minute old.`,
    ...waiting(
      'Dead letters, quarantine and unrouted events: they wait until you redrive them.',
      queues.filter(({ kind }) => kind !== 'removed'),
    ),
    ...waiting(
      'Left by removed events, without a consumer (docs/redrive-and-replay.md, "Remove an event"):',
      queues.filter(({ kind }) => kind === 'removed'),
    ),
    ...(busy.length === 0 ? ['', 'Event queues: empty.'] : []),
    ...section(
      'Event queues: waiting for their consumer, or in flight (received, not yet done).',
      [column('EVENT'), ...COUNTS, column('STATE')],
      busy.map((queue) => [queue.event, ...countsIn(queue), isPaused(queue.event) ? 'paused' : '']),
    ),
    ...section(
      'Paused: nothing processes these events until you resume them.',
      [column('EVENT'), column('WAITING', 'right'), column('SINCE'), column('BY'), column('REASON')],
      paused.map((pause) => pauseRow(pause, width)),
    ),
    '',
    ...whatNext(stack, queues, busy, paused),
  ];
}

const isEmpty = ({ messages, inFlight }: { messages: number; inFlight: number }) => messages + inFlight === 0;

/**
 * A queue that nothing consumes. `events` are without copies. `atLeast`: there may be more.
 * @param filter counts only messages that match, all of them. @default none
 */
async function listQueue(operation: Operation, queue: WaitingQueue, filter?: PayloadFilter) {
  const { visible, inFlight } = await queueState(operation.stack.sqs, queue.url);
  const limit = filter === undefined ? MAX_SAMPLED : undefined;
  const isRead = filter !== undefined || visible > 0;
  const selection = isRead ? await selectMessages(operation, queue, filter ?? {}, { limit }) : undefined;
  const { selected = [], limited: atLeast = false } = selection ?? {};
  const [oldest] = selected.map(({ sentAt }) => sentAt).toSorted();
  return {
    queue: queue.name,
    kind: queue.kind,
    messages: filter === undefined ? visible : selected.length,
    inFlight,
    events: oldest === undefined ? undefined : { count: eventCount(selected), atLeast },
    oldest: oldest === undefined ? undefined : { sentAt: oldest, atLeast },
    gaps: selection ? gaps(selection) : [],
  };
}

async function listEventQueue(stack: Stage, event: EventName) {
  const { visible, inFlight } = await queueState(stack.sqs, stack.ofEvent(event, 'QueueUrl'));
  return { event, messages: visible, inFlight };
}

const column = (heading: string, align: Column['align'] = 'left'): Column => ({ heading, align });

/** Zero is dimmed so that other counts stand out. */
const count = (number: number) => (number === 0 ? styleText('gray', '0') : String(number));

const COUNTS = [column('WAITING', 'right'), column('IN FLIGHT', 'right')];

const WAITING_COLUMNS = [column('QUEUE'), ...COUNTS, column('EVENTS', 'right'), column('OLDEST', 'right')];

const countsIn = (counts: { messages: number; inFlight: number }) => [
  count(counts.messages),
  count(counts.inFlight),
];

function waitingRow({ queue, events, oldest, ...counts }: ListedQueue): string[] {
  const unseen = isEmpty(counts) ? '–' : 'unknown';
  const atLeast = oldest?.atLeast ? 'at least ' : '';
  return [
    queue,
    ...countsIn(counts),
    events ? `${atLeast}${events.count}` : unseen,
    oldest ? `${atLeast}${duration(Date.now() - Date.parse(oldest.sentAt))}` : unseen,
  ];
}

function pauseRow({ event, waiting, since: pausedAt, by = '–', reason, running }: Pause, width: number) {
  return [
    event,
    count(waiting),
    pausedAt === undefined ? 'unknown' : ago(pausedAt),
    // On a terminal, only the last part of an ARN: the name of the user or of the session.
    Number.isFinite(width) ? by.slice(by.lastIndexOf('/') + 1) : by,
    running
      ? `${printable(reason ?? '–')} (but its event source is on)`
      : printable(reason ?? 'its event source was turned off by hand'),
  ];
}

function whatNext(
  stack: Stage,
  queues: readonly ListedQueue[],
  busy: readonly ListedEventQueue[],
  [paused]: readonly Pause[],
): string[] {
  const stuck = queues.find((queue) => !isEmpty(queue));
  const hints = [
    ...(stuck ? [`See why: ${stack.command(`show ${stuck.queue}`)}`] : []),
    ...(paused ? [`Resume: ${stack.command(paused.event, 'resume')}`] : []),
  ];
  if (hints.length > 0) return hints;
  if (busy.length === 0) return ['All these queues are empty.'];
  return [
    'Nothing to do now. If messages stay in flight, see docs/operations.md, "Failing". If they keep waiting, see "Waiting".',
  ];
}
