import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record-schema.ts';
import { catalogue, type EventName, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import { REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/limits.ts';
import type { Replay, ReplayMode } from '../../../lambda/queue/replay.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { fieldLines, table } from '../../terminal/layout.ts';
import { counted, duration, printable, shellWord } from '../../terminal/text.ts';
import { matchingRecords } from '../archive/archive-object.ts';
import { DAY, describeDamage, expiredPart, readArchive } from '../archive/read-archive.ts';
import type { RecordFilter } from '../archive/record-filter.ts';
import type { Operation } from '../operation.ts';
import { isOfAcceptance, type PayloadFilter } from '../payload-filter.ts';
import type { Stage } from '../stage.ts';

export interface ReplayOptions extends PayloadFilter {
  /** @default every event */
  readonly events: readonly EventName[];
  readonly since?: Date | undefined;
  /** @default now */
  readonly until?: Date | undefined;
  readonly outcomes?: readonly SettledOutcome[] | undefined;
  /** @default fill */
  readonly mode?: ReplayMode | undefined;
  readonly notify?: boolean | undefined;
  /** @default mode and time */
  readonly name?: string | undefined;
  /** Maximum messages a second. */
  readonly rate: number;
  /** Stops after printing the plan. */
  readonly dryRun: boolean;
  /** Does not ask for confirmation. */
  readonly yes: boolean;
}

/** What a replay sends. Its window is absolute, so that the same request sends the same records later. */
export interface ReplayRequest extends Replay, Pick<ReplayOptions, 'rate'> {
  readonly filter: RecordFilter & {
    readonly events: readonly EventName[];
    readonly since: Date;
    readonly until: Date;
  };
}

/** Why a record is not sent: the text after a number of such records. */
const UNSENT = {
  ofReplays: 'from replays',
  ofAcceptance: 'from acceptance runs (to include them, name their shop with --shop)',
  forgotten: 'forgotten',
  tooOld: `received more than ${REPLAYABLE_RECEIPT_DAYS} days ago`,
  payloadGone: 'without a payload',
};

type Unsent = keyof typeof UNSENT;

/** Number of records that are not sent, by the reason. */
export type UnsentCounts = Partial<Record<Unsent, number>>;

/** `12 from replays, 3 forgotten`. */
export const describeUnsent = (skipped: UnsentCounts): string =>
  Object.entries(UNSENT)
    .flatMap(([reason, text]) => {
      const number = skipped[reason as Unsent] ?? 0;
      return number > 0 ? `${count(number)} ${text}` : [];
    })
    .join(', ');

/** What a replay would do: its messages in total and by event and outcome, and the records that it skips. */
export type ReplayPlan = NonNullable<Awaited<ReturnType<typeof makePlan>>>;

/**
 * Counts what a replay would send. The messages are not held in memory.
 * @param later a text if the archive does not have the end of the window yet
 * @returns undefined if Ctrl-C ended it
 * @throws CommandError if there is nothing to send
 */
export async function makePlan(
  { stack, signal, progress }: Operation,
  request: ReplayRequest,
  later: string | undefined,
) {
  const expired = await expiredPart(stack, request.filter);
  const counts = new Map<EventName, Map<SettledOutcome, number>>();
  const skipped: UnsentCounts = {};
  let messages = 0;
  const reading = readArchive(stack, { ...request.filter, signal, progress, doing: 'Planning' });
  for await (const { record, unsent } of replayRecords(stack, reading, request)) {
    if (unsent !== undefined) {
      skipped[unsent] = (skipped[unsent] ?? 0) + 1;
      continue;
    }
    messages += 1;
    const { event, outcome } = record;
    const outcomes = counts.get(event) ?? new Map<SettledOutcome, number>();
    counts.set(event, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
  }
  if (signal.aborted) return undefined;
  const { damaged } = reading;
  if (messages === 0) {
    const unsent = describeUnsent(skipped);
    const facts = [
      `Nothing to replay: the archive of ${stack.title} has no such record`,
      unsent === '' ? '' : ` except ${unsent}, which a replay skips`,
      damaged.length === 0 ? '' : `. Damaged objects: ${damaged.join(', ')}`,
      later === undefined ? '' : `. ${later}`,
    ];
    throw new CommandError(facts.join(''));
  }
  return { request, messages, counts, skipped, damaged, expired, later, command: commandOf(stack, request) };
}

/**
 * The command that runs a request, also again after an interruption. Times and name are fixed, so it sends nothing that
 * settles later, and notifies nobody twice.
 */
function commandOf(stack: Stage, { name, mode, notify, rate, filter }: ReplayRequest): string {
  const { events, since, until, shop, search, outcomes = [] } = filter;
  const words = [
    ...(events.length === eventNames.length ? [] : events),
    ...['--since', since.toISOString(), '--until', until.toISOString()],
    ...(shop === undefined ? [] : ['--shop', shop]),
    ...(search === undefined ? [] : ['--search', search]),
    ...outcomes.flatMap((outcome) => ['--outcome', outcome]),
    ...['--mode', mode],
    ...(notify ? ['--notify'] : []),
    ...['--name', name, '--rate', String(rate), '--yes'],
  ];
  return printable(stack.command(words.map(shellWord).join(' '), 'replay'));
}

/**
 * The records to replay, each with the reason if it is not sent. Leaves out records of messages that this replay itself
 * has sent.
 */
export async function* replayRecords(
  stack: Stage,
  reading: ReturnType<typeof readArchive>,
  request: ReplayRequest,
): AsyncGenerator<{ record: ArchiveRecord; unsent: Unsent | undefined }> {
  for await (const record of matchingRecords(stack, reading, request.filter)) {
    if (record.replay?.name !== request.name) yield { record, unsent: unsentOf(record, request) };
  }
}

function unsentOf(record: ArchiveRecord, { filter: { shop } }: ReplayRequest): Unsent | undefined {
  const { replay, forgottenAt, receivedAt } = record;
  if (replay !== undefined) return 'ofReplays';
  if (shop === undefined && isOfAcceptance(record)) return 'ofAcceptance';
  if (forgottenAt !== undefined) return 'forgotten';
  return Date.parse(receivedAt) < Date.now() - REPLAYABLE_RECEIPT_DAYS * DAY ? 'tooOld' : undefined;
}

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

export function describePlan({ stack, width }: Operation, plan: ReplayPlan): string[] {
  const { request, messages, counts, skipped, damaged, expired, later } = plan;
  const { name, mode, filter, rate } = request;
  const only = [
    filter.shop && `shop ${printable(filter.shop)}`,
    filter.search && `payloads with ${printable(filter.search)}`,
    filter.outcomes && `outcome ${filter.outcomes.join(' or ')}`,
  ].filter(Boolean);
  const seconds = messages / rate;
  const time = seconds < 1 ? 'about a second' : `at least ${duration(seconds * 1000)}`;
  const dead = sum(counts.values().map((outcomes) => outcomes.get('DeadLettered') ?? 0));
  const hours = Math.max(...filter.events.map(hoursOfTries));
  const fields: Parameters<typeof fieldLines>[0] = [
    ['mode', MODES[mode]],
    ['people', describePeople(plan)],
    ['messages', count(messages)],
    ['time', `${time}, at ${counted(rate, 'message')} a second`],
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
  const rows = [...counts]
    .sort(([one], [other]) => one.localeCompare(other))
    .flatMap(([event, of]) => [...of].sort().map(([outcome, number]) => [event, outcome, count(number)]));
  const columns = [
    { heading: 'EVENT' },
    { heading: 'OUTCOME' },
    { heading: 'MESSAGES', align: 'right' },
  ] as const;
  return [
    `Replay ${name} in ${stack.title}`,
    '',
    ...fieldLines(fields, width),
    '',
    ...table(columns, rows, width),
    ...(damaged.length === 0 ? [] : ['', ...describeDamage(damaged)]),
    '',
    `To run this plan, also after an interruption: ${plan.command}`,
  ];
}

/** Says who is notified, and at most how often. */
function describePeople({ request: { notify }, counts }: ReplayPlan): string {
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

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0);

const count = (value: number) => value.toLocaleString('en');
