import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { normaliseTimestamp } from '../../../lambda/events/timestamp.ts';

test.each([
  ...['2026-01-31T09:00:00Z', '2026-01-31T09:00:00+00:00', '2026-01-31T09:00:00+0000'],
  ...['2026-01-31T09:00:00-00:00', '2026-01-31t09:00:00z', '2026-01-31 09:00:00+00:00'],
  ...['2026-01-31T09:00Z', '2026-01-31T09:00+00:00', '20260131T0900Z', '2026-01-31T09Z', '20260131T09+00'],
])('%s is nine o’clock', (text) => {
  expect(normaliseTimestamp(text)).toBe('2026-01-31T09:00:00.000000000Z');
});

test.each([
  ['2026-01-31T09:00:00.5Z', '2026-01-31T09:00:00.500000000Z'],
  ['2026-01-31T09:00:00,5Z', '2026-01-31T09:00:00.500000000Z'],
  ['2026-01-31T09:00:00.5+00', '2026-01-31T09:00:00.500000000Z'],
  ['2026-01-31T09:00:00.1234567891Z', '2026-01-31T09:00:00.123456789Z'],
  ['2024-02-29T23:59:59.999+00:00', '2024-02-29T23:59:59.999000000Z'],
  ['20240229T235959,5+0000', '2024-02-29T23:59:59.500000000Z'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000000000Z'],
])('%s is %s', (text, normalised) => {
  expect(normaliseTimestamp(text)).toBe(normalised);
});

test.each([
  ['empty', ''],
  ['a word', 'yesterday'],
  ['a date alone', '2026-01-31'],
  ['no zone', '2026-01-31T09:00:00'],
  ['another zone', '2026-01-31T09:00:00+09:00'],
  ['an offset of minutes', '2026-01-31T09:00:00+00:30'],
  ['an offset of four digits in another zone', '2026-01-31T09:00:00+0900'],
  ['no separator', '20260131090000Z'],
  ['two spaces', '2026-01-31  09:00:00Z'],
  ['an ordinal date', '2026-031T09:00:00Z'],
  ['a week date', '2026-W05-6T09:00:00Z'],
  ['an empty fraction', '2026-01-31T09:00:00.Z'],
  ['a fraction of a minute', '2026-01-31T09:00.5Z'],
  ['30 February', '2026-02-30T09:00:00Z'],
  ['29 February of a year that is no leap year', '2026-02-29T09:00Z'],
  ['month 0 and day 0', '0000-00-00T00:00:00Z'],
  ['month 13', '2026-13-01T09:00:00Z'],
  ['hour 24', '2026-01-31T24:00:00Z'],
  ['a leap second', '2016-12-31T23:59:60Z'],
  ['second 61', '2026-01-31T09:00:61Z'],
  ['seconds since the epoch', '1769850000'],
  ['something before it', 'at 2026-01-31T09:00:00Z'],
  ['something behind it', '2026-01-31T09:00:00Z!'],
])('%s is not a valid UTC time', (_, text) => {
  expect(normaliseTimestamp(text)).toBeUndefined();
});

test('a day is valid exactly if the calendar has it', () => {
  const digits = (value: number, length: number) => String(value).padStart(length, '0');
  const year = fc.integer({ min: 0, max: 9999 });
  const leapDays = fc.record({ year, month: fc.constant(2), day: fc.constant(29) });
  const days = fc.record({
    year,
    month: fc.integer({ min: 0, max: 13 }),
    day: fc.integer({ min: 0, max: 32 }),
  });
  fc.assert(
    fc.property(fc.oneof(leapDays, days), ({ year, month, day }) => {
      const date = new Date(0);
      date.setUTCFullYear(year, month - 1, day);
      const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
      const texts = ['-', ''].map(
        (hyphen) => `${[digits(year, 4), digits(month, 2), digits(day, 2)].join(hyphen)}T00Z`,
      );
      for (const text of texts)
        expect([text, normaliseTimestamp(text) !== undefined]).toEqual([text, isReal]);
    }),
    { numRuns: 1000 },
  );
});

test('the texts sort in order of time', () => {
  const max = new Date('9999-12-31T23:59:59.999Z');
  const moment = fc.date({ min: new Date(0), max, noInvalidDate: true });
  fc.assert(
    fc.property(moment, moment, (a, b) => {
      const [first = '', second = ''] = [a, b].map((date) => normaliseTimestamp(date.toISOString()));
      expect(first < second).toBe(a.getTime() < b.getTime());
    }),
  );
});
