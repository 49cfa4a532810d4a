import { eventNames } from '../../lambda/events/catalogue.ts';
import { outputsOption, runOperation, stageOption } from '../stage/operation.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { eachOf, jsonOption, time } from '../terminal/options.ts';

export const command = hookctlCommand(
  'tail',
  'Prints log lines of deliveries as they are written, until Ctrl-C.',
)
  .option('--event <event>', 'only this event; repeatable', eachOf(eventNames))
  .option('--id <id>', 'only this event, request or message: at least 8 characters of its id')
  .option('--since <time>', 'start at this time: 2026-01-31T09:00:00Z, 2026-01-31 or 3h (default: now)', time)
  .addOption(stageOption())
  .addOption(outputsOption())
  .addOption(jsonOption())
  .action(async ({ event, id, since, json = false, ...where }) => {
    await runOperation(where, async (operation) => {
      const { tail } = await import('../stage/logs/tail.ts');
      return tail(operation, { events: event, id, since, json });
    });
    // Ctrl-C is the usual way to end the command, so it is no error.
    process.exitCode = 0;
  });
