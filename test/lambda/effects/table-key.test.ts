import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { tableKey } from '../../../lambda/effects/table-key.ts';

test.each([
  ['2,048 bytes', 'x'.repeat(2048)],
  ['2,048 bytes in characters of two', 'é'.repeat(1024)],
])('an id of %s is the key', (_, id) => {
  expect(tableKey(id)).toBe(id);
});

test.each([
  ['2,049 bytes', 'x'.repeat(2049)],
  ['2,050 bytes in characters of two', 'é'.repeat(1025)],
])('an id of %s is a key by its hash', (_, id) => {
  expect(tableKey(id)).toBe(`sha256:${createHash('sha256').update(id).digest('hex')}`);
});
