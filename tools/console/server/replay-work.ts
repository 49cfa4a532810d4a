import { USUAL_RATE } from '../../stage/replay/pace.ts';
import { replay } from '../../stage/replay/replay.ts';
import type { TypedTime } from '../../stage/replay/request.ts';
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
      ? 'Reads the archive and says what a replay would send. Nothing is sent.'
      : explanationOf(action, rate),
    // Plans read, and may be made beside each other.
    subject: dryRun ? undefined : 'the archive by a replay',
    run: (operation) => replay(operation, options),
  };
}

function explanationOf({ mode = 'fill', notify = false, name, since }: ReplayAction, rate: number): string {
  const what =
    since === undefined && name !== undefined
      ? `Goes on with replay ${name}`
      : 'Sends what the archive has of it to its queues once more';
  const how =
    mode === 'repair'
      ? 'state is written anew by its newest event'
      : 'as if delivered again, so what is up to date stays';
  return `${what}, ${rate} messages a second at most: ${how}, and people are ${notify ? 'told again' : 'not told again'}.`;
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

function typed(field: 'since' | 'until', text: string): TypedTime {
  try {
    return { text, moment: time(text) };
  } catch (error) {
    throw badRequest(`action.${field}: ${(error as Error).message}`);
  }
}
