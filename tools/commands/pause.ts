import { onStage, type RunOperation, reporting, runOperation } from '../stage/operation.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { jsonOption, requireReason } from '../terminal/options.ts';

export const pauseCommand = (runOperation: RunOperation) =>
  onStage(
    hookctlCommand(
      'pause',
      'Pauses an event. Its deliveries are still accepted, and wait. An alarm says who paused it and why.',
    ),
  )
    .argument('<event>', 'event, such as shop.updated')
    .option('--reason <text>', 'required: the reason, in one line')
    .addOption(jsonOption())
    .action(async (event, { reason, json, ...where }) => {
      const line = requireReason(reason);
      await runOperation(where, async (operation) => {
        const { pause } = await import('../stage/queues/pause.ts');
        return pause(reporting(operation, json), event, line);
      });
    });

export const command = pauseCommand(runOperation);
