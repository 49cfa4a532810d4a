import { outputsOption, runOperation, stageOption } from '../stage/operation.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';
import { jsonOption, time } from '../terminal/options.ts';

/** Shows the history of one delivery; with `--search <text>`, lists the deliveries that contain a text. */
export const command = hookctlCommand('trace', 'Shows the history of one delivery, step by step.')
  .argument('[id]', 'event, request or message: at least 8 characters of its id; or a full webhookId')
  .option('--search <text>', 'list deliveries with this text in payload, ids, shop or error; ignores case')
  .option(
    '--since <time>',
    'search since this time: 2026-01-31T09:00:00Z, 2026-01-31 or 3h (default: 30d)',
    time,
  )
  .option('--until <time>', 'search until this time (default: now)', time)
  .addOption(stageOption())
  .addOption(outputsOption())
  .addOption(jsonOption())
  .action((id, { search, since, until, json = false, ...where }) => {
    const times = { since, until, json: json === true };
    if (search === undefined && id === undefined) throw new UsageError('Give an id or --search <text>');
    if (search !== undefined && id !== undefined) throw new UsageError('Either an id or --search, not both');
    return runOperation(where, async (operation) => {
      if (search !== undefined) {
        const { printSearch } = await import('../stage/history/search.ts');
        return printSearch(operation, search, times);
      }
      const { printTrace } = await import('../stage/history/print.ts');
      return printTrace(operation, id ?? '', times);
    });
  });
