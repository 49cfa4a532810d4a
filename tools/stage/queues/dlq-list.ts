import { styleText } from 'node:util';
import { QueueDoesNotExist } from '@aws-sdk/client-sqs';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import type { Column } from '../../terminal/block.ts';
import { table } from '../../terminal/layout.ts';
import { duration, printable } from '../../terminal/text.ts';
import { type Operation, orRefusal, refusalOf } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { copyKey } from './copies.ts';
import { forEachMessage } from './for-each-message.ts';
import { type Pause, pausesOf } from './pause-state.ts';
import { type AnyQueue, type QueueState, queueState, removedQueues, waitingQueues } from './queue.ts';
import { lastFailure } from './retries.ts';

/**
 * Maximum number of messages inspected for their age and their copies. SQS returns messages in no order. If there are
 * more, the age is a minimum.
 */
const MAX_SAMPLED = 100;

/** A queue that nothing consumes, and when its oldest message was sent. */
type ListedQueue = Awaited<ReturnType<typeof listQueue>>;

type ListedEventQueue = Awaited<ReturnType<typeof listEventQueue>>;

type QueueCounts = ReturnType<typeof countsOf>;

/** Prints the number of messages on each queue, why those in flight may be failing, and the paused events. */
export async function dlqList(operation: Operation, { json }: { readonly json: boolean }): Promise<void> {
  const { stack, printLine, width } = operation;
  const [queues, removed, eventQueues, pauses] = await Promise.all([
    Promise.all(waitingQueues(stack).map((queue) => listQueue(operation, queue))),
    orReason(stack, listRemoved(operation)),
    Promise.all(stack.events.map((event) => listEventQueue(stack, event))),
    orReason(stack, pausesOf(stack)),
  ]);
  if (json) {
    const found = {
      stack: stack.title,
      queues,
      removed: removed.found,
      removedUnknown: removed.unknown,
      eventQueues,
      paused: pauses.found,
      pausedUnknown: pauses.unknown,
    };
    printLine(JSON.stringify(found, undefined, 2));
    return;
  }
  const busy = eventQueues.filter((queue) => !isEmpty(queue));
  const paused = new Set(pauses.found.filter(({ running }) => !running).map(({ event }) => event));
  const lines = [
    `Messages in ${stack.title}. SQS counts may be a minute old.`,
    ...section(
      'Dead letters, quarantine and unrouted events: they wait until you redrive them.',
      WAITING_COLUMNS,
      queues.map(waitingRow),
      width,
    ),
    ...section(
      'Left by removed events, without a consumer (docs/pause.md, "Remove an event"):',
      WAITING_COLUMNS,
      removed.found.map(waitingRow),
      width,
    ),
    ...unknown('Which queues removed events have left', removed),
    ...(busy.length === 0 ? ['', 'Event queues: empty.'] : []),
    ...section(
      'Event queues: waiting for their consumer, or in flight (received, not yet done).',
      [left('EVENT'), ...COUNTS, left('STATE')],
      busy.map((queue) => [queue.event, ...countsIn(queue), stateOf(queue, paused.has(queue.event))]),
      width,
    ),
    ...section(
      'Paused: nothing processes these events until you resume them.',
      [left('EVENT'), right('WAITING'), left('SINCE'), left('BY'), left('REASON')],
      pauses.found.map((pause) => pauseRow(pause, width)),
      width,
    ),
    ...unknown('What is paused', pauses),
    '',
    ...whatNext(stack, [...queues, ...removed.found], busy, pauses.found),
  ];
  for (const line of lines) printLine(line);
}

const isEmpty = ({ messages, inFlight }: QueueCounts) => messages + inFlight === 0;

/** The result, or why AWS did not answer: the permission may be missing. */
function orReason<Found>({ local }: Stage, finding: Promise<readonly Found[]>) {
  return finding.then(
    (found) => ({ found, unknown: undefined }),
    (error: unknown) => ({ found: [], unknown: refusalOf(error, local) }),
  );
}

async function listQueue(operation: Operation, queue: AnyQueue) {
  const counts = countsOf(await queueState(operation.stack.sqs, queue.url));
  const sample = counts.messages === 0 ? undefined : await sampleOf(operation, queue);
  return { queue: queue.name, ...counts, events: sample?.events, oldest: sample?.oldest };
}

async function sampleOf({ stack, signal }: Operation, queue: AnyQueue) {
  const times: number[] = [];
  const keys = new Set<string>();
  const { limited } = await forEachMessage(
    stack,
    queue.url,
    { signal, limit: MAX_SAMPLED },
    async (message) => {
      times.push(message.sentAt.getTime());
      keys.add(copyKey(queue, message));
      return 'stays';
    },
  );
  if (times.length === 0) return undefined;
  // If there are more messages than were inspected, an older message and other events may exist.
  const oldest = { sentAt: new Date(Math.min(...times)), atLeast: limited };
  return { events: { count: keys.size, atLeast: limited }, oldest };
}

async function listRemoved(operation: Operation): Promise<ListedQueue[]> {
  const listed = (await removedQueues(operation.stack)).map((queue) =>
    listQueue(operation, queue).catch((error: unknown) => {
      // SQS still lists a queue for a minute after it was deleted.
      if (error instanceof QueueDoesNotExist) return [];
      throw error;
    }),
  );
  return (await Promise.all(listed)).flat();
}

async function listEventQueue(stack: Stage, event: EventName) {
  const state = await queueState(stack.sqs, stack.event(event).queueUrl);
  const counts = countsOf(state);
  if (counts.inFlight === 0) return { event, ...counts, lastFailure: undefined };
  const failure = await orRefusal(stack, () => lastFailure(stack, event));
  return { event, ...counts, lastFailure: failure };
}

const countsOf = ({ visible, inFlight }: QueueState) => ({ messages: visible, inFlight });

const left = (heading: string): Column => ({ heading });
const right = (heading: string): Column => ({ heading, align: 'right' });

/** A heading and its table. Empty if there are no rows. */
function section(
  heading: string,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  return rows.length === 0 ? [] : ['', heading, '', ...table(columns, rows, width)];
}

const unknown = (what: string, { unknown: why }: { unknown: string | undefined }) =>
  why === undefined ? [] : ['', `${what} is unknown: ${why}`];

/** Zero is dimmed so that other counts stand out. */
const count = (number: number) => (number === 0 ? styleText('gray', '0') : String(number));

const COUNTS = [right('WAITING'), right('IN FLIGHT')];

const WAITING_COLUMNS = [left('QUEUE'), ...COUNTS, right('EVENTS'), right('OLDEST')];

const countsIn = ({ messages, inFlight }: QueueCounts) => [count(messages), count(inFlight)];

const since = (time: Date) => duration(Date.now() - time.getTime());

function waitingRow({ queue, events, oldest, ...counts }: ListedQueue): string[] {
  const unseen = isEmpty(counts) ? '–' : 'unknown';
  const atLeast = oldest?.atLeast ? 'at least ' : '';
  return [
    queue,
    ...countsIn(counts),
    events ? `${atLeast}${events.count}` : unseen,
    oldest ? `${atLeast}${since(oldest.sentAt)}` : unseen,
  ];
}

function stateOf({ messages, lastFailure: failure }: ListedEventQueue, isPaused: boolean): string {
  const waits = messages > 0 ? ['waiting'] : [];
  return [...(isPaused ? ['paused'] : waits), ...(failure ? [describeFailure(failure)] : [])].join('; ');
}

const describeFailure = (failure: NonNullable<ListedEventQueue['lastFailure']>) =>
  'refused' in failure
    ? `last failure unknown: ${printable(failure.refused)}`
    : `last failure ${since(new Date(failure.at))} ago: ${printable(failure.error)}`;

function pauseRow({ event, waiting, since: pausedAt, by = '–', reason, running }: Pause, width: number) {
  return [
    event,
    count(waiting),
    pausedAt === undefined ? 'unknown' : `${since(pausedAt)} ago`,
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
  if (busy.some(({ lastFailure: failure }) => failure !== undefined)) {
    return [
      'If they keep failing, fix the cause before they become dead letters: docs/operations.md, "Failing".',
    ];
  }
  return ['Nothing to do now. If a message keeps waiting, see docs/operations.md, "Waiting".'];
}
