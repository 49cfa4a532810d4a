import { pausedQueue } from '../../stage/history/locate.ts';
import { pausesOf } from '../../stage/queues/pause-state.ts';
import { oldestMessage, type QueueState, queueState, waitingQueues } from '../../stage/queues/queue.ts';
import type { Stage } from '../../stage/stage.ts';
import type { EventQueue, KeptQueue, QueueDepth, Queues } from '../api.ts';
import type { Inspect } from './queue-messages.ts';
import { Shortcomings } from './shortcomings.ts';

/** Milliseconds for which CloudWatch is not asked again: a value of it is of a minute. */
const METRIC_AGE = 60_000;

/** A queue, and when its oldest message was sent. */
type OldestAt = (url: string, state: QueueState) => Promise<Date | undefined>;

/** By a look that takes nothing. */
export function inspectedAge(inspect: Inspect): OldestAt {
  return async (url) => {
    const times = (await inspect(url)).map(({ sentAt }) => sentAt.getTime());
    return times.length === 0 ? undefined : new Date(Math.min(...times));
  };
}

/** By CloudWatch's metric, as SQS itself does not tell and a look would be an attempt. */
export class MeasuredAges {
  readonly #stack: Pick<Stage, 'cloudwatch'>;
  readonly #known = new Map<
    string,
    { readonly askedAt: number; readonly oldest: Promise<number | undefined> }
  >();

  constructor(stack: Pick<Stage, 'cloudwatch'>) {
    this.#stack = stack;
  }

  readonly oldestAt: OldestAt = async (_url, { arn, visible, inFlight }) => {
    if (visible + inFlight === 0) return undefined;
    const known = this.#known.get(arn);
    const isFresh = known !== undefined && Date.now() - known.askedAt < METRIC_AGE;
    const oldest = isFresh ? known.oldest : oldestMessage(this.#stack, arn);
    if (!isFresh) this.#known.set(arn, { askedAt: Date.now(), oldest });
    const at = await oldest;
    return at === undefined ? undefined : new Date(at);
  };
}

/** How full every queue of a stack is. What may not be known is left out and said; the rest is there. */
export async function queuesOf(stack: Stage, oldestAt: OldestAt): Promise<Queues> {
  const problems = new Shortcomings(stack.local);
  const [pauses, kept, events] = await Promise.all([
    problems.unless('what is paused', pausesOf(stack)),
    Promise.all(keptQueues(stack).map(({ name, url }) => keptQueue(name, url))),
    Promise.all(stack.events.map(eventQueue)),
  ]);
  return {
    events: events
      .filter((queue) => queue !== undefined)
      .map((queue) => {
        const pause = pauses?.find(({ event }) => event === queue.event);
        if (pause === undefined) return queue;
        return {
          ...queue,
          paused: pausedQueue(pause),
          ...(pause.turningOff && { pausing: pause.turningOff }),
        };
      }),
    kept: kept.filter((queue) => queue !== undefined),
    ...(pauses === undefined && { pausesUnknown: true as const }),
    problems: problems.lines(),
  };

  async function eventQueue(event: EventQueue['event']): Promise<EventQueue | undefined> {
    const { queueUrl, deadLetterQueueUrl } = stack.event(event);
    const [own, dead] = await Promise.all([
      depth(`the queue of ${event}`, queueUrl),
      depth(`the dead-letter queue of ${event}`, deadLetterQueueUrl),
    ]);
    return own && dead && { event, ...own, dead };
  }

  async function keptQueue(name: KeptQueue['name'], url: string): Promise<KeptQueue | undefined> {
    const known = await depth(`the ${name} queue`, url);
    return known && { name, ...known };
  }

  async function depth(title: string, url: string): Promise<QueueDepth | undefined> {
    const state = await problems.unless(title, queueState(stack.sqs, url));
    if (state === undefined) return undefined;
    const { visible, inFlight } = state;
    const oldest = await problems.unless('the age of what waits', oldestAt(url, state));
    return { visible, inFlight, ...(oldest && { oldestAt: oldest.toISOString() }) };
  }
}

function keptQueues(stack: Stage) {
  return waitingQueues(stack).flatMap(({ kind, url }) =>
    kind === 'dead-letter' ? [] : [{ name: kind, url }],
  );
}
