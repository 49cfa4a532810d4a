import { outputsOption, stageOption, work } from '../stage/work.ts';
import { npmScript } from '../terminal/command.ts';
import { jsonOption, time } from '../terminal/options.ts';

/** `npm run trace -- <id>`: what became of one delivery. */
export const command = npmScript(
  'trace',
  'What became of one delivery: received, queued, answered, each attempt, its effect or why it has none, archive, redrive and replay. Nothing is changed.',
)
  .argument(
    '<id>',
    'the event’s id or at least its first eight characters, the id of the request, or the partner’s webhookId',
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
  .action((id, { since, until, json = false, ...where }) =>
    work(where, async (operation) => {
      const { printTrace } = await import('../stage/history/print.ts');
      return printTrace(operation, id, { json: json === true, since, until });
    }),
  );
