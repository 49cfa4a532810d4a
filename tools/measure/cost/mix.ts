import { type EventName, eventNames, isEventName } from '../../../lambda/events/catalogue.ts';
import { didYouMean } from '../../../lib/nearest.ts';
import type { Workload } from './workload.ts';

/**
 * Reads weights such as `shop.updated=3,review.posted=1`; an event that is not named is not sent.
 * @throws RangeError that says what is wrong
 */
export function parseMix(text: string): Workload['mix'] {
  const weights = text.split(',').map((part) => {
    const [, name = '', weight = ''] = /^([^=]*)=(\d+(?:\.\d+)?)$/.exec(part) ?? [];
    if (!isEventName(name)) {
      throw new RangeError(
        `It must be EVENT=WEIGHT, separated by commas, not '${part}'.${didYouMean(part.replace(/=.*/, ''), eventNames)} The events are ${eventNames.join(', ')}.`,
      );
    }
    return [name, Number(weight)] as const;
  });
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  if (sum === 0) throw new RangeError('It must give at least one event a weight above 0.');
  const share = (name: EventName) =>
    weights.filter(([of]) => of === name).reduce((total, [, weight]) => total + weight, 0) / sum;
  return Object.fromEntries(eventNames.map((name) => [name, share(name)])) as Record<EventName, number>;
}
