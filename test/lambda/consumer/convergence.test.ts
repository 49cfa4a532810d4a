import { afterAll, beforeAll, test } from '@jest/globals';
import fc from 'fast-check';
import { history, ofRun } from '../../support/histories.ts';
import { StateConsumers } from '../../support/state-consumers.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

let aws: TestAws;
let consumers: StateConsumers;
beforeAll(async () => {
  aws = await startTestAws();
  consumers = await StateConsumers.load(aws);
});
afterAll(() => aws.close());

let run = 0;

test('any order and any number of deliveries end in the state of the newest events', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (any) => {
      run += 1;
      const deliveries = ofRun(run, any);
      for (const delivery of deliveries) await consumers.deliver(delivery);
      await consumers.expectState(deliveries);
    }),
    { numRuns: 150 },
  );
});

test('deliveries that are processed at the same time end in the same state, too', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (any) => {
      run += 1;
      const deliveries = ofRun(run, any);
      await Promise.all(deliveries.map((delivery) => consumers.deliver(delivery)));
      await consumers.expectState(deliveries);
    }),
    { numRuns: 50 },
  );
});
