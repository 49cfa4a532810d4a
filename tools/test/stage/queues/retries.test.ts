import { expect, test } from '@jest/globals';
import { backOffSeconds } from '../../../../lambda/consumer/retry.ts';
import { FIRST_RETRY_SECONDS, MAX_RECEIVES } from '../../../../lambda/limits.ts';
import { hoursOfTries } from '../../../stage/queues/retries.ts';

test('commands look for failed attempts until the longest waits are over', () => {
  const longest = Array.from({ length: MAX_RECEIVES }, (_, index) =>
    backOffSeconds(index + 1, FIRST_RETRY_SECONDS, 1),
  );
  const seconds = longest.slice(0, -1).reduce((total, wait) => total + wait, 0);
  expect(seconds).toBeLessThan(hoursOfTries('user.updated') * 60 * 60);
});
