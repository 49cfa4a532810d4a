import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
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
