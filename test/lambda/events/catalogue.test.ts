import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readSamples } from '../../../events/samples.ts';
import { catalogue, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import { parsePayload } from '../../../lambda/events/envelope.ts';
import { kebabCase, pascalCase, queueUrlVariable } from '../../../lambda/events/event-names.ts';

test('the catalogue has the events of the contract with their processing', () => {
  expect(
    Object.fromEntries(Object.entries(catalogue).map(([event, { processing }]) => [event, processing])),
  ).toMatchObject({
    'shop.updated': 'Invalidate the shop cache',
    'girl.schedule_changed': 'Send a notification to the chat room',
    'girl.created': 'Synchronise the cast',
    'girl.deleted': 'Synchronise the cast',
    'review.posted': 'Send a review notification',
    'user.updated': 'Update the contact_partner record',
  });
});

test.each([
  { event: 'girl.schedule_changed', notifies: true },
  { event: 'review.posted', notifies: true },
  { event: 'shop.updated', notifies: false },
  { event: 'girl.created', notifies: false },
  { event: 'user.updated', notifies: false },
] as const)('whether people are notified of $event: $notifies', ({ event, notifies }) => {
  expect(isNotification(event)).toBe(notifies);
});

test('all names derived from an event follow one rule', () => {
  expect(kebabCase('girl.schedule_changed')).toBe('girl-schedule-changed');
  expect(pascalCase('girl.schedule_changed')).toBe('GirlScheduleChanged');
  expect(queueUrlVariable('girl.schedule_changed')).toBe('QUEUE_URL_GIRL_SCHEDULE_CHANGED');
});

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
