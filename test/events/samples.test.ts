import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { generatedFiles } from '../../events/lambda-events.ts';
import { eventNames } from '../../lambda/contract/catalogue.ts';
import { parsePayload } from '../../lambda/contract/envelope.ts';
import { kebabCase } from '../../lambda/contract/event-names.ts';

const jsonFilesOf = (folder: string) => readdirSync(folder).filter((file) => file.endsWith('.json'));

describe('the samples', () => {
  test('are one for each event of the catalogue, named after it', () => {
    expect(jsonFilesOf('events').sort()).toEqual(
      eventNames.map((event) => `${kebabCase(event)}.json`).sort(),
    );
  });

  test.each(eventNames)('hold a usable %s', (event) => {
    const parsed = parsePayload(readFileSync(`events/${kebabCase(event)}.json`));
    expect(parsed).toMatchObject({ kind: 'event', event: { event } });
  });
});

describe('the forms that are generated from the samples', () => {
  const generated = generatedFiles();

  test.each([...generated])('%s is up to date', (file, text) => {
    if (readFileSync(file, 'utf8') !== text) {
      throw new Error(`${file} is not what its sample and the code make of it. Run: npm run events`);
    }
  });

  test.each(['events/api-gateway', 'events/sqs'])('%s holds nothing besides', (folder) => {
    const expected = [...generated.keys()].filter((file) => file.startsWith(`${folder}/`));
    expect(
      jsonFilesOf(folder)
        .map((file) => `${folder}/${file}`)
        .sort(),
    ).toEqual(expected.sort());
  });
});
