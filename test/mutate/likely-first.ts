import { readFileSync } from 'node:fs';

/**
 * The order of test files in which a mutant is noticed soonest, as the first failing one ends a run: those of its own
 * folder, then the others; of each, those that start nothing before those that start an AWS endpoint or a stack.
 */
export default class LikelyFirst {
  sort<Test extends { readonly path: string }>(tests: readonly Test[]): Test[] {
    const cost = new Map(tests.map(({ path }) => [path, costOf(path)]));
    return tests.toSorted((a, b) => (cost.get(a.path) ?? 0) - (cost.get(b.path) ?? 0));
  }

  /** Jest has one for how long tests took. */
  cacheResults(): void {}
}

function costOf(path: string): number {
  const source = readFileSync(path, 'utf8');
  const isOwn = path.includes(`/test/${process.env.MUTATED_FOLDER}/`);
  const start = source.includes('startTestStack') ? 2 : source.includes('startTestAws') ? 1 : 0;
  return (isOwn ? 0 : 10) + start;
}
