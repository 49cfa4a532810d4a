import type { EventName } from '../../../lambda/events/catalogue.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';
import { isThisMachine } from '../../stage/stage.ts';

/** Maximum deliveries a second. One process may not reach it. To send more, start several at the same time. */
export const MAX_RATE = 20_000;

/** Four hours: until then new tables have doubled their capacity eight times. */
export const MAX_SECONDS = 4 * 60 * 60;

/** Number of shops in the deliveries. */
export const MAX_SHOPS = 100_000;

/** Open connections. Further deliveries wait for one, and their wait counts. One computer has 65,535 ports. */
export const MAX_CONNECTIONS = 10_000;

/** Steps of a ramp. A shorter run has one for each second. */
const RAMP_STEPS = 10;

export interface LoadPlan {
  /** Deliveries a second. In a ramp, those of the last step. */
  readonly rate: number;
  readonly seconds: number;
  /** Whether the rate rises in steps. */
  readonly ramp: boolean;
  /** Share of each event. They add up to 1. */
  readonly mix: Readonly<Record<EventName, number>>;
  readonly shops: number;
  readonly connections: number;
  /** Part of the ids of all deliveries, which distinguishes this run from others. */
  readonly run: string;
}

/** A part of the run with its own rate. */
export interface PlannedStep {
  readonly rate: number;
  readonly seconds: number;
}

/** The steps of a run, in order. Without a ramp there is one. */
export function stepsOf({ rate, seconds, ramp }: Pick<LoadPlan, 'rate' | 'seconds' | 'ramp'>): PlannedStep[] {
  const count = ramp ? Math.min(RAMP_STEPS, seconds) : 1;
  const beginOf = (step: number) => Math.floor((step * seconds) / count);
  return Array.from({ length: count }, (_, step) => ({
    rate: Math.max(1, Math.round((rate * (step + 1)) / count)),
    seconds: beginOf(step + 1) - beginOf(step),
  }));
}

/** Deliveries of each second, in order. */
export function ratesOf(plan: Pick<LoadPlan, 'rate' | 'seconds' | 'ramp'>): number[] {
  return stepsOf(plan).flatMap(({ rate, seconds }) => Array.from({ length: seconds }, () => rate));
}

export function deliveriesOf(plan: Pick<LoadPlan, 'rate' | 'seconds' | 'ramp'>): number {
  return stepsOf(plan).reduce((sum, { rate, seconds }) => sum + rate * seconds, 0);
}

/**
 * Checks the address of --url: it must be this computer, or a host that is repeated with --i-own. A load test of
 * somebody else's host is an attack, and a mistyped address belongs to somebody else.
 * @param owned the host of --i-own
 * @throws CommandError if it is neither, or not an address
 */
export function loadTarget(url: string, owned: string | undefined): URL {
  const target = URL.parse(url);
  if (target === null || !/^https?:$/.test(target.protocol)) {
    throw new CommandError(`--url must be an address that begins with http:// or https://, not '${url}'`);
  }
  if (target.username !== '' || target.password !== '') {
    throw new CommandError('--url must not contain a user: a delivery has only its signature');
  }
  const names = [target.host, target.hostname];
  if (isThisMachine(target) || (owned !== undefined && names.includes(owned.toLowerCase()))) return target;
  throw new CommandError(
    owned === undefined
      ? `${target.host} is not this machine. If you own it, confirm its name: --i-own ${target.hostname}`
      : `--url leads to ${target.host}, and --i-own names ${owned}: both must be the same host`,
  );
}
