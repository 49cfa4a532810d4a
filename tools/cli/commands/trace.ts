import { outputsOption, runOperation, stageOption } from '../../stage/operation.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { jsonOption, time } from '../terminal/options.ts';

/** Shows the history of one delivery; with `--search <text>`, lists the deliveries that contain a text. */
export const command = npmScript(
  'trace',
  'What became of one delivery: received, queued, answered, each attempt, its effect or why it has none, archive, redrive and replay. Nothing is changed.',
)
  .argument(
    '[id]',
    'the id of the event, the request or the message, or at least its first eight characters; or the partner’s whole webhookId',
  )
  .option(
    '--search <text>',
    'lists the deliveries that have a text in their payload, an id, the shop or an error, whatever the case',
  )
  .option(
    '--since <time>',
    'look no further back: 2026-01-31T09:00:00Z, a date, or 90m, 3h, 7d (default: 30d, and no further than the logs are kept)',
    time,
  )
  .option('--until <time>', 'look no further than then (default: now)', time)
  .addOption(stageOption())
  .addOption(outputsOption())
  .addOption(jsonOption())
  .action((id, { search, since, until, json = false, ...where }) => {
    const times = { since, until, json: json === true };
    if (search === undefined && id === undefined) throw new CommandError('Give an id or --search <text>');
    if (search !== undefined && id !== undefined)
      throw new CommandError('Either an id or --search, not both');
    return runOperation(where, async (operation) => {
      if (search !== undefined) {
        const { printSearch } = await import('../../stage/history/search.ts');
        return printSearch(operation, search, times);
      }
      const { printTrace } = await import('../../stage/history/print.ts');
      return printTrace(operation, id ?? '', times);
    });
  });
