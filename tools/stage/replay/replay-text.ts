import { catalogue, type EventName, isNotification } from '../../../lambda/events/catalogue.ts';
import { REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/limits.ts';
import type { ReplayMode } from '../../../lambda/queue/replay.ts';
import { fieldLines, table } from '../../terminal/layout.ts';
import { counted, duration, printable } from '../../terminal/text.ts';
import { describeDamage } from '../archive/read-archive.ts';
import type { Operation } from '../operation.ts';
import type { ReplayPlan, ReplayRequest, UnsentCounts } from './replay-plan.ts';
import type { ReplayResult } from './replay-sender.ts';

const MODES: Readonly<Record<ReplayMode, string>> = {
  fill: 'fill: writes missing items, leaves items that are up to date',
  repair: 'repair: rewrites items from their newest events',
};

/**
 * Maximum hours for which a message is tried. Ten attempts take about three hours, and up to three days if CloudFront
 * has too many invalidations in progress (`lambda/consumer/retry.ts`). One hour more: if the archive rejects the
 * record, the message is retried for about that time.
 */
export const hoursOfTries = (event: EventName) => (catalogue[event].effect === 'shop-cache' ? 73 : 4);

/**
 * The lines of a replay's plan.
 * @param notes `rate`: messages a second. `expired` and `later`: texts if the archive no longer has the beginning of
 * the window, or does not have its end yet
 */
export function describePlan(
  { stack, width }: Operation,
  request: ReplayRequest,
  { messages, counts, skipped, damaged }: ReplayPlan,
  { rate, expired, later }: { rate: number; expired: string | undefined; later: string | undefined },
): string[] {
  const { name, mode, filter } = request;
  const only = [
    filter.shop && `shop ${printable(filter.shop)}`,
    filter.search && `payloads with ${printable(filter.search)}`,
    filter.outcomes && `outcome ${filter.outcomes.join(' or ')}`,
  ].filter(Boolean);
  const dead = sum(counts.values().map((outcomes) => outcomes.get('DeadLettered') ?? 0));
  const hours = Math.max(...filter.events.map(hoursOfTries));
  const fields: Parameters<typeof fieldLines>[0] = [
    ['mode', MODES[mode]],
    ['people', describePeople(request, counts)],
    ['messages', count(messages)],
    ['time', describeTime(messages, rate)],
    ['only', only.join('; ') || undefined],
    ['skipped', describeUnsent(skipped) || undefined],
    // A replayed dead letter is on two queues, but is processed only once.
    ['dead letters', dead > 0 && `${count(dead)}. They also stay on the dead-letter queue unless redriven.`],
    ['window', `settled from ${filter.since.toISOString()} to ${filter.until.toISOString()}`],
    ['expired', expired],
    ['later', later],
    [
      'after a fix',
      mode === 'repair' &&
        `wrong writes settle for up to ${hours} hours: an earlier end of the window misses them`,
    ],
  ];
  return [
    `Replay ${name} in ${stack.title}`,
    '',
    ...fieldLines(fields, width),
    '',
    ...countTable(counts, width),
    ...(damaged.length === 0 ? [] : ['', ...describeDamage(damaged)]),
  ];
}

/** Says who is notified, and at most how often. */
function describePeople({ notify }: ReplayRequest, counts: ReplayPlan['counts']): string {
  const topics = [...counts]
    .filter(([event]) => isNotification(event))
    .map(([event, of]) => ({ topic: catalogue[event].effect, total: sum(of.values()) }));
  if (topics.length === 0) return 'nobody: these events send no notifications';
  const each = topics.map(({ topic, total }) => `${topic} ${count(total)}`).join(', ');
  const again = notify
    ? 'People are notified again, once per replay name.'
    : 'Nobody is notified twice about an event.';
  return `at most ${counted(sum(topics.map(({ total }) => total)), 'notification')} (${each}). ${again}`;
}

function countTable(counts: ReplayPlan['counts'], width: number): string[] {
  const rows = [...counts]
    .sort(([one], [other]) => one.localeCompare(other))
    .flatMap(([event, of]) => [...of].sort().map(([outcome, messages]) => [event, outcome, count(messages)]));
  return table([{ heading: 'EVENT' }, { heading: 'OUTCOME' }, right('MESSAGES')], rows, width);
}

const UNSENT: Readonly<Record<keyof UnsentCounts, string>> = {
  ofReplays: 'from replays',
  ofAcceptance: 'from acceptance runs (to include them, name their shop with --shop)',
  forgotten: 'forgotten',
  tooOld: `received more than ${REPLAYABLE_RECEIPT_DAYS} days ago`,
  payloadGone: 'without a payload',
};

/** `12 from replays, 3 forgotten`. */
export const describeUnsent = (skipped: UnsentCounts): string =>
  Object.entries(UNSENT)
    .flatMap(([reason, text]) => {
      const number = skipped[reason as keyof UnsentCounts] ?? 0;
      return number > 0 ? `${count(number)} ${text}` : [];
    })
    .join(', ');

/**
 * What a replay has sent and skipped, and where to look next.
 * @param took milliseconds
 */
export function describeEnd(
  { stack, width }: Operation,
  name: string,
  { total, sent, skipped, damaged }: ReplayResult,
  { took, later }: { took: number; later: string | undefined },
): string[] {
  const rows = Object.entries(sent).map(([event, messages]) => [event, count(messages)]);
  const unsent = describeUnsent(skipped);
  return [
    '',
    `Replay ${name} is finished: sent ${counted(total, 'message')} in ${duration(Math.max(1_000, took))}.`,
    '',
    ...table([{ heading: 'EVENT' }, right('SENT')], rows, width),
    ...(unsent === '' ? [] : ['', `Skipped: ${unsent}.`]),
    ...(damaged.length === 0 ? [] : ['', ...describeDamage(damaged)]),
    '',
    `To follow one message:  ${stack.command('<event id>', 'trace')}`,
    `To see what failed:     ${stack.command('list')}`,
    ...(later === undefined ? [] : ['', later]),
  ];
}

/** @param rate messages a second */
function describeTime(messages: number, rate: number): string {
  const seconds = messages / rate;
  const time = seconds < 1 ? 'about a second' : `at least ${duration(seconds * 1000)}`;
  return `${time}, at ${counted(rate, 'message')} a second`;
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0);

const count = (value: number) => value.toLocaleString('en');

const right = (heading: string) => ({ heading, align: 'right' as const });
