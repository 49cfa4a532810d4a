import { onStage, type RunOperation, reporting, runOperation } from '../stage/operation.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { jsonOption } from '../terminal/options.ts';

export const resumeCommand = (runOperation: RunOperation) =>
  onStage(hookctlCommand('resume', 'Resumes a paused event.'))
    .argument('<event>', 'event, such as shop.updated')
    .addOption(jsonOption())
    .action((event, { json, ...where }) =>
      runOperation(where, async (operation) => {
        const { resume } = await import('../stage/queues/pause.ts');
        return resume(reporting(operation, json), event);
      }),
    );

export const command = resumeCommand(runOperation);
