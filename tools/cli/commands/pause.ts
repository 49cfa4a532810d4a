import { outputsOption, type RunOperation, runOperation, stageOption } from '../../stage/operation.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';

export const pauseCommand = (runOperation: RunOperation) =>
  npmScript(
    'pause',
    'Stops the processing of an event. Its deliveries are accepted and wait on its queue. An alarm says who paused it and why.',
  )
    .argument('<event>', 'such as shop.updated')
    .option('--reason <text>', 'required: why, in one line, for the readers of the alarm’s mail')
    .addOption(stageOption())
    .addOption(outputsOption())
    .action(async (event, { reason = '', ...where }) => {
      const { isReason, LONGEST_REASON } = await import('../../stage/queues/pause-state.ts');
      const line = reason.trim();
      if (!isReason(line)) {
        throw new CommandError(`Say why, in one line of 1 to ${LONGEST_REASON} characters: --reason "…"`);
      }
      await runOperation(where, async (operation) => {
        const { pause } = await import('../../stage/queues/pause.ts');
        return pause(operation, event, line);
      });
    });

export const command = pauseCommand(runOperation);
