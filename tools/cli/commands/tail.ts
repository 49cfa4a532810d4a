import { eventNames } from '../../../lambda/events/catalogue.ts';
import { outputsOption, runOperation, stageOption } from '../../stage/operation.ts';
import { npmScript } from '../terminal/command.ts';
import { eachOf, jsonOption, time } from '../terminal/options.ts';

export const command = npmScript(
  'tail',
  'The log lines of deliveries as they are written, until Ctrl-C. Nothing is changed.',
)
  .option('--event <event>', 'only of this one; repeatable', eachOf(eventNames))
  .option(
    '--id <id>',
    'only of this event, request or message: its id, or at least the first eight characters of it',
  )
  .option('--since <time>', 'from then on: 2026-01-31T09:00:00Z, a date, or 90m, 3h, 7d (default: now)', time)
  .addOption(stageOption())
  .addOption(outputsOption())
  .addOption(jsonOption())
  .action(async ({ event, id, since, json = false, ...where }) => {
    await runOperation(where, async (operation) => {
      const { tail } = await import('../../stage/logs/tail.ts');
      return tail(operation, { events: event, id, since, json });
    });
    // Ctrl-C is the normal end.
    process.exitCode = 0;
  });
