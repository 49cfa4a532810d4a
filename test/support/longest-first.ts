import { statSync } from 'node:fs';

/** What takes longest, above all because it starts the stack several times; part of the test files' paths. */
const LONGEST = [
  'test/tools/cli/commands/',
  'test/soak/',
  'test/tools/stage/history/',
  'test/tools/stage/replay/',
  'test/local-stack/',
  'test/lambda/consumer/',
  'test/tools/dev/',
  'test/local/functions/',
  'test/local/deployed-stack',
  'test/tools/measure/load/',
  'test/fuzz/',
  'test/examples/',
];

/**
 * The order of test files in which they are done soonest: a long one that begins last keeps one processor busy, and
 * leaves the others idle. A clean checkout does not know how long they took.
 */
export default class LongestFirst {
  sort<Test extends { readonly path: string }>(tests: readonly Test[]): Test[] {
    const ranked = tests.map((test) => ({ test, rank: rankOf(test.path), bytes: statSync(test.path).size }));
    return ranked.toSorted((a, b) => a.rank - b.rank || b.bytes - a.bytes).map(({ test }) => test);
  }

  /** Jest has one for how long tests took. */
  cacheResults(): void {}
}

function rankOf(path: string): number {
  const rank = LONGEST.findIndex((part) => path.includes(`/${part}`));
  return rank === -1 ? LONGEST.length : rank;
}
