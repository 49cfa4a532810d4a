import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { REPLAY_NAME, replayModes } from '../../lambda/queue/replay.ts';
import { onRecords } from '../stage/archive/record-filter.ts';
import { reporting, runOperation } from '../stage/operation.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { jsonOption, wholeNumber } from '../terminal/options.ts';

/** Messages a second. */
const DEFAULT_RATE = 100;
const MAX_RATE = 10_000;

export const command = onRecords(
  hookctlCommand('replay', 'Sends archived events to their queues again. It shows a plan and asks first.'),
)
  .addOption(
    new Option('--mode <mode>', 'fill (default): as if delivered again; repair: rewrite items').choices(
      replayModes,
    ),
  )
  .option('--notify', 'also send notifications again, once per --name')
  .option(
    '--name <name>',
    'name of the replay: the same name notifies nobody twice (default: mode and time)',
    replayName,
  )
  .option('--rate <n>', `messages per second, 1 to ${MAX_RATE}`, wholeNumber(1, MAX_RATE), DEFAULT_RATE)
  .option('--dry-run', 'only show the plan')
  .option('--yes', 'do not ask for confirmation')
  .addOption(jsonOption())
  .action(
    (events = [], { stage, outputs, endpoint, json, outcome, dryRun = false, yes = false, ...options }) =>
      runOperation({ stage, outputs, endpoint }, async (operation) => {
        const { replay } = await import('../stage/replay/replay.ts');
        const asked = { events, outcomes: outcome, dryRun, yes, ...options };
        return replay(reporting(operation, json), asked);
      }),
  );

function replayName(text: string): string {
  if (REPLAY_NAME.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be 1 to 63 lower-case letters, digits and hyphens, and not begin with a hyphen.',
  );
}
