import { outputsOption, runOperation, stageOption } from '../stage/operation.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';
import { jsonOption, time } from '../terminal/options.ts';

/**
 * Command that shows the history of one delivery or, with `--search <text>`, lists the deliveries that
 * contain a text.
 */
export const command = hookctlCommand(
  'trace',
  'Shows the history of one delivery: receipt, queue, answer, attempts, effect, archive, redrive and replay.',
)
  .argument(
    '[id]',
    'at least 8 characters of the id of the event, request or message; or the partner’s full webhookId',
  )
  .option(
    '--search <text>',
    'list deliveries that contain this text in payload, ids, shop or error; ignores case',
  )
  .option(
    '--since <time>',
    'search since this time (2026-01-31T09:00:00Z), date or age (90m, 3h, 7d) (default: 30d)',
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
