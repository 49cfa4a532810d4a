import { type EventName, isEventName } from '../../../lambda/events/catalogue.ts';
import { type Pause, pauseState } from '../queues/pause-state.ts';
import { queueState, waitingQueues } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';
import { deriveHistory } from './derive-history.ts';
import type { Effect } from './facts.ts';
import { findFacts, type Sources } from './find-facts.ts';
import type { History, HistoryLocation, PausedQueue } from './history.ts';
import { localEffects } from './local-effects.ts';
import type { IdKind } from './trace-id.ts';

/** Printed by `npx hookctl trace <id> --json`. */
export interface Trace {
  /** Title for people: `the local stack`, `stage prod in eu-west-1`. */
  readonly stack: string;
  /** The id that the user asked for. */
  readonly id: string;
  readonly idIs: IdKind;
  readonly history: History;
  /** What the event changed. Empty for a stage in AWS, and without the console of the local stack. */
  readonly effects: readonly Effect[];
  readonly sources: Sources;
}

/**
 * Finds the history of one event by any of its ids.
 * @returns undefined if it was interrupted
 * @throws CommandError if the id matches no event, or more than one
 */
export async function traceDelivery(
  stage: Stage,
  id: string,
  options: Parameters<typeof findFacts>[2],
): Promise<Trace | undefined> {
  const found = await findFacts(stage, id, options);
  if (found === undefined) return undefined;
  const { idIs, facts, sources } = found;
  const history = await locate(stage, deriveHistory(facts));
  const effects = await localEffects(stage, history.steps.find(({ kind }) => kind === 'queued')?.requestId);
  return { stack: stage.title, id, idIs, history, effects, sources };
}

/**
 * Adds what can be read of the queues without receiving messages: whether an event is paused, how many other messages
 * are on the queue, and when SQS deletes this one. Without a permission, it leaves that part out.
 */
export async function locate(stage: Stage, history: History): Promise<History> {
  const [first, ...others] = history.now;
  const rest = await Promise.all(others.map((location) => withQueueState(stage, location)));
  return { ...history, now: [await withQueueState(stage, first), ...rest] };
}

async function withQueueState(stage: Stage, location: HistoryLocation): Promise<HistoryLocation> {
  const { state, queue = '' } = location;
  if (state === 'queued' || state === 'retrying') {
    const paused = isEventName(queue) && (await pauseOfEvent(stage, queue).catch(() => undefined));
    return paused ? { ...location, state: 'paused', paused } : location;
  }
  const waitingOn = ['dead-letter', 'invalid', 'parked'].includes(state)
    ? waitingQueues(stage).find(({ name }) => name === queue)
    : undefined;
  const counts = waitingOn && (await queueState(stage.sqs, waitingOn.url).catch(() => undefined));
  if (counts === undefined) return location;
  const until = new Date(Date.parse(location.since) + counts.retention * 1000).toISOString();
  return { ...location, until: location.until ?? until, queueHolds: counts.visible + counts.inFlight };
}

async function pauseOfEvent(stage: Stage, event: EventName): Promise<PausedQueue | undefined> {
  const { pause } = await pauseState(stage, event);
  // While an event source is being turned off, it still processes messages.
  return pause === undefined || pause.running || pause.turningOff ? undefined : pausedQueue(pause);
}

export const pausedQueue = ({ by, reason, since }: Pause): PausedQueue => ({
  by,
  reason,
  since: since?.toISOString(),
});
