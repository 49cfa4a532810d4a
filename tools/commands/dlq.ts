import { idOption } from '../stage/archive/record-filter.ts';
import { type Operation, onStage, type RunOperation, reporting, runOperation } from '../stage/operation.ts';
import { searchOption, shopOption } from '../stage/payload-filter.ts';
import type { WaitingQueue } from '../stage/queues/queue.ts';
import { hookctlGroup } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';
import { ExportDestination, typedPath } from '../terminal/files.ts';
import { jsonOption, requireReason, wholeNumber } from '../terminal/options.ts';

/** Maximum messages a second of a redrive: as many as SQS' own redrive has at most. */
const MAX_RATE = 500;

/** Messages a second, unless somebody chooses: consumers and their dependencies also work for new deliveries. */
const DEFAULT_RATE = 100;

const QUEUE = 'event such as shop.updated, quarantine, unrouted, or a name from dlq list';

export function dlqCommand(runOperation: RunOperation) {
  const command = hookctlGroup(
    'dlq',
    'Shows, exports, redrives and discards dead letters, quarantined and parked messages.',
  ).usage('list | show | redrive | export | discard [options]');

  const on = (name: string, description: string) => onStage(command.command(name)).description(description);

  type Task = (operation: Operation, queue: WaitingQueue) => Promise<unknown>;

  const onQueue = (where: Parameters<RunOperation>[0], name: string, task: Task) =>
    runOperation(where, async (operation) => {
      const { findQueue } = await import('../stage/queues/queue.ts');
      return task(operation, await findQueue(operation.stack, name));
    });

  /** A command on the messages of a queue, which its options can select. */
  const onMessages = (name: string, description: string) =>
    on(name, description)
      .argument('<queue>', QUEUE)
      .addOption(idOption('message, event or request, with copies'))
      .option('--event <event>', 'only this kind of event')
      .addOption(shopOption())
      .addOption(searchOption());

  on('list', 'Counts the messages of each queue, and shows pauses')
    .addOption(shopOption())
    .addOption(searchOption())
    .addOption(jsonOption())
    .action(({ shop, search, json = false, ...where }) =>
      runOperation(where, async (operation) => {
        const { dlqList } = await import('../stage/queues/dlq-list.ts');
        return dlqList(operation, { shop, search }, json);
      }),
    );

  onMessages('show', 'Shows the messages of a queue, and why each was set aside')
    .option('--limit <n>', 'maximum number of messages; copies count once', wholeNumber(1, 10_000), 20)
    .option('--payload', 'also show payloads, which are personal data')
    .addOption(jsonOption())
    .action((name, { id: ids, event, shop, search, limit, payload = false, json = false, ...where }) =>
      onQueue(where, name, async (operation, queue) => {
        const { dlqShow } = await import('../stage/queues/dlq-show.ts');
        return dlqShow(operation, queue, { limit, payload, json, filter: { ids, event, shop, search } });
      }),
    );

  onMessages('redrive', 'Processes the messages of a queue again')
    .option('--rate <n>', `messages per second, 1 to ${MAX_RATE}`, wholeNumber(1, MAX_RATE), DEFAULT_RATE)
    .addOption(jsonOption())
    .action((name, { id: ids, event, shop, search, rate, json, ...where }) =>
      onQueue(where, name, async (operation, queue) => {
        const { redrive } = await import('../stage/queues/redrive.ts');
        return redrive(reporting(operation, json), queue, { ids, event, shop, search }, rate);
      }),
    );

  onMessages('export', 'Writes the messages of a queue with payloads, which are personal data, as JSON lines')
    .option('--output <file>', 'new file to write to (default: standard output)', typedPath)
    .action((name, { id: ids, event, shop, search, output, ...where }) =>
      onQueue(where, name, async (operation, queue) => {
        const { dlqExport } = await import('../stage/queues/dlq-export.ts');
        await using destination = new ExportDestination(output);
        // Messages go to standard error, because standard output is for the exported lines.
        const aside = { ...operation, printLine: console.error };
        const filter = { ids, event, shop, search };
        return await dlqExport(aside, queue, filter, (line) => destination.write(line));
      }),
    );

  onMessages('discard', 'Deletes messages of a queue for good. Without --reason, only shows which')
    .option('--reason <text>', 'the reason, in one line; it is logged with your name')
    .option('--export <file>', 'new file to write the messages to first', typedPath)
    .option('--no-export', 'keep no copy of the messages')
    .addOption(jsonOption())
    .action(async (name, { id: ids, event, shop, search, reason, export: file, json, ...where }) => {
      const exportTo = typeof file === 'string' ? file : undefined;
      const isPreview = (reason ?? file) === undefined;
      const consent = isPreview ? undefined : { reason: requireReason(reason), exportTo };
      if (!isPreview && file === undefined) throw new UsageError('Give --export <file> or --no-export');
      await onQueue(where, name, async (operation, queue) => {
        const { dlqDiscard } = await import('../stage/queues/dlq-discard.ts');
        return dlqDiscard(reporting(operation, json), queue, { ids, event, shop, search }, consent);
      });
    });
  return command;
}

export const command = dlqCommand(runOperation);
