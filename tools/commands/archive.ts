import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { CountGroup } from '../stage/archive/export-records.ts';
import { idOption, onRecords, requireWindow } from '../stage/archive/record-filter.ts';
import { onStage, runOperation } from '../stage/operation.ts';
import { hookctlGroup } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';
import { ExportDestination, typedPath } from '../terminal/files.ts';
import { eachOf } from '../terminal/options.ts';
import { confirm, requireTerminal } from '../terminal/terminal.ts';

const COUNT_GROUPS = ['event', 'outcome', 'shop', 'day'] as const satisfies readonly CountGroup[];

export const command = hookctlGroup(
  'archive',
  'Exports and counts records of settled messages, and removes personal data.',
).usage('export | forget [options]');

onRecords(command.command('export'))
  .description('Writes or counts records. They have payloads, which are personal data')
  .addOption(idOption())
  .option('--count-by <group>', `only count, by ${COUNT_GROUPS.join(', ')}; repeatable`, eachOf(COUNT_GROUPS))
  .option('--csv', 'write comma-separated values instead of JSON lines or a table')
  .option('--output <file>', 'new file to write to (default: standard output)', typedPath)
  .option('--payloads', 'add large payloads, as bodyBase64')
  .action((names, { output, payloads = false, countBy, csv = false, ...options }) => {
    const { since, until, shop, search, outcome: outcomes, id: ids } = options;
    requireWindow({ since, until });
    const events = names?.length ? names : undefined;
    return runOperation(options, async (operation) => {
      const { exportRecords } = await import('../stage/archive/export-records.ts');
      await using destination = new ExportDestination(output);
      const write = (line: string) => destination.write(line);
      // Messages go to standard error, because standard output is for the records.
      const aside = { ...operation, printLine: console.error };
      const filter = { events, since, until, shop, search, outcomes, ids };
      return await exportRecords(aside, filter, { payloads, countBy, csv, write });
    });
  });

const collect = (text: string, before: string[] = []) => {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return [...before, text];
};

onStage(command.command('forget'))
  .description('Deletes what a stage has of a person, and names what else may have it')
  .option('--user <id>', 'user_id of the person; repeatable', collect)
  .option('--girl <id>', 'girl_id of the person; repeatable', collect)
  .option('--dry-run', 'only show what would be removed')
  .option('--yes', 'do not ask for confirmation')
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
