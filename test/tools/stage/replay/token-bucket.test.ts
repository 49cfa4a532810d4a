import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { TokenBucket } from '../../../../tools/stage/replay/token-bucket.ts';

const never = new AbortController().signal;

describe('a token bucket', () => {
  test.each([
    { rate: 100, takes: 30, count: 1 },
    { rate: 1_000, takes: 30, count: 10 },
  ])('of $rate a second lets $takes times $count through no faster', async ({ rate, takes, count }) => {
    const bucket = new TokenBucket(rate);
    const began = performance.now();
    // At once, as several do who share it.
    await Promise.all(Array.from({ length: takes }, () => bucket.take(count, never)));
    const seconds = (performance.now() - began) / 1000;
    expect(seconds).toBeGreaterThanOrEqual((takes * count - bucket.burst) / rate - 0.005);
  });

  test('does not save up what was not used', async () => {
    const bucket = new TokenBucket(50);
    await sleep(500);
    const began = performance.now();
    for (let index = 0; index < 15; index += 1) await bucket.take(1, never);
    expect((performance.now() - began) / 1000).toBeGreaterThanOrEqual(10 / 50 - 0.005);
  });

  test('ends its waits with the signal', async () => {
    const bucket = new TokenBucket(1);
    const controller = new AbortController();
    await bucket.take(1, never);
    const waiting = bucket.take(1, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});
