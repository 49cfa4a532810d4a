import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { CommandError } from '../../terminal/command-error.ts';
import { JEST } from '../../terminal/run-program.ts';

/** Folder for Stryker's mutated copy of the project. */
const SCRATCH = '.local/mutate';

/** Folder of Node.js' compile cache. */
const COMPILED = '.local/compiled';

/** Folders with the tests that must detect mutants. */
const TESTS = ['test/lambda'];

/**
 * A mutant counts as detected if the tests take this many times longer than without it. Machines vary in
 * speed.
 */
const TIMEOUT_FACTOR = 2;

type StrykerOptions = ConstructorParameters<typeof Stryker>[0];

/** A mutant that no test has detected. */
export interface Survivor {
  /** File and line: `lambda/events/fields.ts:64` */
  readonly place: string;
  /** The original code. */
  readonly original: string;
  readonly replacement: string;
}

export interface MutationReport {
  readonly mutants: number;
  /** Number of mutants that were detected because the tests did not end. */
  readonly timedOut: number;
  /** Number of mutants, and of those detected, by folder. */
  readonly folders: ReadonlyMap<string, { mutants: number; noticed: number }>;
  readonly survivors: readonly Survivor[];
}

/**
 * Changes one place of the code after another, and runs the tests of `lambda/` with each change until one
 * fails. Texts are not changed, because no test should repeat them.
 * @param path `lambda`, or a folder or file in it
 * @throws CommandError if the tests fail without a change
 */
export async function mutate(path: string, concurrency: number): Promise<MutationReport> {
  // Each mutant runs in a new process, which would spend a third of its start on compiling Jest again.
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
    // Without a tsconfig file: Stryker would correct the paths in it, with an API that TypeScript 7 does not have.
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

/** The text at a location. Lines and columns count from 1; the last column does not belong to the text. */
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
