import type { SettledOutcome } from '../../../lambda/archive/record.ts';
import { settledOutcomes } from '../../../lambda/archive/record-schema.ts';
import { catalogue, isNotification } from '../../../lambda/events/catalogue.ts';
import { REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/limits.ts';
import type { ReplayMode } from '../../../lambda/queue/replay.ts';
import type { Block } from '../../terminal/block.ts';
import { definedFields } from '../../terminal/layout.ts';
import { counted, duration, manyMessages, printable } from '../../terminal/text.ts';
import { describeDamage } from '../archive/read-archive.ts';
import { hoursOfTries } from '../queues/retries.ts';
import type { Stage } from '../stage.ts';
import type { ReplayPlan, ReplayRequest, Unsent } from './replay-plan.ts';
import type { ReplaySender } from './replay-sender.ts';

const MODES: Readonly<Record<ReplayMode, string>> = {
  fill: 'fill: writes missing items, leaves items that are up to date',
  repair: 'repair: rewrites items from their newest events',
};

const NOTIFIED_AGAIN = 'People are notified again, once per replay name.';

const text = (line: string): Block => ({ kind: 'text', text: line });

const heading = (line: string): Block => ({ kind: 'heading', text: line });

const fields = (all: Parameters<typeof definedFields>[0]): Block => ({
  kind: 'fields',
  fields: definedFields(all),
});

const GAP = text('');

/**
 * The plan of a replay, as text.
 * @param rate messages a second
 * @param writtenAt when the last record of the window is in the archive, in epoch milliseconds
 * @param expired text to print if the window begins before the archive
 */
export function describePlan(
  { title }: Stage,
  request: ReplayRequest,
  { messages, counts, skipped, damaged }: ReplayPlan,
  { rate, writtenAt, expired }: { rate: number; writtenAt: number; expired: string | undefined },
): Block[] {
  const { name, mode, filter } = request;
  const only = [
    filter.shop && `shop ${printable(filter.shop)}`,
    filter.ids && `ids ${filter.ids.map(printable).join(', ')}`,
    filter.outcomes && `outcome ${filter.outcomes.join(' or ')}`,
  ].filter(Boolean);
  const dead = sum(counts.values().map((outcomes) => outcomes.get('DeadLettered') ?? 0));
  const all: Parameters<typeof fields>[0] = [
    ['mode', MODES[mode]],
    ['people', describePeople(request, counts)],
    ['messages', count(messages)],
    ['time', describeTime(messages, rate)],
    [
      'wait',
      writtenAt > Date.now() &&
        `until ${toTheSecond(writtenAt)} for records that Firehose has not written yet`,
    ],
    ['only', only.join('; ') || undefined],
    ['skipped', describeUnsent(skipped) || undefined],
    // A replayed dead letter is on two queues, but is processed only once.
    ['dead letters', dead > 0 && `${count(dead)}. They also stay on the dead-letter queue unless redriven.`],
    ['window', `settled from ${filter.since.toISOString()} to ${filter.until.toISOString()}`],
    ['expired', expired],
    [
      '--until',
      mode === 'repair' &&
        writtenAt < Date.now() &&
        `wrong writes may be settled up to ${Math.max(...filter.events.map(hoursOfTries))} hours after the fix: a window that ends earlier misses them`,
    ],
  ];
  return [
    heading(`Replay ${name} in ${title}`),
    GAP,
    fields(all),
    GAP,
    countTable(counts),
    ...(damaged.length === 0 ? [] : [GAP, ...describeDamage(damaged).map(text)]),
  ];
}

/** Says who is notified, and at most how often. */
function describePeople({ notify }: ReplayRequest, counts: ReplayPlan['counts']): string {
  const topics = [...counts].filter(([event]) => isNotification(event));
  if (topics.length === 0) return 'nobody: these events send no notifications';
  const total = sum(topics.map(([, of]) => sum(of.values())));
  const each = topics
    .map(([event, of]) => `${catalogue[event].effect} ${count(sum(of.values()))}`)
    .join(', ');
  return `at most ${counted(total, 'notification')} (${each}). ${notify ? NOTIFIED_AGAIN : 'Nobody is notified twice about an event.'}`;
}

function countTable(counts: ReplayPlan['counts']): Block {
  const outcomes = settledOutcomes.filter((outcome) => [...counts.values()].some((of) => of.has(outcome)));
  return {
    kind: 'table',
    columns: [
      { heading: 'EVENT' },
      { heading: 'MESSAGES', align: 'right' },
      ...outcomes.map((outcome) => ({ heading: headingOf(outcome), align: 'right' as const })),
    ],
    rows: [...counts]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([event, of]) => [
        event,
        count(sum(of.values())),
        ...outcomes.map((outcome) => count(of.get(outcome) ?? 0)),
      ]),
  };
}

/** `12 from replays, 3 forgotten`. */
export function describeUnsent({
  ofReplays,
  ofAcceptance,
  forgotten,
  tooOld,
  payloadGone,
}: Record<Unsent, number>): string {
  const reasons: readonly (readonly [number, string])[] = [
    [ofReplays, 'from replays'],
    [ofAcceptance, 'from acceptance runs (to include them, name them by --shop or --id)'],
    [forgotten, 'forgotten'],
    [tooOld, `received more than ${REPLAYABLE_RECEIPT_DAYS} days ago`],
    [payloadGone, 'without a payload'],
  ];
  return reasons
    .filter(([records]) => records > 0)
    .map(([records, reason]) => `${count(records)} ${reason}`)
    .join(', ');
}

/** Maximum number of rejected messages that are listed. */
const REFUSALS_NAMED = 20;

interface ReplayEnd {
  readonly finished: boolean;
  /** Messages in the plan. */
  readonly planned: number;
  /** Milliseconds. */
  readonly took: number;
  /** The command that sends everything again. */
  readonly command: string;
  /** A text if Firehose still has records of the window. */
  readonly unarchived: string | undefined;
}

/** What a replay has sent and skipped, and where to look next. */
export function describeEnd(
  stack: Stage,
  name: string,
  { total, sent, skipped, refused, damaged }: ReplaySender,
  { finished, planned, took, command, unarchived }: ReplayEnd,
): Block[] {
  if (!finished) {
    return [
      GAP,
      text(`Interrupted: ${count(total)} of ${manyMessages(planned)} are sent.`),
      text(`Run it again with: ${command}`),
    ];
  }
  const unsent = describeUnsent(skipped);
  return [
    GAP,
    text(`Replay ${name} is finished: sent ${manyMessages(total)} in ${duration(Math.max(1_000, took))}.`),
    GAP,
    {
      kind: 'table',
      columns: [{ heading: 'EVENT' }, { heading: 'SENT', align: 'right' }],
      rows: Object.entries(sent).map(([event, messages]) => [event, count(messages)]),
    },
    ...(unsent === '' ? [] : [GAP, text(`Skipped: ${unsent}.`)]),
    ...(refused.length === 0 ? [] : [GAP, text(`SQS rejects ${manyMessages(refused.length)}:`)]),
    ...refused
      .slice(0, REFUSALS_NAMED)
      .map(({ event, eventId, why }) => text(`  ${event} ${eventId}: ${printable(why)}`)),
    ...(refused.length > REFUSALS_NAMED ? [text('  …')] : []),
    ...(damaged.length === 0
      ? []
      : [GAP, ...describeDamage(damaged.map((fault) => ({ message: printable(fault) }))).map(text)]),
    GAP,
    text(`To follow one message:  ${stack.command('<event id>', 'trace')}`),
    text(`To see what failed:     ${stack.command('list')}`),
    ...(unarchived === undefined ? [] : [GAP, text(unarchived)]),
  ];
}

/** @param rate messages a second */
function describeTime(messages: number, rate: number): string {
  const seconds = messages / rate;
  const time = seconds < 1 ? 'about a second' : `at least ${duration(seconds * 1000)}`;
  return `${time}, at ${manyMessages(rate)} a second`;
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0);

const count = (value: number) => value.toLocaleString('en');

const toTheSecond = (time: number) => `${new Date(time + 999).toISOString().slice(0, 19)}Z`;

/** Heading for an outcome: `DEAD-LETTERED` for `DeadLettered`. */
const headingOf = (outcome: SettledOutcome) => outcome.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toUpperCase();
