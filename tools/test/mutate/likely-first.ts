import { globSync, readFileSync } from 'node:fs';
import { ACTIVE_MUTANT } from '../../../test/support/active-mutant.ts';

/**
 * Jest sequencer that runs tests first that are likely to detect a mutant, because the first failure ends a
 * run: tests that name the mutated file, then those in its folder, then the others. In each group, tests that
 * start nothing come before those that start an AWS endpoint or a stack.
 */
export default class LikelyFirst {
  sort<Test extends { readonly path: string }>(tests: readonly Test[]): Test[] {
    const mutated = mutatedFile();
    const ranks = new Map(tests.map(({ path }) => [path, rankOf(path, mutated)]));
    return tests.toSorted((a, b) => (ranks.get(a.path) ?? 0) - (ranks.get(b.path) ?? 0));
  }

  /** Required by Jest, which would store the durations of tests here. */
  cacheResults(): void {}
}

/**
 * The file of the active mutant. Stryker's sources contain all mutants, each behind a call that asks whether
 * it is active.
 */
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
