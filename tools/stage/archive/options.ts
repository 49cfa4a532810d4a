import { Argument, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { SettledOutcome } from '../../../lambda/archive/record.ts';
import { type EventName, eventNames } from '../../../lambda/contract/catalogue.ts';
import { eachOf, time } from '../../terminal/options.ts';
import { settledOutcomes } from './filter.ts';

/** Characters of an id's beginning, at least: as many as a terminal shows. */
const SHORTEST_ID = 8;

export const eventsArgument = () =>
  new Argument('[events...]', 'such as shop.updated; without one, all').argParser<readonly EventName[]>(
    eachOf(eventNames),
  );

export const sinceOption = () =>
  new Option(
    '--since <time>',
    'settled then or later: 2026-01-31T09:00:00Z, 2026-01-31, or a length back from now such as 3h or 7d',
  ).argParser(time);

export const untilOption = () => new Option('--until <time>', 'settled before').argParser(time);

export const shopOption = () => new Option('--shop <id>', 'of this shop');

export const outcomeOption = () =>
  new Option('--outcome <outcome>', `what it came to: ${settledOutcomes.join(', ')}; repeatable`).argParser<
    readonly SettledOutcome[]
  >(eachOf(settledOutcomes));

export const idOption = () =>
  new Option(
    '--id <id>',
    'of this event, by its id or its beginning, or of this request, by its whole id; repeatable',
  ).argParser<readonly string[]>((text, before = []) => {
    if (text.length >= SHORTEST_ID) return [...before, text];
    throw new InvalidArgumentError(
      `At least ${SHORTEST_ID} characters: a shorter one may begin others, too.`,
    );
  });
