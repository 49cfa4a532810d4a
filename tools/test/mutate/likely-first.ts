import { globSync, readFileSync } from 'node:fs';
import { ACTIVE_MUTANT } from '../../../test/support/active-mutant.ts';

/**
 * The order of test files in which a mutant is noticed soonest, as the first failing one ends a run: those that name the
 * mutated file, those of its folder, then the others; of each, those that start nothing before those that start an AWS
 * endpoint or a stack.
 */
export default class LikelyFirst {
  sort<Test extends { readonly path: string }>(tests: readonly Test[]): Test[] {
    const mutated = mutatedFile();
    const ranks = new Map(tests.map(({ path }) => [path, rankOf(path, mutated)]));
    return tests.toSorted((a, b) => (ranks.get(a.path) ?? 0) - (ranks.get(b.path) ?? 0));
  }

  /** Jest has one for how long tests took. */
  cacheResults(): void {}
}

/** Stryker leaves all mutants in the sources, each behind a call that asks whether it is the active one. */
function mutatedFile(): string {
  const mutant = `("${process.env[ACTIVE_MUTANT]}")`;
  return globSync('lambda/**/*.ts').find((file) => readFileSync(file, 'utf8').includes(mutant)) ?? '';
}

function rankOf(path: string, mutated: string): number {
  const source = readFileSync(path, 'utf8');
  const start = source.includes('startTestStack') ? 2 : source.includes('startTestAws') ? 1 : 0;
  if (source.includes(`/${mutated}`)) return start;
  const folder = mutated.replace(/\/[^/]*\.ts$/, '');
  return (path.includes(`/test/${folder}/`) ? 10 : 20) + start;
}
