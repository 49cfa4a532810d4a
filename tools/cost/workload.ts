import { InvalidArgumentError } from '@commander-js/extra-typings';
import { type EventName, eventNames, isEventName } from '../../lambda/events/catalogue.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';

/** Traffic and durations: assumptions that no stage contains. */
export interface Workload {
  /** Deliveries in a month, spread evenly. All are accepted. Retries and 401s count as deliveries, too. */
  readonly deliveries: number;
  /** Mean size of a body. All bodies are assumed to fit into a message. */
  readonly payloadBytes: number;
  /** Mean billed milliseconds of an invocation of the receiver. */
  readonly receiverMs: number;
  /** Mean billed milliseconds of an invocation of a consumer, for its whole batch. */
  readonly consumerMs: number;
  readonly batch: number;
  /** Share of each event. The shares add up to 1. */
  readonly mix: Readonly<Record<EventName, number>>;
}

/**
 * Payload: twice that of the samples in `events/`, whose ids are short. Milliseconds are assumed, not measured on
 * Lambda: a warm receiver makes one call (SQS), a warm consumer two to four (DynamoDB, SNS, Firehose), each taking a
 * few milliseconds, and cold starts are spread over many invocations. Batch: 1, the most expensive case: a queue
 * without a backlog delivers messages one by one.
 */
export const defaultWorkload: Workload = {
  deliveries: 1_000_000,
  payloadBytes: 350,
  receiverMs: 15,
  consumerMs: 35,
  batch: 1,
  mix: mixOf(() => 1 / eventNames.length),
};

/**
 * Parses weights such as `shop.updated=3,review.posted=1`. Events that are not named are not sent.
 * @throws InvalidArgumentError that says what is wrong
 */
export function parseMix(text: string): Workload['mix'] {
  const weights = new Map<string, number>();
  for (const part of text.split(',')) {
    const [, name = '', weight = ''] = /^([^=]*)=(\d+(?:\.\d+)?)$/.exec(part) ?? [];
    if (!isEventName(name)) {
      throw new InvalidArgumentError(
        `It must be EVENT=WEIGHT, separated by commas, not '${part}'.${didYouMean(part.replace(/=.*/, ''), eventNames)} The events are ${eventNames.join(', ')}.`,
      );
    }
    weights.set(name, (weights.get(name) ?? 0) + Number(weight));
  }
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
  if (sum === 0) throw new InvalidArgumentError('It must give at least one event a weight above 0.');
  return mixOf((name) => (weights.get(name) ?? 0) / sum);
}

function mixOf(share: (name: EventName) => number): Workload['mix'] {
  return Object.fromEntries(eventNames.map((name) => [name, share(name)])) as Workload['mix'];
}
