import {
  outputsOption,
  type RunOperation,
  reporting,
  runOperation,
  stageOption,
} from '../stage/operation.ts';
import { hookctlGroup } from '../terminal/command.ts';
import { CommandError, UsageError } from '../terminal/command-error.ts';
import { ExportDestination } from '../terminal/files.ts';
import { jsonOption, wholeNumber } from '../terminal/options.ts';
import { typedPath } from '../terminal/project-folder.ts';

/** Maximum messages a second of a redrive. Source: SQS API reference, `StartMessageMoveTask`. */
const MAX_MOVE_RATE = 500;

const QUEUE = 'event such as shop.updated, quarantine, unrouted, or a name from dlq list';

const collect = (text: string, before: string[] = []) => [...before, text];

export function dlqCommand(runOperation: RunOperation) {
  const command = hookctlGroup(
    'dlq',
    'Shows, exports and redrives dead letters, quarantined and parked messages.',
  ).usage('list | show | redrive | export [options]');

  const on = (name: string, description: string) =>
    command.command(name).description(description).addOption(stageOption()).addOption(outputsOption());

  on('list', 'Counts the messages of each queue, and shows pauses')
    .addOption(jsonOption())
    .action(({ json, ...where }) =>
      runOperation(where, async (operation) => {
        const { dlqList } = await import('../stage/queues/dlq-list.ts');
        return dlqList(operation, { json: json ?? false });
      }),
    );

  on('show', 'Shows the messages of a queue, and why each was set aside')
    .argument('<queue>', QUEUE)
    .option('--limit <n>', 'maximum number of messages; copies count once', wholeNumber(1, 10_000), 20)
    .option('--payload', 'also show payloads, which are personal data')
    .addOption(jsonOption())
    .action((name, { limit, payload = false, json = false, ...where }) =>
      runOperation(where, async (operation) => {
        const { findQueue } = await import('../stage/queues/queue.ts');
        const { dlqShow } = await import('../stage/queues/dlq-show.ts');
        return dlqShow(operation, await findQueue(operation.stack, name), { limit, payload, json });
      }),
    );

  on('redrive', 'Processes the messages of a queue again')
    .argument('<queue>', QUEUE)
    .option(
      '--id <id>',
      'only this message, event or request, with copies: at least 8 characters of its id; repeatable',
      collect,
    )
    .option(
      '--rate <n>',
      `messages per second, 1 to ${MAX_MOVE_RATE}; only for all dead letters of an event`,
      wholeNumber(1, MAX_MOVE_RATE),
    )
    .addOption(jsonOption())
    .action((name, { id, rate, json, ...where }) =>
      runOperation(where, async (given) => {
        const operation = reporting(given, json);
        const { findQueue } = await import('../stage/queues/queue.ts');
        const queue = await findQueue(operation.stack, name);
        if (queue.kind === 'removed') {
          throw new CommandError(
            `Not redriven: ${queue.title} has no consumer. Keep a copy: ${operation.stack.command(`export ${name}`)}`,
          );
        }
        if (queue.kind === 'dead-letter' && id === undefined) {
          const { redriveAll } = await import('../stage/queues/redrive-all.ts');
          return redriveAll(operation, queue, rate);
        }
        if (rate !== undefined) {
          throw new UsageError('--rate is only for a redrive of all dead letters of an event');
        }
        const { redriveEach } = await import('../stage/queues/redrive-each.ts');
        return redriveEach(operation, queue, id);
      }),
    );

  on('export', 'Writes the messages of a queue with payloads, which are personal data, as JSON lines')
    .argument('<queue>', QUEUE)
    .option('--output <file>', 'new file to write to (default: standard output)', typedPath)
    .action((name, { output, ...where }) =>
      runOperation(where, async (operation) => {
        const { findQueue } = await import('../stage/queues/queue.ts');
        const { dlqExport } = await import('../stage/queues/dlq-export.ts');
        const queue = await findQueue(operation.stack, name);
        await using destination = new ExportDestination(output);
        // Messages go to standard error, because standard output is for the exported lines.
        const aside = { ...operation, printLine: console.error };
        return await dlqExport(aside, queue, (line) => destination.write(line));
      }),
    );
  return command;
}

export const command = dlqCommand(runOperation);
