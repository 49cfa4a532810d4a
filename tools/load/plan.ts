import type { EventName } from '../../lambda/events/catalogue.ts';
import { isThisMachine } from '../stage/stage.ts';
import { UsageError } from '../terminal/command-error.ts';

/** Maximum deliveries a second. One process may not reach it. To send more, start several at the same time. */
export const MAX_RATE = 20_000;

/** Maximum length of a run: after four hours, new tables have doubled their capacity eight times. */
export const MAX_SECONDS = 4 * 60 * 60;

/** Number of shops in the deliveries. */
export const MAX_SHOPS = 100_000;

/**
 * Maximum number of open connections. Further deliveries wait for a connection, and the wait counts. One computer has
 * 65,535 ports.
 */
export const MAX_CONNECTIONS = 10_000;

/** Maximum number of parts that are measured on their own: the steps of a ramp, or the points of a picture. */
const MAX_PARTS = { ramp: 10, steady: 60 };

export interface LoadPlan {
  readonly rate: number;
  readonly seconds: number;
  /** Whether the rate rises in steps. */
  readonly ramp: boolean;
  /** Share of each event. The shares add up to 1. */
  readonly mix: Readonly<Record<EventName, number>>;
  readonly shops: number;
  readonly connections: number;
  /** Part of the ids of all deliveries, which distinguishes this run from others. */
  readonly run: string;
}

/** The parts of a run, in order: the steps of a ramp, or else parts with the same rate. */
export function partsOf({ rate, seconds, ramp }: Pick<LoadPlan, 'rate' | 'seconds' | 'ramp'>) {
  const count = Math.min(seconds, MAX_PARTS[ramp ? 'ramp' : 'steady']);
  const beginOf = (part: number) => Math.floor((part * seconds) / count);
  return Array.from({ length: count }, (_, part) => ({
    rate: ramp ? Math.max(1, Math.round((rate * (part + 1)) / count)) : rate,
    /** The first second of the part since the run began, and its number of seconds. */
    begin: beginOf(part),
    seconds: beginOf(part + 1) - beginOf(part),
  }));
}

export const deliveriesOf = (plan: LoadPlan) =>
  partsOf(plan).reduce((sum, { rate, seconds }) => sum + rate * seconds, 0);

/**
 * Checks the address of --url: it must be this computer, or a host that is repeated with --i-own. A load test of
 * somebody else's host is an attack, and a mistyped address belongs to somebody else.
 * @param owned the host of --i-own
 * @throws CommandError if the host is neither, or the text is not an address
 */
export function loadTarget(url: string, owned = ''): URL {
  const target = URL.parse(url);
  if (target === null || !/^https?:$/.test(target.protocol) || target.username + target.password !== '') {
    throw new UsageError('--url must be an address that begins with http:// or https://, without a user');
  }
  if (isThisMachine(target) || [target.host, target.hostname].includes(owned.toLowerCase())) return target;
  const advice = `If you own it, confirm its name: --i-own ${target.hostname}`;
  throw new UsageError(`${target.host} is not this machine. ${advice}`);
}
