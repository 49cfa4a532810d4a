import { hookctlCommand } from '../terminal/command.ts';

export const command = hookctlCommand(
  'api',
  'Writes docs/api/: OpenAPI, AsyncAPI and JSON Schemas. It is part of npm run generate.',
).action(async () => {
  const { apiFiles } = await import('../api/files.ts');
  const { bringUpToDate, isUpToDate } = await import('../generate/derived-file.ts');
  const outdated = apiFiles().filter((file) => !isUpToDate(file));
  outdated.forEach(bringUpToDate);
  console.log(
    outdated.length === 0
      ? 'docs/api is up to date'
      : outdated.map(({ file, text }) => `${text === undefined ? 'Removed' : 'Updated'}: ${file}`).join('\n'),
  );
});
