import { Hono } from 'hono';
import { isEventName } from '../../../lambda/events/catalogue.ts';
import { pausedQueue } from '../../stage/history/trace.ts';
import { pausesOf } from '../../stage/queues/pause-state.ts';
import { oldestMessage, queueState, waitingQueues } from '../../stage/queues/queue.ts';
import type { Stage } from '../../stage/stage.ts';
import type { QueueDepth, QueueInfo, QueuesInfo } from '../api.ts';
import { PartialFailures } from './api-problem.ts';
import { bytesAnswer, type LocalParts } from './console-context.ts';
import type { NeedsYou } from './needs-you.ts';
import type { QueueWatch } from './queue-watch.ts';

export const queueRoutes = (watch: QueueWatch, needsYou: NeedsYou) =>
  new Hono()
    .get('/queues', async (c) => c.json(await watch.read()))
    .get('/needs-you', async (c) => c.json(await needsYou.read()))
    .get('/needs-you/:id/body', async (c) => bytesAnswer(c, await needsYou.payload(c.req.param('id'))));

/**
 * Reads the depth of every queue of a stack. If a permission is missing, `problems` names the permission, and the other
 * depths are returned.
 */
export async function readQueues(stage: Stage, local: LocalParts | undefined): Promise<QueuesInfo> {
  const problems = new PartialFailures();
  const pauses = await problems.unless('what is paused', pausesOf(stage));
  const queues = await Promise.all(
    waitingQueues(stage).map(async ({ name, title, url }): Promise<QueueInfo | undefined> => {
      const aside = await depth(title, url);
      if (!isEventName(name)) return aside && { name, aside };
      const work = await depth(`the queue of ${name}`, stage.ofEvent(name, 'QueueUrl'));
      const pause = pauses?.find(({ event }) => event === name);
      const paused = pause && {
        paused: pausedQueue(pause),
        ...(pause.turningOff && { pausing: true as const }),
      };
      return work && aside && { name, work, aside, ...paused };
    }),
  );
  return {
    queues: queues.filter((queue) => queue !== undefined),
    ...(pauses === undefined && { pausesUnknown: true as const }),
    problems: problems.lines,
  };

  async function depth(title: string, url: string): Promise<QueueDepth | undefined> {
    const state = await problems.unless(title, queueState(stage.sqs, url));
    if (state === undefined) return undefined;
    const { visible, inFlight, arn } = state;
    if (visible + inFlight === 0) return { visible, inFlight };
    const oldest = await problems.unless('the age of the oldest message', oldestAt(url, arn));
    return { visible, inFlight, ...(oldest && { oldestAt: new Date(oldest).toISOString() }) };
  }

  /**
   * In epoch milliseconds. On a stage from CloudWatch's metric, because SQS does not report it, and receiving a message
   * would count as an attempt.
   */
  async function oldestAt(url: string, arn: string): Promise<number | undefined> {
    if (local === undefined) return oldestMessage(stage, arn);
    const sent = (await local.stack.inspectQueue(url)).map(({ sentAt }) => sentAt.getTime());
    return sent.length === 0 ? undefined : Math.min(...sent);
  }
}
