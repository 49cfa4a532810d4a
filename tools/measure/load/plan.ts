import type { EventName } from '../../../lambda/events/catalogue.ts';

/** Deliveries a second at most: what one process sends is below it, and a few processes are typed side by side. */
export const MAX_RATE = 20_000;

/** Four hours: as long as it takes until new tables have doubled their capacity eight times. */
export const MAX_SECONDS = 4 * 60 * 60;

/** Shops whose ids are made. */
export const MAX_SHOPS = 100_000;

/** Connections at a time: what is beyond waits for one, and its wait counts. Ports of one machine end at 65,535. */
export const MAX_CONNECTIONS = 10_000;

/** Steps of a ramp: a run that is shorter in seconds has one for each. */
const RAMP_STEPS = 10;

/** What is to be sent. */
export interface LoadPlan {
  /** Deliveries a second; of a ramp those of its last step. */
  readonly rate: number;
  readonly seconds: number;
  /** Whether it begins low and rises in steps. */
  readonly ramp: boolean;
  /** Share of each event. They sum up to 1. */
  readonly mix: Readonly<Record<EventName, number>>;
  readonly shops: number;
  readonly connections: number;
  /** What tells the deliveries of this run from those of others: part of their ids. */
  readonly run: string;
}

/** A part of the run with a rate of its own. */
export interface PlannedStep {
  readonly rate: number;
  readonly seconds: number;
}

/** The steps of a run, one after the other; without a ramp it is one. */
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

/** Deliveries of the whole run. */
export function deliveriesOf(plan: Pick<LoadPlan, 'rate' | 'seconds' | 'ramp'>): number {
  return stepsOf(plan).reduce((sum, { rate, seconds }) => sum + rate * seconds, 0);
}
