import { outputsOption, stageOption, type Work, work } from '../../stage/work.ts';
import { npmScript } from '../terminal/command.ts';

/** `npm run resume -- <event>`: ends a pause. */
export const resumeCommand = (work: Work) =>
  npmScript('resume', 'Starts the processing of a paused event again.')
    .argument('<event>', 'such as shop.updated')
    .addOption(stageOption())
    .addOption(outputsOption())
    .action((event, where) =>
      work(where, async (operation) => {
        const { resume } = await import('../../stage/queues/pause.ts');
        return resume(operation, event);
      }),
    );

export const command = resumeCommand(work);
