import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSamples } from '../../../events/samples.ts';
import type { ProgressDisplay } from '../../cli/terminal/progress.ts';
import { Generator } from './generator.ts';
import { slowness, uselessness } from './judge.ts';
import { Measurements } from './measurements.ts';
import { type LoadPlan, ratesOf } from './plan.ts';
import { SignedAhead } from './signed-ahead.ts';

/** Milliseconds until the first delivery: as long as it takes until some are signed, unless the machine is busy. */
const LEAD = 500;

/** Milliseconds between two looks at how it goes. */
const LOOK_INTERVAL = 250;

/** Milliseconds between two measurements of how late the event loop is. */
const DELAY_RESOLUTION = 10;

/** Where and how a plan is carried out. */
export interface RunOptions {
  readonly plan: LoadPlan;
  readonly url: URL;
  readonly secret: string;
  /** Ends it early; what was measured stands. */
  readonly signal: AbortSignal;
  readonly progress: ProgressDisplay;
  /** Says something at once. */
  readonly warn: (line: string) => void;
  /** Deliveries under way at which it ends early. @default what memory holds */
  readonly mostUnderWay?: number;
}

/** A run that has ended. */
export interface Run {
  readonly plan: LoadPlan;
  readonly url: URL;
  readonly measurements: Measurements;
  /** Epoch milliseconds of its first second. */
  readonly begin: number;
  /** How long deliveries were sent, in milliseconds. */
  readonly lasted: number;
  /** Milliseconds from its first second until nothing more was waited for. */
  readonly over: number;
  /** Why it ended early. */
  readonly ended?: string;
  /** What the machine that sends was short of. */
  readonly tooSlow?: string;
  /** Milliseconds that the event loop was late, at the 99th percentile. */
  readonly loopDelay: number;
}

/** Sends what is planned, and waits for the answers. */
export async function runLoad({
  plan,
  url,
  secret,
  signal,
  progress,
  warn,
  mostUnderWay,
}: RunOptions): Promise<Run> {
  const measurements = new Measurements(plan);
  const rates = ratesOf(plan);
  const planned = Date.now() + LEAD;
  const options = { plan, samples: readSamples(), secret };
  await using ahead = new SignedAhead(options, rates, planned);
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
    const soFar = { host: url.host, elapsed, endings, lateBy, underWay };
    const useless = uselessness(soFar, mostUnderWay);
    if (useless !== undefined && !until.aborted) {
      ended = useless;
      early.abort();
    }
    const slow = slowness(soFar);
    if (slow !== undefined && tooSlow === undefined) {
      tooSlow = slow;
      progress.end();
      warn(slow);
    }
  };

  await ahead.ready();
  const begin = Math.max(planned, Date.now());
  await sleep(begin - Date.now(), undefined, { signal }).catch(() => {});
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
