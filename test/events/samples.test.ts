import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readSamples } from '../../events/samples.ts';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { parsePayload } from '../../lambda/events/envelope.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';

describe('the samples', () => {
  test('exist for each event of the catalogue, with its name', () => {
    expect(
      readSamples()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(eventNames.map(kebabCase).sort());
  });

  test.each(eventNames)('contain a usable %s', (event) => {
    const parsed = parsePayload(readFileSync(`events/${kebabCase(event)}.json`));
    expect(parsed).toMatchObject({ kind: 'event', event: { event } });
  });
});
