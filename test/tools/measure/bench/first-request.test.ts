import { expect, test } from '@jest/globals';
import { startTimeline } from '../../../../tools/measure/bench/first-request.ts';

test('the steps of a start lead from the process to the answer, with the warm-up in between', async () => {
  const steps = await startTimeline({ rounds: 1 });
  const ends = steps.flatMap(({ at }) => at ?? []);
  expect(ends).toEqual(ends.toSorted((one, other) => one - other));
  expect(Math.min(...ends)).toBeGreaterThan(0);
  const names = steps.map(({ name }) => name);
  const order = [
    'Node.js boots',
    'evaluates the module',
    'Secrets Manager: GetSecretValue AWSCURRENT has come',
    'the module is loaded, with its warm-up',
    'SQS: SendMessage has come',
    'the first request is answered',
  ];
  expect(names.filter((name) => order.includes(name))).toEqual(order);
  expect(names.filter((name) => name.startsWith('SQS: TLS'))).toHaveLength(1);
});
