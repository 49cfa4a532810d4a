import { expect, test } from '@jest/globals';
import { pause, pauseMilliseconds } from '../../../../local/functions/event-source/retry.ts';

test.each([
  [1, 100],
  [2, 200],
  [6, 3_200],
  [7, 5_000],
  [5_000, 5_000],
])('the pause after failure %i is %i ms', (failures, milliseconds) => {
  expect(pauseMilliseconds(failures)).toBe(milliseconds);
});

test('an aborted pause ends at once and without an error', async () => {
  await expect(pause(5_000, AbortSignal.abort())).resolves.toBeUndefined();
});
