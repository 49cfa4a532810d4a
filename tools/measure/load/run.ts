import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSamples } from '../../../events/samples.ts';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import type { ProgressDisplay } from '../../cli/terminal/progress.ts';
import { SignedDeliveries } from './deliveries.ts';
import { Generator } from './generator.ts';
import { Measurements } from './measurements.ts';
import { type LoadPlan, ratesOf } from './plan.ts';

/** Milliseconds until the first delivery: usually enough to sign some. */
const LEAD = 500;

/** Milliseconds between two checks of the run. */
const LOOK_INTERVAL = 250;

/** Milliseconds between two measurements of the event loop's delay. */
const DELAY_RESOLUTION = 10;

export interface RunOptions {
  readonly plan: LoadPlan;
  readonly url: URL;
  readonly secret: string;
  /** Ends the run early. The measurements so far are kept. */
  readonly signal: AbortSignal;
  readonly progress: ProgressDisplay;
  /** Prints a warning at once. */
  readonly warn: (line: string) => void;
  /** @default {@link MAX_UNDER_WAY} */
  readonly maxUnderWay?: number;
}

export interface Run {
  readonly plan: LoadPlan;
  readonly url: URL;
  readonly measurements: Measurements;
  /** Epoch milliseconds of its first second. */
  readonly begin: number;
  /** How long deliveries were sent, in milliseconds. */
  readonly lasted: number;
  /** Milliseconds from its first second until the last wait ended. */
  readonly over: number;
  readonly ended?: string;
  /** Why the sending computer could not keep the rate. */
  readonly tooSlow?: string;
  /** Milliseconds that the event loop was late, at p99. */
  readonly loopDelay: number;
}

/** Sends the planned deliveries, and waits for the answers. */
export async function runLoad({
  plan,
  url,
  secret,
  signal,
  progress,
  warn,
  maxUnderWay,
}: RunOptions): Promise<Run> {
  const measurements = new Measurements(plan);
  const rates = ratesOf(plan);
  const planned = Date.now() + LEAD;
  const options = { plan, samples: readSamples(), secret };
  await using ahead = new SignedDeliveries(options, rates, planned);
  using generator = new Generator(url, plan.connections, measurements);
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION });
  const early = new AbortController();
  const until = AbortSignal.any([signal, early.signal]);
  let ended: string | undefined;
  let tooSlow: string | undefined;

  const look = () => {
    generator.sweep();
    const { elapsed, lateBy, underWay } = generator;
    const { sent, endings } = measurements;
    const failed = [...endings].reduce((sum, [came, count]) => sum + (came === 200 ? 0 : count), 0);
    progress.show({
      doing: 'Sending',
      done: sent,
      total: rates.reduce((sum, rate) => sum + rate, 0),
      unit: 'deliveries',
      note: `${underWay.toLocaleString('en')} unanswered, ${failed.toLocaleString('en')} not 200`,
    });
    const state = { host: url.host, elapsed, endings, lateBy, underWay };
    const useless = abortReason(state, maxUnderWay);
    if (useless !== undefined && !until.aborted) {
      ended = useless;
      early.abort();
    }
    const slow = senderTooSlow(state);
    if (slow !== undefined && tooSlow === undefined) {
      tooSlow = slow;
      progress.end();
      warn(slow);
    }
  };

  await ahead.ready();
  const begin = Math.max(planned, Date.now());
  await sleep(Math.max(0, begin - Date.now()), undefined, { signal }).catch(() => {});
  delay.enable();
  const looking = setInterval(look, LOOK_INTERVAL);
  let lasted: number;
  try {
    await generator.send(ahead, begin, until);
    lasted = Math.max(0, generator.elapsed);
    await generator.settle(until);
  } finally {
    clearInterval(looking);
    delay.disable();
    progress.end();
  }
  if (signal.aborted) ended = 'It was interrupted.';
  return {
    plan,
    url,
    measurements,
    begin,
    lasted,
    over: Math.max(0, generator.elapsed),
    ...(ended !== undefined && { ended }),
    ...(tooSlow !== undefined && { tooSlow }),
    loopDelay: Math.max(0, delay.percentile(99) / 1e6 - DELAY_RESOLUTION),
  };
}

interface RunState {
  readonly host: string;
  /** Milliseconds since it began. */
  readonly elapsed: number;
  /** By status, or by the kind of error if there was no answer. */
  readonly endings: ReadonlyMap<number | string, number>;
  /** Milliseconds by which the next delivery is late. */
  readonly lateBy: number;
  readonly underWay: number;
}

/**
 * Number of deliveries without an answer at which a run is aborted. Each takes 6 to 13 kB (measured), about a gigabyte
 * in total. At the highest rate, this many are sent in five seconds.
 */
const MAX_UNDER_WAY = 100_000;

/**
 * A run is aborted if at least this many deliveries ended, all in the same way, or if all did for this many
 * milliseconds.
 */
const ENOUGH = { deliveries: 10, milliseconds: 3_000 };

/** Milliseconds without any answer or error. A cold start takes a second or two. */
const SILENCE = 10_000;

/** Milliseconds. A pause of the garbage collector is shorter. */
const TOO_LATE = 500;

/** Errors that are not the receiver's. */
export const LOCAL_ERRORS: Readonly<Record<string, string>> = {
  EMFILE: 'this machine has no file descriptors left: fewer --connections, or a higher ulimit -n',
  EADDRNOTAVAIL: 'this machine has no ports left: fewer --connections',
};

/** Answers of an overloaded receiver or gateway. They do not show whether address and secret are right. */
const OVERLOADED: readonly (number | string)[] = [429, 503];

/** @returns why continuing is useless; undefined if it is not */
export function abortReason(
  { host, elapsed, endings, underWay }: RunState,
  maxUnderWay = MAX_UNDER_WAY,
): string | undefined {
  if (underWay >= maxUnderWay) {
    return `${underWay.toLocaleString('en')} deliveries wait for an answer of ${host}. The limit for this machine is ${maxUnderWay.toLocaleString('en')}. The host is too slow, or --connections is too low. Lower --rate, or check that the host is running.`;
  }
  if (endings.size === 0) {
    if (elapsed < SILENCE) return undefined;
    return `${host} has not answered anything for ${SILENCE / 1_000} s. Is it the right address, and does a firewall block this machine?`;
  }
  const kinds = [...endings.keys()];
  if (kinds.every((kind) => typeof kind === 'string')) {
    // Deliveries without an answer may still succeed: a cold start takes longer than an error.
    const failed = countOf(endings, kinds);
    if ((failed < underWay && elapsed < SILENCE) || !isEnough(endings, kinds, elapsed)) return undefined;
    const own = kinds.map((kind) => LOCAL_ERRORS[kind]).find((meaning) => meaning !== undefined);
    if (own !== undefined) return `No delivery was answered: ${own}.`;
    return `Nothing answers at ${host}: ${kinds.join(', ')}. Is the address right, and is the host running?`;
  }
  const telling = kinds.filter((kind) => typeof kind === 'number' && !OVERLOADED.includes(kind));
  const [only] = telling;
  if (telling.length !== 1 || typeof only !== 'number' || !isEnough(endings, telling, elapsed)) {
    return undefined;
  }
  const why = refusal(only);
  return why === undefined ? undefined : `${host} answers ${only} and never 200: ${why}`;
}

function isEnough(
  endings: RunState['endings'],
  kinds: readonly (number | string)[],
  elapsed: number,
): boolean {
  return countOf(endings, kinds) >= ENOUGH.deliveries || elapsed >= ENOUGH.milliseconds;
}

const countOf = (endings: RunState['endings'], kinds: readonly (number | string)[]) =>
  kinds.reduce<number>((sum, kind) => sum + (endings.get(kind) ?? 0), 0);

/** The meaning of a status that every delivery gets. Undefined for one that may be temporary. */
function refusal(status: number): string | undefined {
  if (status >= 300 && status < 400) {
    return 'it redirects, and deliveries do not follow redirects. Use the address that it redirects to';
  }
  if (status === 401) return 'the secret is wrong. Set the right one with WEBHOOK_SECRET or --secret';
  if (status === 403) {
    return `something before the receiver rejects it, such as a firewall, or a REST API without this path. The path ends in ${WEBHOOK_PATH}`;
  }
  if (status === 404) {
    return `this path does not exist. Is the address complete? The path ends in ${WEBHOOK_PATH}`;
  }
  return undefined;
}

/** @returns a warning if the sending computer is too slow */
export function senderTooSlow({ lateBy }: Pick<RunState, 'lateBy'>): string | undefined {
  if (lateBy < TOO_LATE) return undefined;
  return `This machine cannot keep the rate: it is ${(lateBy / 1_000).toFixed(1)} s behind. Lower --rate, stop other programs, or split the rate among several machines.`;
}
