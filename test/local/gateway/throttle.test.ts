import { expect, test } from '@jest/globals';
import { Throttle } from '../../../local/gateway/throttle.ts';

function throttled(settings: { rate: number; burst: number }) {
  let now = 0;
  const throttle = new Throttle(settings, () => now);
  const admitted = (requests: number) =>
    Array.from({ length: requests }, () => throttle.admit()).filter(Boolean).length;
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  return { admitted, pass };
}

test('admits as many at once as the burst says', () => {
  expect(throttled({ rate: 1, burst: 5 }).admitted(9)).toBe(5);
});

test('admits as many a second as the rate says, once the burst is used up', () => {
  const { admitted, pass } = throttled({ rate: 2, burst: 5 });
  admitted(5);
  pass(1_500);
  expect(admitted(9)).toBe(3);
});

test('saves up no more than the burst', () => {
  const { admitted, pass } = throttled({ rate: 100, burst: 5 });
  admitted(5);
  pass(60_000);
  expect(admitted(9)).toBe(5);
});
