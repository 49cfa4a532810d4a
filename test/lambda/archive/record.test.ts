import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ArchiveRecord, archiveLine } from '../../../lambda/archive/record.ts';
import { MAX_RECORD_BYTES } from '../../../lambda/limits.ts';
import { escapeForSqs, fitsMessage } from '../../../lambda/queue/message.ts';

/** Sizes in bytes near the limits for a body without escapes, and for one in which each byte is escaped. */
const BORDERS = [484 * 1024, 968 * 1024];

/** Characters of JSON text that are escaped in a JSON string, and some that are not. */
const piece = fc.constantFrom('\\"', '\\\\', '\\u0000', 'é', '日', '😀', '\u2028', '\u007f', '\ufffe', 'x');

/** JSON text near a limit in bytes, before or after escaping. */
const body = fc
  .tuple(
    fc.array(piece, { minLength: 1, maxLength: 8 }),
    fc.constantFrom('', '\n', '\t ', '\r\n'),
    fc.constantFrom(...BORDERS),
    fc.boolean(),
    fc.oneof(fc.integer({ min: -40, max: 40 }), fc.integer({ min: -16_384, max: 40_960 })),
  )
  .map(([pieces, space, border, isEscaped, offset]) => {
    const unit = `"${pieces.join('')}",${space}`;
    const size = (text: string) => Buffer.byteLength(isEscaped ? JSON.stringify(text) : text);
    const times = Math.floor((border + offset) / (size(unit + unit) - size(unit)));
    const rest = Math.max(0, border + offset - size(`[${unit.repeat(times)}""]`));
    return escapeForSqs(`[${unit.repeat(times)}"${'x'.repeat(rest)}"]`);
  });

/** The largest possible record of the receiver, besides its body. */
const largest: ArchiveRecord = {
  eventId: 'f'.repeat(64),
  event: 'girl.schedule_changed',
  shopId: '\u0001'.repeat(2048),
  receivedAt: '2026-01-31T09:00:00.000Z',
  requestId: '\u0001'.repeat(128),
  timestamp: '2026-01-31T09:00:00.000000000Z',
  outcome: 'DeadLettered',
  failureReason: '\u0001'.repeat(2048),
  attempt: 10,
  settledAt: '2026-01-31T09:00:00.000Z',
};

test('a body that fits into its message always fits into the archive', () => {
  let fitting = 0;
  let stored = 0;
  fc.assert(
    fc.property(body, (text) => {
      if (!fitsMessage(text)) {
        stored += 1;
        return;
      }
      fitting += 1;
      expect(Buffer.byteLength(archiveLine({ ...largest, body: text }))).toBeLessThanOrEqual(
        MAX_RECORD_BYTES,
      );
    }),
    { numRuns: 100 },
  );
  // There are bodies on both sides of the limit.
  expect(Math.min(fitting, stored)).toBeGreaterThan(10);
});

test('a record is one line', () => {
  const line = archiveLine({ ...largest, body: '{"a":\n1}' });
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(JSON.parse(line)).toEqual({ ...largest, body: '{"a":\n1}' });
});
