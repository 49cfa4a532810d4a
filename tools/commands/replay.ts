import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { REPLAY_NAME, replayModes } from '../../lambda/queue/replay.ts';
import {
  eventsArgument,
  idOption,
  outcomeOption,
  sinceOption,
  untilOption,
} from '../stage/archive/record-filter.ts';
import {
  outputsOption,
  type RunOperation,
  reporting,
  runOperation,
  stageOption,
} from '../stage/operation.ts';
import { shopOption } from '../stage/payload-filter.ts';
import { DEFAULT_RATE, MAX_RATE, NAME_RULE } from '../stage/replay/limits.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { jsonOption, time, wholeNumber } from '../terminal/options.ts';

export const replayCommand = (runOperation: RunOperation) =>
  hookctlCommand('replay', 'Sends archived events to their queues again. It shows a plan and asks first.')
    .addArgument(eventsArgument())
    .addOption(sinceOption().argParser(typed))
    .addOption(untilOption().argParser(typed))
    .addOption(shopOption())
    .addOption(idOption())
    .addOption(outcomeOption())
    .addOption(
      new Option('--mode <mode>', 'fill (default): as if delivered again; repair: rewrite items').choices(
        replayModes,
      ),
    )
    .option('--notify', 'also send notifications again, once per --name')
    .option(
      '--name <name>',
      'name of a new replay, or of one to continue (default: mode and time)',
      replayName,
    )
    .option(
      '--rate <n>',
      `messages per second, 1 to ${MAX_RATE} (default: ${DEFAULT_RATE}, or as in the last run)`,
      wholeNumber(1, MAX_RATE),
    )
    .option('--dry-run', 'only show the plan')
    .option('--yes', 'do not ask for confirmation')
    .addOption(stageOption())
    .addOption(outputsOption())
    .addOption(jsonOption())
    .action((events, { stage, outputs, json, id, outcome, dryRun = false, yes = false, ...options }) =>
      runOperation({ stage, outputs }, async (operation) => {
        const { replay } = await import('../stage/replay/replay.ts');
        return replay(reporting(operation, json), {
          events: events ?? [],
          ids: id,
          outcomes: outcome,
          dryRun,
          yes,
          ...options,
        });
      }),
    );

export const command = replayCommand(runOperation);

function typed(text: string) {
  return { text, moment: time(text) };
}

function replayName(text: string): string {
  if (REPLAY_NAME.test(text)) return text;
  throw new InvalidArgumentError(NAME_RULE);
}
