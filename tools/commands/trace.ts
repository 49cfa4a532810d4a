import { onStage, runOperation } from '../stage/operation.ts';
import { searchOption, shopOption } from '../stage/payload-filter.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';
import { jsonOption, time } from '../terminal/options.ts';

/** Shows the history of one delivery; with `--shop` or `--search`, lists deliveries. */
export const command = onStage(hookctlCommand('trace', 'Shows the history of one delivery, step by step.'))
  .argument('[id]', 'event, request or message: at least 8 characters of its id')
  .addOption(shopOption('list deliveries of this shop: its whole id'))
  .addOption(searchOption('list deliveries whose payload contains this text; ignores case'))
  .option(
    '--since <time>',
    'search since this time: 2026-01-31T09:00:00Z, 2026-01-31 or 3h (default: 30d)',
    time,
  )
  .option('--until <time>', 'search until this time (default: now)', time)
  .addOption(jsonOption())
  .action((id, { shop, search, since, until, json = false, ...where }) => {
    const times = { since, until, json: json === true };
    const isList = shop !== undefined || search !== undefined;
    if (!isList && id === undefined) throw new UsageError('Give an id, --shop <id> or --search <text>');
    if (isList && id !== undefined) throw new UsageError('Either an id, or --shop and --search');
    return runOperation(where, async (operation) => {
      const { printSearch, printTrace } = await import('../stage/history/print-trace.ts');
      return isList
        ? printSearch(operation, { shop, search }, times)
        : printTrace(operation, id ?? '', times);
    });
  });
