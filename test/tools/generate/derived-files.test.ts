import { expect, test } from '@jest/globals';
import { isUpToDate } from '../../../tools/generate/derived-file.ts';
import { derivedFiles } from '../../../tools/generate/derived-files.ts';
import { fillPlace } from '../../../tools/generate/marked-section.ts';
import { assembliesIn, derivedFrom } from '../../../tools/generate/stages.ts';
import { stageAssembly } from '../../lib/stage-assembly.ts';

test('every file that follows from the code is what the code says', async () => {
  const folders = new Map(
    await Promise.all(derivedFrom.map(async (stage) => [stage, await stageAssembly(stage)] as const)),
  );
  const outdated = derivedFiles(assembliesIn((stage) => folders.get(stage) ?? ''))
    .filter((file) => !isUpToDate(file))
    .map(({ file }) => file);
  if (outdated.length > 0) {
    throw new Error(
      `Not what the code says: ${outdated.join(', ')}. Bring them up to date, and look at what changes: npm run generate`,
    );
  }
});

test('a document must have a place for what is put into it', () => {
  expect(() => fillPlace('<!-- cost -->\n<!-- /cost -->', 'scale', '')).toThrow(
    'The document has no <!-- scale -->',
  );
});
