import { outputsOption, type RunOperation, runOperation, stageOption } from '../stage/operation.ts';
import { hookctlCommand } from '../terminal/command.ts';

export const resumeCommand = (runOperation: RunOperation) =>
  hookctlCommand('resume', 'Resumes the processing of a paused event.')
    .argument('<event>', 'event, such as shop.updated')
    .addOption(stageOption())
    .addOption(outputsOption())
    .action((event, where) =>
      runOperation(where, async (operation) => {
        const { resume } = await import('../stage/queues/pause.ts');
        return resume(operation, event);
      }),
    );

export const command = resumeCommand(runOperation);
