import { InvalidArgumentError } from '@commander-js/extra-typings';
import { isReason, LONGEST_REASON } from '../stage/queues/reason.ts';
import { outputsOption, stageOption, work } from '../stage/work.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';

/** `npm run pause -- <event>`: keeps an event on its queue while what its consumer needs is away. */
export const command = npmScript(
  'pause',
  'Turns the processing of an event off: it is taken in and waits on its queue, and one alarm says who did it and why.',
)
  .argument('<event>', 'such as shop.updated')
  .option('--reason <text>', 'why, for whoever gets the alarm’s mail: one line; it must be said', oneLine)
  .addOption(stageOption())
  .addOption(outputsOption())
  .action((event, { reason, ...where }) => {
    if (reason === undefined) throw new CommandError('Say why: --reason "…"');
    return work(where, async (operation) => {
      const { pause } = await import('../stage/queues/pause.ts');
      return pause(operation, event, reason);
    });
  });

/** @throws InvalidArgumentError, which becomes the command's one line */
function oneLine(text: string): string {
  const line = text.trim();
  if (isReason(line)) return line;
  throw new InvalidArgumentError(`It must be one line of 1 to ${LONGEST_REASON} characters.`);
}
