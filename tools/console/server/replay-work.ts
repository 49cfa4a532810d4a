import { USUAL_RATE } from '../../stage/replay/pace.ts';
import { replay } from '../../stage/replay/replay.ts';
import type { Stage } from '../../stage/stage.ts';
import { time } from '../../terminal/options.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import type { Confirmation, ReplayAction } from '../api.ts';
import { badRequest } from './problem.ts';
import type { Work } from './tasks.ts';

/** A replay from the archive, or its plan alone. @throws Problem where a time is none */
export function replayWork(action: ReplayAction, stack: Stage): Work & Confirmation {
  const { dryRun, events, since, until, rate = USUAL_RATE, ...others } = action;
  const options = {
    ...others,
    events,
    rate,
    dryRun,
    yes: !dryRun,
    ...(since !== undefined && { since: typed('since', since) }),
    ...(until !== undefined && { until: typed('until', until) }),
  };
  return {
    command: stack.command(optionsText(action), 'replay'),
    explanation: dryRun
      ? 'Reads the archive and shows what a replay would send. Sends nothing.'
      : explanationOf(action, rate),
    // Plans read, and may be made beside each other.
    subject: dryRun ? undefined : 'the archive by a replay',
    run: (operation) => replay(operation, options),
  };
}

function explanationOf({ mode = 'fill', notify = false, name, since }: ReplayAction, rate: number): string {
  const what =
    since === undefined && name !== undefined
      ? `Continues replay ${name}`
      : 'Sends these events from the archive to their queues once more';
  const how =
    mode === 'repair'
      ? 'rewrites rows from their newest events'
      : 'writes missing rows, leaves rows that are up to date';
  return `${what}, at most ${rate} messages a second: ${how}. ${notify ? 'Notifies people again.' : 'Notifies nobody twice about an event.'}`;
}

/** What is typed for it. */
function optionsText({
  dryRun,
  events,
  since,
  until,
  ids,
  shop,
  mode,
  notify,
  rate,
  name,
}: ReplayAction): string {
  const given = { since, until, shop, mode, rate, name };
  const named = Object.entries(given).flatMap(([option, value]) =>
    value === undefined ? [] : [`--${option} ${shellWord(String(value))}`],
  );
  return [
    ...events,
    ...named,
    ...(ids ?? []).map((id) => `--id ${shellWord(id)}`),
    ...(notify === true ? ['--notify'] : []),
    dryRun ? '--dry-run' : '--yes',
  ].join(' ');
}

function typed(field: 'since' | 'until', text: string) {
  try {
    return { text, moment: time(text) };
  } catch (error) {
    throw badRequest(`action.${field}: ${(error as Error).message}`);
  }
}
