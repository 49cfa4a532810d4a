import {
  CreateLogStreamCommand,
  PutLogEventsCommand,
  ResourceAlreadyExistsException,
} from '@aws-sdk/client-cloudwatch-logs';
import { ExportDestination } from '../../terminal/files.ts';
import { messages } from '../../terminal/text.ts';
import { DISCARDED } from '../history/log-line.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { countLine, eventCount, eventsAndCopies } from './copies.ts';
import { exportSelected } from './dlq-export.ts';
import { MAX_PAGES_AT_ONCE } from './for-each-message.ts';
import { type AnyQueue, eventOf } from './queue.ts';
import { attributeText, type ReceivedMessage, reasonOf } from './received-message.ts';
import {
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
 * @returns whether everything requested was discarded
 * @throws CommandError if there is nothing to discard, or the export or the log cannot be written
 */
export async function dlqDiscard(
  operation: Operation,
  queue: AnyQueue,
  filter: MessageFilter,
  consent: Consent | undefined,
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const describe = (message: ReceivedMessage) => discardedMessage(queue, message);
  const selection = await selectMessages(operation, queue, filter, describe);
  if (signal.aborted) return interrupted(operation);
  if (selection.selected.length === 0) throw await nothingTo('discard', stack, queue, selection);
  const { selected } = selection;
  const problems = gaps(queue, selection);
  printLine(`${eventsAndCopies(eventCount(selected), selected.length)} on ${queue.title} in ${stack.title}:`);
  for (const [why, own] of Map.groupBy(selected, ({ shown }) => shown.why)) printLine(countLine(own, why));
  if (consent === undefined) {
    for (const line of problems) printLine(line);
    printLine(
      'Nothing was discarded. To discard them, give --reason "…", and --export <file> or --no-export.',
    );
    return false;
  }
  const { reason, exportTo } = consent;
  const chosen = exportTo === undefined ? selected : await exported(operation, queue, selection, exportTo);
  if (signal.aborted) return interrupted(operation);
  const by = await stack.caller();
  const { discarded, log } = await deleteLogged(operation, queue, chosen, { by, reason });
  if (selected.length > chosen.length) {
    problems.push(
      `${messages(selected.length - chosen.length)} stay: they could not be exported with their payload.`,
    );
  }
  if (chosen.length > discarded) {
    problems.push(`${messages(chosen.length - discarded)} stay: interrupted, or another command has them.`);
  }
  printLine(
    `Discarded ${messages(discarded)} from ${queue.title} in ${stack.title}, by ${by}. Logged in ${log}`,
  );
  for (const line of problems) printLine(line);
  const done = { by, reason, exportTo, discarded, log, problems };
  operation.report?.({ stack: stack.title, queue: queue.name, ...done });
  return problems.length === 0;
}

/**
 * Deletes messages for good, after it has logged who does so and why.
 * @returns the number of messages that were deleted, and the name of the log group
 */
export async function deleteLogged(
  operation: Operation,
  queue: AnyQueue,
  chosen: Selection<ReturnType<typeof discardedMessage>>['selected'],
  who: { readonly by: string; readonly reason: string },
) {
  const about = chosen.map(({ id, shown: { why: _why, ...ids } }) => ({ ...ids, messageId: id, ...who }));
  const log = await writeLog(operation.stack, queue, about);
  const options = { doing: 'Discarding', atOnce: MAX_PAGES_AT_ONCE };
  const settle = async () => 'settled' as const;
  const { undeleted, unseen } = await forEachSelected(
    operation,
    queue,
    { selected: chosen },
    options,
    settle,
  );
  return { discarded: chosen.length - undeleted.length - unseen, log };
}

function interrupted({ printLine }: Operation): false {
  printLine('Interrupted. Nothing was discarded.');
  return false;
}

/** The selected messages that a new file has with their payloads. */
async function exported<Shown>(
  operation: Operation,
  queue: AnyQueue,
  selection: Selection<Shown>,
  path: string,
): Promise<Selection<Shown>['selected']> {
  const write = async () => {
    await using file = new ExportDestination(path);
    return await exportSelected(operation, queue, selection, (line) => file.write(line));
  };
  const { whole } = await write();
  return selection.selected.filter(({ id }) => whole.has(id));
}

export function discardedMessage(queue: AnyQueue, message: ReceivedMessage) {
  return {
    why: reasonOf(message, queue),
    event: attributeText(message, 'event'),
    eventId: attributeText(message, 'eventId'),
    requestId: attributeText(message, 'requestId'),
  };
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
async function writeLog(stage: Stage, queue: AnyQueue, about: readonly object[]): Promise<string> {
  const { kind, name } = queue;
  const logGroupName =
    kind === 'dead-letter' ? stage.event(eventOf(stage, name)).logGroup : stage.receiverLogGroup;
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
