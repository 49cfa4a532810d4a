import { InvalidArgumentError } from '@commander-js/extra-typings';
import { type EventName, eventNames, isEventName } from '../../../lambda/events/catalogue.ts';
import { didYouMean } from '../../../lib/did-you-mean.ts';

/** Traffic and durations: assumptions that no template contains. */
export interface Workload {
  /** Deliveries in a month, spread evenly. All are accepted. Retries and 401s count as deliveries, too. */
  readonly deliveries: number;
  /** Mean size of a body that fits a message. */
  readonly payloadBytes: number;
  /** Mean billed milliseconds of an invocation of the receiver. */
  readonly receiverMilliseconds: number;
  /** Mean billed milliseconds of an invocation of a consumer, for its whole batch. */
  readonly consumerMilliseconds: number;
  readonly batch: number;
  /** Share of the deliveries, from 0 to 1, that is kept in S3 (decision D13). */
  readonly oversizeShare: number;
  /** Megabytes of every function. Undefined: as in the template. */
  readonly memoryMegabytes: number | undefined;
  /** Share of each event. They add up to 1. */
  readonly mix: Readonly<Record<EventName, number>>;
  /** E-mail addresses that get every review notification. */
  readonly reviewEmails: number;
  /** Whether each event of the shop cache invalidates a path of a CloudFront distribution. */
  readonly cloudFront: boolean;
  /** Athena queries, each about a week of the archive. */
  readonly questions: number;
}

const evenMix = Object.fromEntries(eventNames.map((event) => [event, 1 / eventNames.length])) as Record<
  EventName,
  number
>;

/**
 * Payload: twice that of the samples in `events/`, whose ids are short. Milliseconds are assumed, not measured on
 * Lambda: a warm receiver makes one call (SQS), a warm consumer one or three (DynamoDB, SNS), each taking a few
 * milliseconds within the region, and cold starts are spread over many invocations. Batch: 1, the most expensive case:
 * a queue without a backlog delivers messages one by one.
 */
export const defaultWorkload: Workload = {
  deliveries: 1_000_000,
  payloadBytes: 350,
  receiverMilliseconds: 15,
  consumerMilliseconds: 25,
  batch: 1,
  oversizeShare: 0,
  memoryMegabytes: undefined,
  mix: evenMix,
  reviewEmails: 0,
  cloudFront: false,
  questions: 0,
};

/** Default quota of the account. Source: Lambda developer guide, "Lambda quotas", concurrent executions. */
export const ACCOUNT_CONCURRENCY = 1_000;

/**
 * Parses weights such as `shop.updated=3,review.posted=1`. Events that are not named are not sent.
 * @throws InvalidArgumentError that says what is wrong
 */
export function parseMix(text: string): Workload['mix'] {
  const weights = text.split(',').map((part) => {
    const [, name = '', weight = ''] = /^([^=]*)=(\d+(?:\.\d+)?)$/.exec(part) ?? [];
    if (!isEventName(name)) {
      throw new InvalidArgumentError(
        `It must be EVENT=WEIGHT, separated by commas, not '${part}'.${didYouMean(part.replace(/=.*/, ''), eventNames)} The events are ${eventNames.join(', ')}.`,
      );
    }
    return [name, Number(weight)] as const;
  });
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  if (sum === 0) throw new InvalidArgumentError('It must give at least one event a weight above 0.');
  const share = (name: EventName) =>
    weights.filter(([of]) => of === name).reduce((total, [, weight]) => total + weight, 0) / sum;
  return Object.fromEntries(eventNames.map((name) => [name, share(name)])) as Record<EventName, number>;
}
