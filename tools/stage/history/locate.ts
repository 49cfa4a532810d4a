import { isEventName } from '../../../lambda/contract/catalogue.ts';
import { pauseOf, pauseState } from '../queues/pause-state.ts';
import { queueState, waitingQueues } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';
import type { InWork, Kept, PausedQueue, Timeline, Whereabouts } from './timeline.ts';

/**
 * Adds what queues tell without being disturbed: whether an event is paused, how many messages are kept beside this
 * one, and until when. What may not be asked is left out.
 */
export async function locate(stack: Stage, timeline: Timeline): Promise<Timeline> {
  const [first, ...others] = timeline.now;
  return {
    ...timeline,
    now: [await look(stack, first), ...(await Promise.all(others.map((place) => look(stack, place))))],
  };
}

async function look(stack: Stage, place: Whereabouts): Promise<Whereabouts> {
  switch (place.state) {
    case 'waiting':
    case 'backing off':
    case 'overdue':
      return lookWhetherPaused(stack, place);
    case 'dead letter':
    case 'quarantined':
    case 'parked':
      return lookAtQueue(stack, place);
    default:
      return place;
  }
}

async function lookWhetherPaused(stack: Stage, place: InWork): Promise<InWork> {
  if (!isEventName(place.queue)) return place;
  const paused = await pauseOfEvent().catch(() => undefined);
  return paused === undefined ? place : { ...place, paused };

  async function pauseOfEvent(): Promise<PausedQueue | undefined> {
    if (!isEventName(place.queue)) return undefined;
    const { queue, source, paused: alarm } = await pauseState(stack, place.queue);
    const pause = pauseOf(place.queue, queue, source, alarm);
    if (pause === undefined || pause.running) return undefined;
    const { by, reason, since } = pause;
    return {
      ...(by !== undefined && { by }),
      ...(reason !== undefined && { reason }),
      ...(since !== undefined && { since: since.toISOString() }),
    };
  }
}

async function lookAtQueue(stack: Stage, place: Kept): Promise<Kept> {
  const queue = waitingQueues(stack).find(({ name }) => name === place.queue);
  const state = queue && (await queueState(stack.sqs, queue.url).catch(() => undefined));
  if (state === undefined) return place;
  return {
    ...place,
    until: new Date(Date.parse(place.since) + state.retention * 1000).toISOString(),
    queueHolds: state.visible + state.inFlight,
  };
}
