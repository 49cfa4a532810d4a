import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { versionOf } from '../../../lambda/effects/event-order.ts';

const version = (timestamp: string, receivedAt = '2026-01-31T09:00:00.250Z', eventId = 'e') =>
  versionOf({ timestamp, receivedAt, eventId });

test('a version is the timestamp, then the event id', () => {
  expect(version('2026-01-31T08:00:00.000000001Z')).toBe('2026-01-31T08:00:00.000000001Z#e');
});

test('the event with the later timestamp has the higher version, whatever the ids', () => {
  const earlier = version('2026-01-31T08:00:00.000000001Z', undefined, 'z');
  const later = version('2026-01-31T08:00:00.000000002Z', undefined, 'a');
  expect(earlier < later).toBe(true);
});

test('for equal timestamps, the event with the higher id has the higher version', () => {
  const timestamp = '2026-01-31T08:00:00.000000000Z';
  expect(version(timestamp, undefined, 'a') < version(timestamp, undefined, 'b')).toBe(true);
});

test('a timestamp up to five minutes after the receipt is used unchanged', () => {
  expect(version('2026-01-31T09:05:00.250000000Z')).toBe('2026-01-31T09:05:00.250000000Z#e');
});

test.each(['2026-01-31T09:05:00.250000001Z', '9999-12-31T23:59:59.000000000Z'])(
  'a timestamp further ahead (%s) counts as five minutes after the receipt',
  (timestamp) => {
    expect(version(timestamp)).toBe('2026-01-31T09:05:00.250000000Z#e');
  },
);

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
