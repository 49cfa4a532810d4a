import { hookctlCommand } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';

export const command = hookctlCommand(
  'generate',
  'Updates all generated files, such as docs/api/ and tables in documents.',
)
  .option('--check', 'write nothing, and fail if a file is out of date')
  .action(async ({ check = false }) => {
    const { eventIndex, incompleteEvents } = await import('../generate/event-index.ts');
    const incomplete = incompleteEvents();
    if (incomplete.length > 0) throw new CommandError(incomplete.join('\n'));
    const { bringUpToDate, isUpToDate } = await import('../generate/derived-file.ts');
    const refuse = (names: readonly string[]) => {
      if (check && names.length > 0) {
        throw new CommandError(`Out of date: ${names.join(', ')}. Update with: npm run generate`);
      }
    };
    // The list of events is generated first, because everything else depends on it.
    const outdated = [eventIndex()].filter((file) => !isUpToDate(file));
    refuse(outdated.map(({ file }) => file));
    outdated.forEach(bringUpToDate);
    const { derivedFiles } = await import('../generate/derived-files.ts');
    const derived = await derivedFiles();
    outdated.push(...derived.filter((file) => !isUpToDate(file)));
    const names = outdated.map(({ file }) => file);
    refuse(names);
    outdated.forEach(bringUpToDate);
    console.log(
      names.length === 0
        ? 'Every derived file is up to date'
        : outdated
            .map(({ file, text }) => `${text === undefined ? 'Removed' : 'Updated'}: ${file}`)
            .join('\n'),
    );
  });
