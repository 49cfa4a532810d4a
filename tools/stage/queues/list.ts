import { styleText } from 'node:util';
import { QueueDoesNotExist } from '@aws-sdk/client-sqs';
import { shownId } from '../../terminal/screen.ts';
import { table } from '../../terminal/table.ts';
import { duration, messages, printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { type Pause, pausesOf } from './pause-state.ts';
import { type AnyQueue, queueState, removedQueues, waitingQueues } from './queue.ts';
import { type Retries, retriesOf } from './retries.ts';
import { walk } from './walk.ts';

/** Messages that are looked at for their age. SQS gives them in no order, so of more the oldest is a guess. */
const LOOKED_AT = 100;

/** Retries that people are shown, those that are tried again first. */
const RETRIES_SHOWN = 20;

interface Waiting {
  readonly queue: string;
  readonly messages: number;
  readonly inFlight: number;
  /** When the oldest was sent; of more messages than are looked at, then at the latest. */
  readonly oldest: { readonly sentAt: Date; readonly atLeast: boolean } | undefined;
}

/** `list`: what waits on every queue that nothing consumes, and what consumers are going to try again. */
export async function list(operation: Operation, { json }: { readonly json: boolean }): Promise<void> {
  const { stack, say } = operation;
  const [queues, removed, retries, pauses] = await Promise.all([
    Promise.all(waitingQueues(stack).map((queue) => look(operation, queue))),
    orReason(lookAtRemoved(operation)),
    retriesOf(stack),
    orReason(pausesOf(stack)),
  ]);
  if (json) {
    say(
      JSON.stringify(
        {
          stack: stack.title,
          queues,
          removed: removed.found,
          removedUnknown: removed.unknown,
          ...retries,
          paused: pauses.found,
          pausedUnknown: pauses.unknown,
        },
        undefined,
        2,
      ),
    );
    return;
  }
  say(`Waiting in ${stack.title}:`);
  say('');
  for (const line of describeQueues(queues, operation.width)) say(line);
  for (const line of describeRemoved(removed, operation.width)) say(line);
  for (const line of describeRetries(retries, operation.width)) say(line);
  for (const line of describePauses(pauses.found, operation.width)) say(line);
  if (pauses.unknown !== undefined) {
    for (const line of ['', `What is paused is unknown: ${pauses.unknown}`]) say(line);
  }
  const waiting = [...queues, ...removed.found];
  for (const line of ['', ...whatNext(stack, waiting, retries, pauses.found)]) say(line);
}

/** What was found, or why that is unknown: the permission for it may be missing. */
interface Findings<Found> {
  readonly found: readonly Found[];
  readonly unknown: string | undefined;
}

function orReason<Found>(finding: Promise<readonly Found[]>): Promise<Findings<Found>> {
  return finding.then(
    (found) => ({ found, unknown: undefined }),
    (error: Error) => ({ found: [], unknown: `${error.name}: ${error.message}` }),
  );
}

function whatNext(
  stack: Stage,
  queues: readonly Waiting[],
  { retries, unknown }: Retries,
  [paused]: readonly Pause[],
): string[] {
  const stuck = queues.find(({ messages, inFlight }) => messages + inFlight > 0);
  const hints = [
    ...(stuck ? [`Why they are there: ${stack.command(`show ${stuck.queue}`)}`] : []),
    ...(paused ? [`What is paused goes on with: ${stack.command(paused.event, 'resume')}`] : []),
  ];
  if (hints.length > 0) return hints;
  return [
    retries.length + unknown.length > 0
      ? 'Retries succeed by themselves once the cause is fixed.'
      : 'Nothing waits. (SQS counts up to a minute late.)',
  ];
}

function describeQueues(queues: readonly Waiting[], width: number): string[] {
  return table(
    [
      { heading: 'QUEUE' },
      { heading: 'MESSAGES', align: 'right' },
      { heading: 'IN FLIGHT', align: 'right' },
      { heading: 'OLDEST', align: 'right' },
    ],
    queues.map((waiting) => [waiting.queue, count(waiting.messages), count(waiting.inFlight), age(waiting)]),
    width,
  );
}

function describeRemoved({ found, unknown }: Findings<Waiting>, width: number): string[] {
  if (unknown !== undefined) return ['', `Queues that removed events have left are unknown: ${unknown}`];
  if (found.length === 0) return [];
  return [
    '',
    'Left by removed events, and consumed by nothing (docs/operations.md, "Removing an event"):',
    '',
    ...describeQueues(found, width),
  ];
}

function describeRetries({ retries, unknown }: Retries, width: number): string[] {
  const lines: string[] = [];
  if (retries.length > 0) {
    lines.push(
      '',
      `Being retried: ${messages(retries.length)}`,
      '',
      ...table(
        [
          { heading: 'EVENT' },
          { heading: 'EVENT ID' },
          { heading: 'FAILED', align: 'right' },
          { heading: 'SINCE' },
          { heading: 'NEXT' },
          { heading: 'LAST ERROR' },
        ],
        retries
          .slice(0, RETRIES_SHOWN)
          .map(({ event, eventId, attempt, since: failedAt, nextAttemptAt, error }) => [
            event,
            shownId(eventId, width),
            `${attempt} ×`,
            `${since(failedAt)} ago`,
            `in ${duration(nextAttemptAt.getTime() - Date.now())}`,
            printable(error),
          ]),
        width,
      ),
    );
    if (retries.length > RETRIES_SHOWN) lines.push(`… and ${messages(retries.length - RETRIES_SHOWN)} more`);
  }
  for (const { event, hidden, reason } of unknown) {
    lines.push('', `${event}: ${messages(hidden)} more, hidden: ${reason}`);
  }
  return lines;
}

function describePauses(pauses: readonly Pause[], width: number): string[] {
  if (pauses.length === 0) return [];
  return [
    '',
    'Paused:',
    '',
    ...table(
      [
        { heading: 'EVENT' },
        { heading: 'WAITING', align: 'right' },
        { heading: 'SINCE' },
        { heading: 'BY' },
        { heading: 'REASON' },
      ],
      pauses.map(
        ({
          event,
          waiting,
          since: pausedAt,
          by = '–',
          running,
          reason = running ? '–' : 'its event source was turned off by hand',
        }) => [
          event,
          count(waiting),
          pausedAt === undefined ? 'unknown' : `${since(pausedAt)} ago`,
          by,
          `${printable(reason)}${running ? ' (but its event source is on)' : ''}`,
        ],
      ),
      width,
    ),
  ];
}

/** Nothing stands back, so that what is there is seen. */
const count = (number: number) => (number === 0 ? styleText('gray', '0') : String(number));

function age({ messages, oldest }: Waiting): string {
  if (oldest === undefined) return messages > 0 ? 'unknown' : '–';
  return `${oldest.atLeast ? 'at least ' : ''}${since(oldest.sentAt)}`;
}

const since = (time: Date) => duration(Date.now() - time.getTime());

async function lookAtRemoved(operation: Operation): Promise<Waiting[]> {
  const queues = await removedQueues(operation.stack);
  const found = await Promise.all(
    queues.map((queue) =>
      look(operation, queue).catch((error: Error) => {
        // For a minute SQS lists a queue that was deleted.
        if (error instanceof QueueDoesNotExist) return undefined;
        throw error;
      }),
    ),
  );
  return found.filter((waiting) => waiting !== undefined);
}

async function look({ stack, signal }: Operation, queue: AnyQueue): Promise<Waiting> {
  const { visible, inFlight } = await queueState(stack.sqs, queue.url);
  const oldest = visible > 0 ? await oldestOf() : undefined;
  return { queue: queue.name, messages: visible, inFlight, oldest };

  async function oldestOf(): Promise<Waiting['oldest']> {
    let sent = Number.POSITIVE_INFINITY;
    const { limited } = await walk(stack, queue.url, { signal, limit: LOOKED_AT }, async ({ sentAt }) => {
      sent = Math.min(sent, sentAt.getTime());
      return 'kept';
    });
    if (sent === Number.POSITIVE_INFINITY) return undefined;
    return { sentAt: new Date(sent), atLeast: limited };
  }
}
