import { InvalidArgumentError } from '@commander-js/extra-typings';
import {
  eventsArgument,
  idOption,
  outcomeOption,
  type RecordFilter,
  requireWindow,
  sinceOption,
  untilOption,
} from '../stage/archive/record-filter.ts';
import { outputsOption, runOperation, stageOption } from '../stage/operation.ts';
import { shopOption } from '../stage/payload-filter.ts';
import { hookctlGroup } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';
import { ExportDestination } from '../terminal/files.ts';
import { typedPath } from '../terminal/project-folder.ts';
import { confirm, requireTerminal } from '../terminal/terminal.ts';

export const command = hookctlGroup(
  'archive',
  'Exports and counts records of settled messages, and removes personal data.',
).usage('export | forget [options]');

command
  .command('export')
  .description('Writes records with payloads, which are personal data, as JSON lines')
  .addArgument(eventsArgument())
  .addOption(sinceOption())
  .addOption(untilOption())
  .addOption(shopOption())
  .addOption(outcomeOption())
  .addOption(idOption())
  .option('--count', 'only count the records, by event and outcome')
  .option('--output <file>', 'new file to write to (default: standard output)', typedPath)
  .option('--payloads', 'add large payloads, as bodyBase64')
  .addOption(stageOption())
  .addOption(outputsOption())
  .action((events, { output, payloads = false, count = false, ...options }) => {
    const filter = filterOf(events, options);
    return runOperation(options, async (operation) => {
      const { exportRecords } = await import('../stage/archive/export-records.ts');
      await using destination = new ExportDestination(output);
      const write = (line: string) => destination.write(line);
      // Messages go to standard error, because standard output is for the records.
      const aside = { ...operation, printLine: console.error };
      return await exportRecords(aside, filter, { payloads, count, write });
    });
  });

interface TypedFilter extends Pick<RecordFilter, 'since' | 'until' | 'shop'> {
  readonly outcome?: RecordFilter['outcomes'];
  readonly id?: RecordFilter['ids'];
}

/** @throws CommandError if the time window is empty */
function filterOf(
  events: RecordFilter['events'],
  { since, until, shop, outcome, id }: TypedFilter,
): RecordFilter {
  requireWindow({ since, until });
  return { events: events?.length ? events : undefined, since, until, shop, outcomes: outcome, ids: id };
}

const collect = (text: string, before: string[] = []) => {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return [...before, text];
};

command
  .command('forget')
  .description('Removes the payloads of a person. The records stay')
  .option('--user <id>', 'user_id of the person; repeatable', collect)
  .option('--girl <id>', 'girl_id of the person; repeatable', collect)
  .option('--dry-run', 'only show what would be removed')
  .option('--yes', 'do not ask for confirmation')
  .addOption(stageOption())
  .addOption(outputsOption())
  .action(({ user = [], girl = [], dryRun = false, yes = false, ...where }) => {
    const persons = [
      ...user.map((id) => ({ kind: 'user', id }) as const),
      ...girl.map((id) => ({ kind: 'girl', id }) as const),
    ];
    if (persons.length === 0) throw new UsageError('Name the person: --user <id> or --girl <id>');
    // Fails before the archive is searched, which takes long.
    if (!dryRun && !yes) requireTerminal();
    return runOperation(where, async (operation) => {
      const { forget } = await import('../stage/archive/forget.ts');
      const agreed = async (question: string) => yes || confirm(question, operation.signal);
      return forget(operation, persons, { dryRun, agreed });
    });
  });
