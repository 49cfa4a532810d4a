import { type Context, Hono } from 'hono';
import type { LocalStack } from 'local-aws';
import { pausedQueue } from '../../stage/history/trace.ts';
import { pausesOf } from '../../stage/queues/pause-state.ts';
import { oldestMessage, type QueueState, queueState, waitingQueues } from '../../stage/queues/queue.ts';
import type { Stage } from '../../stage/stage.ts';
import type { EventQueueInfo, QueueDepth, QueuesInfo, ReceiverQueue } from '../api.ts';
import { problemOf } from './api-problem.ts';
import {
  bytesAnswer,
  type ConsoleContext,
  type ConsoleEnv,
  endOf,
  type LocalParts,
  readQuery,
} from './console-context.ts';
import { messagePayload, PartialFailures, waitingMessages } from './queue-messages.ts';

/** Milliseconds for which a value from CloudWatch is reused. The metric has one value per minute. */
const METRIC_AGE = 60_000;

type OldestAt = (url: string, state: QueueState) => Promise<Date | undefined>;

export function queueRoutes(console: ConsoleContext) {
  const reader = (c: Context<ConsoleEnv>) => ({ ...console, signal: endOf(c, console) });

  return new Hono<ConsoleEnv>()
    .get('/queues', async (c) => {
      readQuery(c, {});
      return c.json(await console.watch.read());
    })
    .get('/needs-you', async (c) => {
      readQuery(c, {});
      return c.json(await waitingMessages(reader(c)));
    })
    .get('/needs-you/:queue/:id/body', async (c) => {
      readQuery(c, {});
      return bytesAnswer(c, await messagePayload(reader(c), c.req.param('queue'), c.req.param('id')));
    });
}

/** @returns a function that reads the current depth of every queue */
export function queuesReader(stage: Stage, local: LocalParts | undefined) {
  const oldestAt = local === undefined ? measuredAge(stage) : inspectedAge(local.stack);
  return async (): Promise<QueuesInfo> => {
    try {
      return await queuesOf(stage, oldestAt);
    } catch (error) {
      const problem = problemOf(error);
      if (problem === undefined) throw error;
      return { events: [], receiverQueues: [], pausesUnknown: true, problems: [problem.message] };
    }
  };
}

/** Age of the oldest message on a local queue, which can be read without receiving messages. */
function inspectedAge(stack: LocalStack): OldestAt {
  return async (url) => {
    const messages = await stack.inspectQueue(url);
    return messages.reduce<Date | undefined>(
      (oldest, { sentAt }) => (oldest === undefined || sentAt < oldest ? sentAt : oldest),
      undefined,
    );
  };
}

/**
 * Age of the oldest message from CloudWatch's metric, because SQS does not report it, and receiving a message
 * would count as an attempt.
 */
function measuredAge(stack: Pick<Stage, 'cloudwatch'>): OldestAt {
  const known = new Map<string, { readonly askedAt: number; readonly oldest: Promise<number | undefined> }>();
  return async (_url, { arn, visible, inFlight }) => {
    if (visible + inFlight === 0) return undefined;
    let answer = known.get(arn);
    if (answer === undefined || Date.now() - answer.askedAt >= METRIC_AGE) {
      answer = { askedAt: Date.now(), oldest: oldestMessage(stack, arn) };
      known.set(arn, answer);
    }
    const at = await answer.oldest;
    return at === undefined ? undefined : new Date(at);
  };
}

/**
 * The depth of every queue of a stack. If a permission is missing, `problems` names the permission, and the other
 * depths are returned.
 */
async function queuesOf(stack: Stage, oldestAt: OldestAt): Promise<QueuesInfo> {
  const problems = new PartialFailures(stack.local);
  const [pauses, receiverQueues, events] = await Promise.all([
    problems.unless('what is paused', pausesOf(stack)),
    Promise.all(
      waitingQueues(stack).flatMap(({ kind, url }) =>
        kind === 'dead-letter' ? [] : [receiverQueue(kind, url)],
      ),
    ),
    Promise.all(stack.events.map(eventQueue)),
  ]);
  return {
    events: events.filter((queue) => queue !== undefined).map(withPause),
    receiverQueues: receiverQueues.filter((queue) => queue !== undefined),
    ...(pauses === undefined && { pausesUnknown: true as const }),
    problems: problems.lines(),
  };

  function withPause(queue: EventQueueInfo): EventQueueInfo {
    const pause = pauses?.find(({ event }) => event === queue.event);
    if (pause === undefined) return queue;
    return { ...queue, paused: pausedQueue(pause), ...(pause.turningOff && { pausing: pause.turningOff }) };
  }

  async function eventQueue(event: EventQueueInfo['event']): Promise<EventQueueInfo | undefined> {
    const { queueUrl, deadLetterQueueUrl } = stack.event(event);
    const [own, dead] = await Promise.all([
      depth(`the queue of ${event}`, queueUrl),
      depth(`the dead-letter queue of ${event}`, deadLetterQueueUrl),
    ]);
    return own && dead && { event, ...own, dead };
  }

  async function receiverQueue(name: ReceiverQueue['name'], url: string): Promise<ReceiverQueue | undefined> {
    const known = await depth(`the ${name} queue`, url);
    return known && { name, ...known };
  }

  async function depth(title: string, url: string): Promise<QueueDepth | undefined> {
    const state = await problems.unless(title, queueState(stack.sqs, url));
    if (state === undefined) return undefined;
    const { visible, inFlight } = state;
    const oldest = await problems.unless('the age of the oldest message', oldestAt(url, state));
    return { visible, inFlight, ...(oldest && { oldestAt: oldest.toISOString() }) };
  }
}
