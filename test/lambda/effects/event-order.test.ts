import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { versionOf } from '../../../lambda/effects/event-order.ts';

const version = (timestamp: string, receivedAt = '2026-01-31T09:00:00.250Z', eventId = 'e') =>
  versionOf({ timestamp, receivedAt, eventId });

test.each([
  ['2026-01-31T08:00:00.000000001Z', '2026-01-31T08:00:00.000000001Z'],
  // Up to five minutes after the receipt, the timestamp is used unchanged.
  ['2026-01-31T09:05:00.250000000Z', '2026-01-31T09:05:00.250000000Z'],
  ['2026-01-31T09:05:00.250000001Z', '2026-01-31T09:05:00.250000000Z'],
  ['9999-12-31T23:59:59.000000000Z', '2026-01-31T09:05:00.250000000Z'],
])('the version of an event of %s is %s, then its id', (timestamp, counted) => {
  expect(version(timestamp)).toBe(`${counted}#e`);
});

test('the event with the later timestamp has the higher version, and for equal ones that with the higher id', () => {
  const [earlier, later] = [1, 2].map((end) => `2026-01-31T08:00:00.00000000${end}Z`) as [string, string];
  expect(version(earlier, undefined, 'z') < version(later, undefined, 'a')).toBe(true);
  expect(version(earlier, undefined, 'a') < version(earlier, undefined, 'b')).toBe(true);
});

test('a receipt at the end of the last year changes no timestamp', () => {
  const last = '9999-12-31T23:59:59.999999999Z';
  expect(version(last, '9999-12-31T23:56:00.000Z')).toBe(`${last}#e`);
});

const hours = (count: number) => count * 60 * 60_000;

test('an event with a later timestamp and a later receipt has a higher version, whatever the clock', () => {
  const receipt = Date.parse('2026-01-31T09:00:00.000Z');
  const at = (milliseconds: number) => new Date(receipt + milliseconds).toISOString();
  const ahead = fc.integer({ min: -hours(1), max: hours(1) });
  const later = fc.integer({ min: 1, max: hours(1) });
  fc.assert(
    fc.property(ahead, later, later, (timestamp, timestampLater, receiptLater) => {
      const first = version(at(timestamp).replace('Z', '000000Z'), at(0), 'z');
      const second = version(at(timestamp + timestampLater).replace('Z', '000000Z'), at(receiptLater), 'a');
      expect(first < second).toBe(true);
    }),
  );
});
