import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';

export const command = npmScript(
  'generate',
  'Brings every file up to date that follows from the code: Lambda events of the samples, descriptions of our interfaces, template snapshots, documents, tables, the picture of the dashboard.',
)
  .option('--check', 'writes nothing, and fails where a file is not what the code says')
  .action(async ({ check = false }) => {
    const { incompleteEvents } = await import('../../generate/incomplete-events.ts');
    const incomplete = incompleteEvents();
    if (incomplete.length > 0) throw new CommandError(incomplete.join('\n'));
    const { bringUpToDate, isUpToDate } = await import('../../generate/derived-file.ts');
    const { derivedFiles } = await import('../../generate/derived-files.ts');
    const { withAssemblies } = await import('../../generate/stages.ts');
    const outdated = (await withAssemblies(derivedFiles)).filter((file) => !isUpToDate(file));
    const names = outdated.map(({ file }) => file);
    if (check && names.length > 0) {
      throw new CommandError(
        `Not what the code says: ${names.join(', ')}. Bring them up to date: npm run generate`,
      );
    }
    outdated.forEach(bringUpToDate);
    console.log(
      names.length === 0
        ? 'Every derived file is up to date'
        : outdated
            .map(({ file, text }) => `${text === undefined ? 'Removed' : 'Brought up to date'}: ${file}`)
            .join('\n'),
    );
  });
