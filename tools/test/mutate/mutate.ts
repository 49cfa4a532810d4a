import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { CommandError } from '../../terminal/command-error.ts';
import { JEST } from '../../terminal/run-program.ts';

/** Where Stryker puts the mutated copy of the project. */
const SCRATCH = '.local/mutate';

/** Where Node.js keeps what it has compiled. */
const COMPILED = '.local/compiled';

/** What has to notice a mutant. */
const TESTS = ['test/lambda', 'tools/test/fuzz'];

/** How much longer than without a mutant the tests may take, until the mutant counts as noticed: machines are noisy. */
const TIMEOUT_FACTOR = 2;

type StrykerOptions = ConstructorParameters<typeof Stryker>[0];

/** A mutant that no test noticed. */
export interface Survivor {
  /** `lambda/events/fields.ts:64` */
  readonly place: string;
  /** What stood there. */
  readonly original: string;
  readonly replacement: string;
}

export interface MutationReport {
  readonly mutants: number;
  /** Noticed because the tests did not end. */
  readonly timedOut: number;
  /** Mutants and noticed ones by folder. */
  readonly folders: ReadonlyMap<string, { mutants: number; noticed: number }>;
  readonly survivors: readonly Survivor[];
}

/**
 * Changes the code in one place after another, and runs the tests of `lambda/` on each such mutant until one fails. Texts
 * are left as they are: no test should repeat them.
 * @param path `lambda`, a folder or a file of it
 * @throws CommandError if the tests fail without a mutant, too
 */
export async function mutate(path: string, concurrency: number): Promise<MutationReport> {
  // Each mutant has a Node.js of its own, which would compile Jest again: a third of its start.
  process.env.NODE_COMPILE_CACHE = resolve(COMPILED);
  const command = [
    process.execPath,
    ...JEST,
    '--config',
    'tools/test/mutate/jest.config.js',
    '--runInBand',
    ...TESTS,
  ];
  const results = await new Stryker({
    mutate: [path.endsWith('.ts') ? path : `${path}/**/*.ts`],
    mutator: { plugins: [], excludedMutations: ['StringLiteral'] },
    plugins: [],
    testRunner: 'command',
    commandRunner: { command: command.map((part) => `"${part}"`).join(' ') },
    coverageAnalysis: 'off',
    concurrency,
    timeoutFactor: TIMEOUT_FACTOR,
    tempDirName: SCRATCH,
    cleanTempDir: 'always',
    ignorePatterns: ['.local', 'cdk.out', 'coverage', '.ci/venv', '.ci/api/venv'],
    // Stryker would correct the paths in it, with an API that TypeScript 7 does not have.
    tsconfigFile: 'none',
    reporters: ['progress-append-only'],
    // A member of a `const enum`, which `verbatimModuleSyntax` cannot import.
    logLevel: 'error' as NonNullable<StrykerOptions['logLevel']>,
    allowConsoleColors: false,
  })
    .runMutationTest()
    .catch((error: unknown) => {
      throw new CommandError(`Nothing was mutated: ${error instanceof Error ? error.message : error}`);
    });
  const judged = results.filter(({ status }) => ['Killed', 'Timeout', 'Survived'].includes(status));
  const survived = judged.filter(({ status }) => status === 'Survived');
  const folders = new Map<string, { mutants: number; noticed: number }>();
  for (const { fileName, status } of judged) {
    const folder = dirname(relative('.', fileName));
    const { mutants, noticed } = folders.get(folder) ?? { mutants: 0, noticed: 0 };
    folders.set(folder, { mutants: mutants + 1, noticed: noticed + (status === 'Survived' ? 0 : 1) });
  }
  return {
    mutants: judged.length,
    timedOut: judged.filter(({ status }) => status === 'Timeout').length,
    folders,
    survivors: survived.map(({ fileName, location, replacement = '' }) => ({
      place: `${relative('.', fileName)}:${location.start.line}`,
      original: textAt(fileName, location),
      replacement,
    })),
  };
}

interface Location {
  readonly start: { readonly line: number; readonly column: number };
  readonly end: { readonly line: number; readonly column: number };
}

/** Lines and columns count from 1; the last one does not belong to it. */
function textAt(file: string, { start, end }: Location): string {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return lines
    .map((line, index) =>
      line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined),
    )
    .join('\n');
}
