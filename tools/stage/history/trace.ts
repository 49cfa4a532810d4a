import { type EventName, isEventName } from '../../../lambda/events/catalogue.ts';
import { type Pause, pauseState } from '../queues/pause-state.ts';
import { queueState, waitingQueues } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';
import type { Effect } from './facts.ts';
import { findFacts, type Sources } from './find-facts.ts';
import { fold } from './fold.ts';
import type { History, HistoryPlace, PausedQueue } from './history.ts';
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
  const history = await locate(stage, fold(facts));
  const effects = await localEffects(stage, history.steps.find(({ kind }) => kind === 'queued')?.requestId);
  return { stack: stage.title, id, idIs, history, effects, sources };
}

/**
 * Adds facts from the queues that can be read without receiving messages: whether an event is paused, how many other
 * messages are on the queue, and when SQS deletes this one. Leaves out anything without permission.
 */
export async function locate(stage: Stage, history: History): Promise<History> {
  const [first, ...others] = history.now;
  const rest = await Promise.all(others.map((place) => look(stage, place)));
  return { ...history, now: [await look(stage, first), ...rest] };
}

async function look(stage: Stage, place: HistoryPlace): Promise<HistoryPlace> {
  const { state, queue = '' } = place;
  if (state === 'queued' || state === 'retrying') {
    const paused = isEventName(queue) && (await pauseOfEvent(stage, queue).catch(() => undefined));
    return paused ? { ...place, state: 'paused', paused } : place;
  }
  const kept = ['dead-letter', 'invalid', 'parked'].includes(state)
    ? waitingQueues(stage).find(({ name }) => name === queue)
    : undefined;
  const holds = kept && (await queueState(stage.sqs, kept.url).catch(() => undefined));
  if (holds === undefined) return place;
  const until = new Date(Date.parse(place.since) + holds.retention * 1000).toISOString();
  return { ...place, until: place.until ?? until, queueHolds: holds.visible + holds.inFlight };
}

async function pauseOfEvent(stage: Stage, event: EventName): Promise<PausedQueue | undefined> {
  const { pause } = await pauseState(stage, event);
  // While it is being turned off, the event source still processes messages.
  return pause === undefined || pause.running || pause.turningOff ? undefined : pausedQueue(pause);
}

export const pausedQueue = ({ by, reason, since }: Pause): PausedQueue => ({
  by,
  reason,
  since: since?.toISOString(),
});
