import { expect, test } from '@jest/globals';
import { isRepair, parseReplay, type Replay } from '../../../lambda/queue/replay.ts';

const replay: Replay = { name: 'repair-2026-01', mode: 'repair', notify: false };

test.each<Replay>([
  replay,
  { name: '0', mode: 'fill', notify: true },
  { name: 'x'.repeat(63), mode: 'fill', notify: false },
])('the attribute %j is parsed as a replay', (written) => {
  expect(parseReplay(JSON.stringify(written))).toEqual(written);
});

test.each([
  'repair-1',
  'null',
  '{}',
  ...['', '-1', 'Repair', 'a_b', 'a\n', 'x'.repeat(64)].map((name) => JSON.stringify({ ...replay, name })),
  JSON.stringify({ ...replay, mode: 'undo' }),
  JSON.stringify({ ...replay, notify: 'yes' }),
])('%j is not a replay', (text) => {
  expect(parseReplay(text)).toBeUndefined();
});

test('only a repair rewrites what its event wrote', () => {
  expect(isRepair(replay)).toBe(true);
  expect(isRepair({ ...replay, mode: 'fill' })).toBe(false);
  expect(isRepair(undefined)).toBe(false);
});
