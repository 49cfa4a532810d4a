import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import fc from 'fast-check';
import { sqsEvent } from '../../../events/lambda-events.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { type Fault, Faults } from '../../../local/aws/faults.ts';
import { consumerContext } from '../../support/consumer-context.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { Queues } from '../../support/queues.ts';
import { replayedBy } from '../../support/replayed-by.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

const EVENT = 'girl.schedule_changed';

const faults = new Faults();
let aws: TestAws;
let queues: Queues;
let room: string;
let handler: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
beforeAll(async () => {
  aws = await startTestAws(faults);
  queues = new Queues(aws.operator);
  room = await queues.subscribe(aws.outputs.ChatTopicArn, 'chat-room');
  Object.assign(process.env, functionEnvironment('girl-schedule-changed', aws));
  ({ handler } = await import('../../../lambda/events/girl-schedule-changed/consumer.ts'));
});
afterAll(() => aws.close());

/** Comes to the consumer once: a delivery, or what a replay sends; maybe while a dependency is down. */
interface Coming {
  readonly replay: Replay | undefined;
  readonly fault: Fault | undefined;
}

const sent = (name: string, mode: Replay['mode'], notify: boolean) => ({ name, mode, notify });
const comings = fc.array(
  fc.record<Coming>({
    replay: fc.constantFrom(
      undefined,
      sent('quiet-fill', 'fill', false),
      sent('quiet-repair', 'repair', false),
      sent('fill', 'fill', true),
      sent('repair', 'repair', true),
    ),
    // Before SNS takes the notification. What is down after it is the window that remains.
    fault: fc.option(
      fc.constantFrom<Fault[]>(
        { service: 'sns', kind: 'down', callers: 'everyone' },
        { service: 'dynamodb', operation: 'PutItem', kind: 'down', callers: 'everyone' },
      ),
      { nil: undefined, freq: 3 },
    ),
  }),
  { minLength: 1, maxLength: 8 },
);

let run = 0;

test('people are told once of an event, and once more for each name of a replay that is to tell them', async () => {
  await fc.assert(
    fc.asyncProperty(comings, async (any) => {
      run += 1;
      const payload = { event: EVENT, data: { shop_id: String(run) }, timestamp: '2026-01-31T09:00:00Z' };
      const tried: Replay['name'][] = [];
      for (const { replay, fault } of any) {
        const heal = fault && faults.inject(fault);
        const message = replayedBy(replay, sqsEvent({ event: EVENT, name: 'consumer', payload }));
        const { batchItemFailures } = await handler(message, consumerContext);
        heal?.();
        if (batchItemFailures.length === 0) tried.push(replay?.name ?? 'delivery');
      }
      const first = tried.slice(0, 1);
      const named = tried.filter((name) => ['fill', 'repair'].includes(name));
      expect(await told(sha256Hex(JSON.stringify(payload)))).toEqual(
        [...new Set([...first, ...named])].toSorted(),
      );
    }),
    { numRuns: 40 },
  );
});

/** Who told of the event: `delivery`, or the names of replays. It takes all that waits off the room's queue. */
async function told(eventId: string): Promise<(string | undefined)[]> {
  const names: (string | undefined)[] = [];
  while ((await queues.count(room)) > 0) {
    const { MessageAttributes } = await queues.take(room);
    expect(MessageAttributes?.eventId?.StringValue).toBe(eventId);
    names.push(MessageAttributes?.replay?.StringValue ?? 'delivery');
  }
  return names.toSorted();
}
