import { npmScript } from '../terminal/command.ts';

export const command = npmScript(
  'api',
  'Writes the descriptions of our interfaces, docs/api/: OpenAPI of the endpoint, AsyncAPI of the topics and a JSON Schema for each event, from the schemas of the code. `npm run generate` does so, too.',
)
  .addHelpText('after', '\nExample: npm run api && git diff docs/api')
  .action(async () => {
    const { apiFiles } = await import('../../partner/api/files.ts');
    const { bringUpToDate, isUpToDate } = await import('../../generate/derived-file.ts');
    const outdated = apiFiles().filter((file) => !isUpToDate(file));
    outdated.forEach(bringUpToDate);
    console.log(
      outdated.length === 0
        ? 'docs/api is up to date'
        : outdated
            .map(({ file, text }) => `${text === undefined ? 'Removed' : 'Brought up to date'}: ${file}`)
            .join('\n'),
    );
  });
