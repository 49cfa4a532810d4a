import {
  CreateLogStreamCommand,
  PutLogEventsCommand,
  ResourceAlreadyExistsException,
} from '@aws-sdk/client-cloudwatch-logs';
import { DISCARDED } from '../../../lambda/log-messages.ts';
import { ExportDestination } from '../../terminal/files.ts';
import { messages } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { exportSelected } from './dlq-export.ts';
import { MAX_PAGES_AT_ONCE } from './for-each-message.ts';
import { eventOf, type WaitingQueue } from './queue.ts';
import {
  countLines,
  eventsAndCopies,
  forEachSelected,
  gaps,
  type MessageFilter,
  nothingTo,
  type Selection,
  selectMessages,
} from './selected-messages.ts';

/** What a person must say before messages are deleted. */
interface Consent {
  readonly reason: string;
  /** New file for the messages. Undefined to keep no copy. */
  readonly exportTo: string | undefined;
}

/**
 * Shows messages and deletes them for good, after it has exported them and logged who discards them and why.
 * @param consent without it, the messages are only shown
 * @returns whether everything requested was shown or discarded
 * @throws CommandError if there is nothing to discard, or the export or the log cannot be written
 */
export async function dlqDiscard(
  operation: Operation,
  queue: WaitingQueue,
  filter: MessageFilter,
  consent: Consent | undefined,
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const selection = await selectMessages(operation, queue, filter);
  const { selected } = selection;
  if (selected.length === 0 && !signal.aborted) throw await nothingTo('discard', stack, selection);
  printLine(`${eventsAndCopies(selected)} on ${queue.title} in ${stack.title}:`);
  for (const line of countLines(selected, ({ reason }) => reason)) printLine(line);
  const problems = gaps(selection);
  if (consent === undefined) {
    const next = 'To discard them, give --reason "…", and --export <file> or --no-export.';
    for (const line of [...problems, `Nothing was discarded. ${next}`]) printLine(line);
    return problems.length === 0;
  }
  const { reason, exportTo } = consent;
  let chosen = selected;
  if (exportTo !== undefined && !signal.aborted) {
    await using file = new ExportDestination(exportTo);
    const { written } = await exportSelected(operation, selection, (line) => file.write(line));
    const whole = new Set(written.flatMap(({ id, isWhole }) => (isWhole ? id : [])));
    chosen = selected.filter(({ messageId }) => whole.has(messageId));
  }
  if (signal.aborted) {
    printLine('Interrupted. Nothing was discarded.');
    return false;
  }
  const by = await stack.caller();
  const { discarded, log } = await deleteLogged(operation, { queue, selected: chosen }, { by, reason });
  if (selected.length > chosen.length) {
    const unexported = messages(selected.length - chosen.length);
    problems.push(`Not discarded: ${unexported}, because the payload could not be exported.`);
  }
  const left = chosen.length - discarded;
  if (left > 0) problems.push(notDiscarded(left));
  const what = `Discarded ${messages(discarded)} from ${queue.title} in ${stack.title}`;
  for (const line of [`${what}, by ${by}. Logged in ${log}`, ...problems]) printLine(line);
  const done = { by, reason, exportTo, discarded, log, problems };
  operation.report?.({ stack: stack.title, queue: queue.name, ...done });
  return problems.length === 0;
}

/** @param count of messages that were selected and stay */
export const notDiscarded = (count: number) =>
  `Not discarded: ${messages(count)}. Another command has them, or this one was interrupted.`;

/**
 * Deletes messages for good, after it has logged who does so and why.
 * @returns the number of messages that were deleted, and the name of the log group
 */
export async function deleteLogged(
  operation: Operation,
  { queue, selected }: Pick<Selection, 'queue' | 'selected'>,
  who: { readonly by: string; readonly reason: string },
) {
  const about = selected.map(({ event, eventId, requestId, messageId }) => {
    return { event, eventId, requestId, messageId, ...who };
  });
  const log = await writeLog(operation.stack, queue, about);
  const options = { doing: 'Discarding', atOnce: MAX_PAGES_AT_ONCE };
  const settle = async () => 'settled' as const;
  const { undeleted, unseen } = await forEachSelected(operation, { queue, selected }, options, settle);
  return { discarded: selected.length - undeleted.length - unseen, log };
}

/** Name of the log stream with the lines of this command. */
const STREAM = 'hookctl-dlq-discard';

/**
 * Lines per call, of at most 2 KB each. Source: CloudWatch Logs API reference, `PutLogEvents`: at most 1 MiB and 10,000
 * lines.
 */
const MAX_LINES = 400;

/**
 * Writes a line for each message to the log of the function that put it on the queue, before it is deleted.
 * @returns the name of the log group
 */
async function writeLog(stage: Stage, queue: WaitingQueue, about: readonly object[]): Promise<string> {
  const { kind, name } = queue;
  const logGroupName =
    kind === 'dead-letter' ? stage.ofEvent(eventOf(stage, name), 'LogGroup') : stage.receiverLogGroup;
  const stream = { logGroupName, logStreamName: STREAM };
  await stage.logs.send(new CreateLogStreamCommand(stream)).catch((error: unknown) => {
    if (!(error instanceof ResourceAlreadyExistsException)) throw error;
  });
  const now = new Date();
  const fields = { timestamp: now.toISOString(), level: 'INFO', message: DISCARDED, queue: name };
  for (let from = 0; from < about.length; from += MAX_LINES) {
    const logEvents = about
      .slice(from, from + MAX_LINES)
      .map((one) => ({ timestamp: now.getTime(), message: JSON.stringify({ ...fields, ...one }) }));
    await stage.logs.send(new PutLogEventsCommand({ ...stream, logEvents }));
  }
  return logGroupName;
}
