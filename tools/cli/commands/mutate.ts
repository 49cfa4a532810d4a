import { existsSync, readdirSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { table } from '../terminal/layout.ts';
import { wholeNumber } from '../terminal/options.ts';
import { screenWidth } from '../terminal/terminal.ts';

/** What may be mutated: what runs in AWS. */
const ROOT = 'lambda';

/** `npm run mutate`: by hand, as it takes a few seconds for each mutant, and minutes for one that nothing notices. */
export const command = npmScript(
  'mutate',
  'Changes a folder of lambda/ in one place after another, and shows which changes the tests do not notice.',
)
  .argument('<path>', `the folder, or a file of it: ${ROOT}/contract`)
  .option('--concurrency <n>', 'mutants at a time', wholeNumber(1), 1)
  .action(async (path, { concurrency }) => {
    const { mutate } = await import('../../../test/mutate/mutate.ts');
    const { mutants, timedOut, survivors } = await mutate(mutable(path), concurrency);
    const rows = survivors.map(({ place, original, replacement }) => [
      place,
      oneLine(original),
      oneLine(replacement),
    ]);
    const columns = [{ heading: 'NOT NOTICED' }, { heading: 'ORIGINAL' }, { heading: 'MUTANT' }];
    if (rows.length > 0) console.log(`${table(columns, rows, screenWidth()).join('\n')}\n`);
    const noticed = mutants - survivors.length;
    const share = mutants === 0 ? 100 : (noticed / mutants) * 100;
    console.log(
      `${noticed} of ${mutants} mutants noticed, ${timedOut} of them by a time-out: ${share.toFixed(1)} in 100`,
    );
  });

/** @throws CommandError where it is nothing that can be mutated */
function mutable(path: string): string {
  const wanted = normalize(path).replace(/\/$/, '');
  const folders = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(ROOT, name))
    .toSorted();
  if (folders.includes(wanted)) return wanted;
  if (wanted.startsWith(`${ROOT}/`) && wanted.endsWith('.ts') && existsSync(wanted)) return wanted;
  throw new CommandError(`No '${path}' to mutate. One of: ${folders.join(', ')}; or a file of ${ROOT}/`);
}

const oneLine = (code: string) => code.replaceAll(/\s+/g, ' ');
