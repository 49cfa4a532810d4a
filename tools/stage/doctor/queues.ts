import { alarmTable } from '../../../lib/alarms/alarm-table.ts';
import { counted, duration } from '../../terminal/text.ts';
import { pausesOf } from '../queues/pause-state.ts';
import { type AnyQueue, oldestMessage, queueState, removedQueues, waitingQueues } from '../queues/queue.ts';
import { failure, type Inspection, ok, problemsOr, type StageCheck, since, warning } from './inspection.ts';

/** Milliseconds that a message may wait for its first attempts. */
const MAX_WAIT = alarmTable['<Event>/Waiting'].fires.threshold * 1000;

const needs = ['sqs:GetQueueAttributes', 'cloudwatch:GetMetricStatistics'];

const WHY: Readonly<Record<AnyQueue['kind'], string>> = {
  'dead-letter': 'These events were not processed. They wait for a redrive.',
  quarantine: 'Signed deliveries were unusable. The partner does not repeat them.',
  unrouted: 'The partner sends an event kind that this stage does not process.',
  removed:
    'Nothing consumes this queue. Export what you need, then delete it: docs/redrive-and-replay.md, "Remove an event".',
};

export const queueChecks: readonly StageCheck[] = [
  {
    name: 'set aside',
    needs,
    async run(inspection) {
      const queues = waitingQueues(inspection.stage);
      const results = queues.map(async ({ name, kind, url }) => {
        const found = await contents(inspection, url);
        const advice = { why: WHY[kind], fix: inspection.stage.command(`show ${name}`) };
        const of = kind === 'dead-letter' ? 'dead letters of ' : '';
        return found && failure(`${of}${name}: ${found.text}`, advice);
      });
      return problemsOr('no dead letters, nothing quarantined or unrouted', await Promise.all(results));
    },
  },
  {
    name: 'event queues',
    needs: ['lambda:ListEventSourceMappings', 'cloudwatch:DescribeAlarms', ...needs],
    why: 'Its consumer does not keep up. See "Waiting" in docs/operations.md.',
    fix: ({ stage }) => stage.command('list'),
    async run(inspection) {
      const { stage } = inspection;
      const paused = new Set((await pausesOf(stage)).map(({ event }) => event));
      const results = stage.events.map(async (event) => {
        const found = await contents(inspection, stage.ofEvent(event, 'QueueUrl'));
        if (found === undefined) return [];
        const text = `${event}: ${found.text}`;
        if (paused.has(event)) return ok(text);
        const isLate = found.visible > 0 && since(found.oldest) > MAX_WAIT;
        return isLate ? failure(text) : ok(text);
      });
      const found = (await Promise.all(results)).flat();
      return found.length === 0 ? ok('empty') : found;
    },
  },
  {
    name: 'removed events',
    needs: ['sqs:ListQueues', ...needs],
    why: WHY.removed,
    async run(inspection) {
      const queues = await removedQueues(inspection.stage);
      const results = queues.map(async ({ name, url }) => {
        const found = await contents(inspection, url);
        return (
          found && warning(`${name}: ${found.text}`, { fix: inspection.stage.command(`export ${name}`) })
        );
      });
      const seen =
        queues.length === 0 ? 'no queue left' : `${counted(queues.length, 'queue')} left, without messages`;
      return problemsOr(seen, await Promise.all(results));
    },
  },
];

/** @returns undefined if a queue is empty */
async function contents({ stage }: Inspection, url: string) {
  const { arn, visible, inFlight, retention } = await queueState(stage.sqs, url);
  const count = visible + inFlight;
  if (count === 0) return undefined;
  const oldest = await oldestMessage(stage, arn);
  const left = duration((oldest ?? 0) + retention * 1000 - Date.now());
  const age =
    oldest === undefined ? 'age unknown' : `the oldest for ${duration(since(oldest))}, deleted in ${left}`;
  return { visible, oldest, text: `${counted(count, 'message')}, ${age}` };
}
