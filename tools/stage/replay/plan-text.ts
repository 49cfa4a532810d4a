import { catalogue, type EventName } from '../../../lambda/contract/catalogue.ts';
import { REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/queue/replay.ts';
import { prices } from '../../../lib/prices.ts';
import { dollars } from '../../cost/line-item.ts';
import { invalidatedPaths, type ReplayLoad, replayCosts } from '../../cost/replay-cost.ts';
import { isNotification } from '../../cost/write-units.ts';
import { facts } from '../../terminal/facts.ts';
import { table } from '../../terminal/table.ts';
import { duration, printable } from '../../terminal/text.ts';
import { settledOutcomes } from '../archive/filter.ts';
import { describeDamage } from '../archive/scan.ts';
import type { Plan } from './plan.ts';
import type { ReplayRequest } from './request.ts';
import type { Skip, Tally } from './tally.ts';

/** What is said of a replay before it begins. */
export interface PlanText {
  readonly title: string;
  readonly request: ReplayRequest;
  readonly plan: Plan;
  /** Messages a second at most. */
  readonly rate: number;
  /** Milliseconds by which the archive is late. */
  readonly delay: number;
  /** What to say of a window that begins before the archive. */
  readonly expired: string | undefined;
  readonly width: number;
}

/**
 * Hours by which what came before a mend may be settled after it: three of attempts, and one in which the archive refuses
 * and the message comes once more.
 */
const LATE_SETTLED_HOURS = 4;

/** The plan of a replay, in lines. */
export function describePlan({ title, request, plan, rate, delay, expired, width }: PlanText): string[] {
  const { name, mode, notify } = request;
  const { records, objects, bytes, damaged } = plan;
  const seconds = records.messages / rate;
  const load: ReplayLoad = {
    messages: new Map([...records.byEvent.keys()].map((event) => [event, records.of(event)])),
    bodyBytes: records.bytes / Math.max(1, records.messages),
    oversize: records.oversize,
    objects,
    archiveBytes: bytes,
    seconds,
    mode,
    notify,
  };
  const paths = invalidatedPaths(load);
  const writtenAt = Date.parse(request.filter.until) + delay;
  return [
    `Replay ${name} in ${title}`,
    '',
    ...facts(
      [
        ...describeRequest(request, records),
        ['first', String(records.first)],
        ['last', String(records.last)],
        ...(expired === undefined ? [] : [['expired', expired] as const]),
        ...(unsent(records.skipped) === '' ? [] : [['not sent', unsent(records.skipped)] as const]),
        ...describeDeadLetters(records),
        ['archive', `${count(objects)} ${objects === 1 ? 'object' : 'objects'}, ${size(bytes)}`],
        ...(writtenAt > Date.now()
          ? [
              [
                'newest',
                `what Firehose has yet to write is waited for, until ${shortTime(writtenAt)}`,
              ] as const,
            ]
          : []),
        ['time', describeTime(seconds, rate)],
        ['cost', describeCost(load)],
        ...(paths === 0 ? [] : [['CloudFront', describePaths(paths)] as const]),
      ],
      width,
    ),
    '',
    ...describeRecords(records, width),
    ...(damaged.length === 0 ? [] : ['', ...describeDamage(damaged)]),
  ];
}

/** What a replay is to do, of which records. */
function describeRequest(
  { mode, notify, filter, typed }: ReplayRequest,
  records: Tally,
): (readonly [string, string])[] {
  const only = [
    filter.shop === undefined ? [] : `shop ${printable(filter.shop)}`,
    filter.ids === undefined ? [] : `ids ${filter.ids.map(printable).join(', ')}`,
    filter.outcomes === undefined ? [] : filter.outcomes.join(', '),
  ].flat();
  return [
    ['mode', mode],
    ...describeModes(records),
    ['people', describeTelling(notify, records)],
    ['window', `settled since ${filter.since}, until ${filter.until}`],
    ...(mode === 'fill' || typed.until === undefined
      ? []
      : [
          [
            'end',
            `what came before a mend may be settled up to ${LATE_SETTLED_HOURS} hours after it: leave --until out, or let it be that much later`,
          ] as const,
        ]),
    ...(only.length === 0 ? [] : [['only', only.join('; ')] as const]),
  ];
}

/** What each mode would do with these, so that the plan of one is enough to choose. */
function describeModes(records: Tally): (readonly [string, string])[] {
  const events = [...records.byEvent.keys()];
  const total = (of: readonly EventName[]) => sum(of.map((event) => records.of(event)));
  const told = total(events.filter(isNotification));
  const state = total(events) - told;
  const line = (ofState: string, ofTelling: string) =>
    [state > 0 ? ofState : [], told > 0 ? ofTelling : []].flat().join('; ');
  const again = `${count(told)} of notifications: only who was never told is told`;
  return [
    ['fill', line(`${count(state)} of state: what is up to date is left, what is missing is written`, again)],
    [
      'repair',
      line(`${count(state)} of state: at most so many rows are written anew, by their newest event`, again),
    ],
    ...(told > 0 ? [['notify', `with either mode, at most ${count(told)} are told again`] as const] : []),
  ];
}

function describeTelling(notify: boolean, records: Tally): string {
  const telling = [...records.byEvent.keys()].filter(isNotification);
  if (telling.length === 0) return 'these events tell nobody';
  if (!notify) return 'who was told of an event is not told again';
  const topics = telling.map((event) => `${count(records.of(event))} to the ${topicOf(event)} topic`);
  return `told again, once by this name: at most ${topics.join(', ')}`;
}

const topicOf = (event: EventName) => catalogue[event].effect;

/** What was buried and not redriven is in two places then, and done twice, which has no second effect. */
function describeDeadLetters(records: Tally): (readonly [string, string])[] {
  const buried = sum([...records.byEvent.values()].map((outcomes) => outcomes.get('DeadLettered') ?? 0));
  if (buried === 0) return [];
  return [['dead', `${count(buried)} became dead letters: those that nobody has redriven stay there, too`]];
}

function describeRecords(records: Tally, width: number): string[] {
  const events = [...records.byEvent.keys()].sort();
  const outcomes = settledOutcomes.filter((outcome) =>
    events.some((event) => records.byEvent.get(event)?.has(outcome)),
  );
  return table(
    [
      { heading: 'EVENT' },
      { heading: 'MESSAGES', align: 'right' },
      ...outcomes.map((outcome) => ({ heading: outcome.toUpperCase(), align: 'right' as const })),
    ],
    events.map((event) => [
      event,
      count(records.of(event)),
      ...outcomes.map((outcome) => count(records.byEvent.get(event)?.get(outcome) ?? 0)),
    ]),
    width,
  );
}

/** `12 of replays, 3 forgotten`. */
export function unsent({
  ofReplays,
  forgotten,
  tooOld,
  payloadGone = 0,
}: Record<Skip, number> & { readonly payloadGone?: number }): string {
  return [
    ofReplays > 0 ? `${count(ofReplays)} of replays` : [],
    forgotten > 0 ? `${count(forgotten)} forgotten` : [],
    tooOld > 0 ? `${count(tooOld)} received more than ${REPLAYABLE_RECEIPT_DAYS} days ago` : [],
    payloadGone > 0 ? `${count(payloadGone)} whose payload is gone` : [],
  ]
    .flat()
    .join(', ');
}

/**
 * Paths of invalidations that are in progress in a distribution at most, and those with a wildcard. Source: CloudFront
 * developer guide, "Concurrent invalidation request maximum".
 */
const PATHS_AT_A_TIME = 3_000;
const WILDCARDS_AT_A_TIME = 15;

function describePaths(paths: number): string {
  const price = money(paths * prices.cloudFrontInvalidationPath);
  return [
    `where the stage has a distribution, ${count(paths)} ${paths === 1 ? 'path' : 'paths'} more at most: ${price}.`,
    paths > WILDCARDS_AT_A_TIME
      ? ` It has ${count(PATHS_AT_A_TIME)} in progress at most, ${WILDCARDS_AT_A_TIME} with wildcards, and refuses more, which is tried again: --rate 10 keeps below; with wildcards take some hundred shops at a time`
      : '',
  ].join('');
}

function describeTime(seconds: number, rate: number): string {
  const shortest = seconds < 1 ? 'less than a second' : duration(seconds * 1000);
  return `${shortest} at ${count(rate)} a second; more where consumers take longer`;
}

/** What it costs, and the services that it is paid to, the dearest first. */
function describeCost(load: ReplayLoad): string {
  const items = replayCosts(load);
  const services = [...new Set(items.map(({ service }) => service))]
    .map((service) => {
      const price = sum(items.filter((item) => item.service === service).map(dollars));
      return { service, price };
    })
    .filter(({ price }) => price >= CENT)
    .sort((one, other) => other.price - one.price)
    .map(({ service, price }) => `${service} ${money(price)}`);
  const total = sum(items.map(dollars));
  if (total < CENT) return 'less than a cent';
  return `about ${money(total)} in us-east-1${services.length === 0 ? '' : `: ${services.join(', ')}`}`;
}

const CENT = 0.01;

const money = (price: number) => `$${price.toFixed(2)}`;

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

const count = (value: number) => value.toLocaleString('en');

const MEGABYTE = 1024 ** 2;

const size = (bytes: number) =>
  bytes < MEGABYTE ? `${count(Math.ceil(bytes / 1024))} KB` : `${count(Math.round(bytes / MEGABYTE))} MB`;

/** To the second. */
const shortTime = (time: number) => `${new Date(Math.ceil(time / 1000) * 1000).toISOString().slice(0, 19)}Z`;
