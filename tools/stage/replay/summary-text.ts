import { lines } from '../../terminal/facts.ts';
import { table } from '../../terminal/table.ts';
import { duration, manyMessages, printable } from '../../terminal/text.ts';
import { describeDamage } from '../archive/scan.ts';
import type { Stage } from '../stage.ts';
import { sentOf } from './ledger.ts';
import { unsent } from './plan-text.ts';
import type { ReplayState } from './state.ts';

/** How a run of a replay has ended. */
interface End {
  readonly stack: Stage;
  readonly state: ReplayState;
  readonly finished: boolean;
  /** Messages of this run. */
  readonly sent: number;
  readonly seconds: number;
  readonly width: number;
}

/** What a replay has sent and has not, and where to look. */
export function describeEnd({ stack, state, finished, sent, seconds, width }: End): string[] {
  const { name, planned, skipped, refused, damaged } = state;
  const total = sentOf(state);
  if (!finished) {
    return [
      ...lines(
        `Interrupted: ${total.toLocaleString('en')} of ${manyMessages(planned)} are sent, and noted. Nothing is lost.`,
        width,
      ),
      `Go on with: ${stack.command(`--name ${name}`, 'replay')}`,
    ];
  }
  const before = total === sent ? '' : `, ${(total - sent).toLocaleString('en')} before`;
  const leftOut = unsent(skipped);
  return [
    ...lines(
      `Replay ${name} is finished: sent ${manyMessages(sent)} in ${duration(seconds * 1000)}${before}.`,
      width,
    ),
    '',
    ...table(
      [{ heading: 'EVENT' }, { heading: 'SENT', align: 'right' }],
      Object.entries(state.sent)
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([event, count]) => [event, count.toLocaleString('en')]),
      width,
    ),
    ...(leftOut === '' ? [] : ['', ...lines(`Not sent: ${leftOut}.`, width)]),
    ...(refused.count === 0 ? [] : ['', `SQS refuses ${manyMessages(refused.count)}:`]),
    ...refused.first.map(({ event, eventId, why }) => `  ${event} ${eventId}: ${printable(why)}`),
    ...(refused.count > refused.first.length ? ['  …'] : []),
    ...(damaged.length === 0
      ? []
      : ['', ...describeDamage(damaged.map((fault) => ({ message: printable(fault) })))]),
    '',
    `What became of one:  ${stack.command('<event id>', 'trace')}`,
    `What failed:         ${stack.command('list')}`,
  ];
}
