import { hookctlCommand } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';

export const command = hookctlCommand(
  'generate',
  'Updates all generated files, such as docs/api/ and tables in documents.',
).action(async () => {
  const { bringUpToDate, eventIndex, incompleteEvents, isUpToDate } = await import(
    '../generate/event-index.ts'
  );
  const incomplete = incompleteEvents();
  if (incomplete.length > 0) throw new CommandError(incomplete.join('\n'));
  // The list of events is generated first, because everything else depends on it.
  const outdated = [eventIndex()].filter((file) => !isUpToDate(file));
  outdated.forEach(bringUpToDate);
  const { allGeneratedFiles } = await import('../generate/all-generated-files.ts');
  const others = (await allGeneratedFiles()).filter((file) => !isUpToDate(file));
  others.forEach(bringUpToDate);
  for (const { file } of [...outdated, ...others]) console.log(`Updated: ${file}`);
  if (outdated.length + others.length === 0) console.log('Every generated file is up to date');
});
