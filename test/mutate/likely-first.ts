import { readFileSync } from 'node:fs';

/**
 * The order of test files in which a mutant is noticed soonest, as the first failing one ends a run: that of the
 * mutated file, where one is mutated, those of its folder, then the others; of each, those that start nothing before
 * those that start an AWS endpoint or a stack.
 */
export default class LikelyFirst {
  sort<Test extends { readonly path: string }>(tests: readonly Test[]): Test[] {
    const ranks = new Map(tests.map(({ path }) => [path, rankOf(path)]));
    return tests.toSorted((a, b) => (ranks.get(a.path) ?? 0) - (ranks.get(b.path) ?? 0));
  }

  /** Jest has one for how long tests took. */
  cacheResults(): void {}
}

function rankOf(path: string): number {
  const mutated = process.env.MUTATED ?? '';
  const source = readFileSync(path, 'utf8');
  const start = source.includes('startTestStack') ? 2 : source.includes('startTestAws') ? 1 : 0;
  if (path.endsWith(`/test/${mutated.replace(/\.ts$/, '.test.ts')}`)) return start;
  const folder = mutated.replace(/\/[^/]*\.ts$/, '');
  return (path.includes(`/test/${folder}/`) ? 10 : 20) + start;
}
