import { existsSync, statSync } from 'node:fs';
import { normalize, relative } from 'node:path';
import { hookctlCommand } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';
import { table } from '../terminal/layout.ts';
import { wholeNumber } from '../terminal/options.ts';
import { screenWidth } from '../terminal/terminal.ts';

/** The only folder that can be mutated: code that runs in AWS. */
const ROOT = 'lambda';

/**
 * Command that mutates code. Not part of CI: each mutant takes a second, or half a minute if no test detects the
 * mutant.
 */
export const command = hookctlCommand(
  'mutate',
  'Changes the code in lambda/ one place at a time, and shows which changes no test detects.',
)
  .argument('[path]', `folder or file, such as ${ROOT}/receiver`, ROOT)
  .option('--concurrency <n>', 'mutants to test at the same time', wholeNumber(1), 1)
  .action(async (path, { concurrency }) => {
    const { mutate } = await import('../test/mutate/mutate.ts');
    const { mutants, timedOut, folders, survivors } = await mutate(mutable(path), concurrency);
    const width = screenWidth();
    if (survivors.length > 0) {
      const columns = [{ heading: 'NOT DETECTED' }, { heading: 'ORIGINAL' }, { heading: 'MUTANT' }];
      const rows = survivors.map((mutant) => [
        mutant.place,
        oneLine(mutant.original),
        oneLine(mutant.replacement),
      ]);
      console.log(`${table(columns, rows, width).join('\n')}\n`);
    }
    const columns = [
      { heading: 'FOLDER' },
      { heading: 'MUTANTS' },
      { heading: 'NOTICED' },
      { heading: 'SHARE' },
    ];
    const rows = [...folders, ['all', { mutants, noticed: mutants - survivors.length }] as const].map(
      ([folder, counts]) => [folder, String(counts.mutants), String(counts.noticed), share(counts)],
    );
    console.log(table(columns, rows, width).join('\n'));
    if (timedOut > 0) console.log(`\n${timedOut} were detected because the tests did not end in time.`);
  });

/** @throws CommandError if the file cannot be mutated */
function mutable(path: string): string {
  const wanted = normalize(path).replace(/\/$/, '');
  if (!relative(ROOT, wanted).startsWith('..') && existsSync(wanted)) {
    if (wanted.endsWith('.ts') || statSync(wanted).isDirectory()) return wanted;
  }
  throw new UsageError(`Cannot mutate '${path}'. Give a folder or a TypeScript file of ${ROOT}/`);
}

const share = ({ mutants, noticed }: { mutants: number; noticed: number }) =>
  `${((noticed / mutants) * 100).toFixed(1)} %`;

const oneLine = (code: string) => code.replaceAll(/\s+/g, ' ');
