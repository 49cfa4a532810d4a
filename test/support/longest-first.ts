import { statSync } from 'node:fs';

/**
 * Parts of the paths of the slowest test files, in the order in which they begin. Most of them start the stack several
 * times.
 */
const LONGEST = [
  'tools/test/commands/',
  'tools/test/soak/',
  'tools/test/stage/history/',
  'tools/test/stage/replay/',
  'test/local-stack/',
  'test/lambda/consumer/',
  'tools/test/start/',
  'test/lib/log-patterns',
  'tools/test/watch/',
  'tools/test/local/functions/',
  'tools/test/fuzz/',
  'test/examples/',
];

/**
 * Orders the test files so that the whole run is shortest: if a long one begins last, the other processors are idle. A
 * clean checkout has no recorded durations.
 */
export default class LongestFirst {
  sort<Test extends { readonly path: string }>(tests: readonly Test[]): Test[] {
    const ranked = tests.map((test) => ({ test, rank: rankOf(test.path), bytes: statSync(test.path).size }));
    return ranked.toSorted((a, b) => a.rank - b.rank || b.bytes - a.bytes).map(({ test }) => test);
  }

  /** Jest's own version caches the durations of tests. */
  cacheResults(): void {}
}

function rankOf(path: string): number {
  const rank = LONGEST.findIndex((part) => path.includes(`/${part}`));
  return rank === -1 ? LONGEST.length : rank;
}
