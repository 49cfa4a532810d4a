import { Duration } from 'aws-cdk-lib';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { catalogue } from '../../lambda/events/catalogue.ts';
import type { StageConfig } from '../config.ts';
import type { EventPipeline } from '../pipeline/event-pipeline.ts';
import type { Alarms } from './alarms.ts';
import { logLink, saying } from './console-links.ts';
import { deliveryLag, deliveryLagOf } from './counted-metrics.ts';
import { watchSilence } from './watch-silence.ts';

export interface WatchArrivalsProps {
  readonly config: Pick<StageConfig, 'events' | 'lagAfter'>;
  readonly pipelines: readonly EventPipeline[];
  readonly receiverLog: LogGroup;
  readonly alarms: Alarms;
}

/**
 * Whose median must be late: a delivery that the partner repeats after an outage of ours is late rightfully, and
 * comes among others that are not. So long that a partner who sends little is heard, too.
 */
const LATE_PERIOD = Duration.hours(1);

/**
 * Watches what the partner sends: whether it comes, and how late. All events together, as whoever has a backlog mostly is
 * late with all; an event by itself where the stage says so.
 * @returns the lag of all events
 */
export function watchArrivals(
  scope: Construct,
  { config, pipelines, receiverLog, alarms }: WatchArrivalsProps,
): Metric {
  const lag = deliveryLag(receiverLog);
  const watchLag = (of: Construct, metric: Metric, minutes: number, what: string, pattern: string) =>
    alarms.add(of, 'Lag', {
      metric: metric.with({ period: LATE_PERIOD }),
      threshold: Duration.minutes(minutes).toMilliseconds(),
      impact: `half of what comes${what} is old: our data is as far behind.`,
      firstStep: 'ask the partner whether they have a backlog',
      section: 'lag',
      links: [logLink(receiverLog, pattern)],
    });
  if (config.lagAfter > 0) watchLag(scope, lag, config.lagAfter, '', saying('Accepted'));
  for (const pipeline of pipelines) {
    const { event, queue } = pipeline;
    const { lagAfter, quietAfter } = config.events[event];
    const accepted = `{ $.message = "Accepted" && $.event = "${event}" }`;
    if (lagAfter !== undefined) {
      watchLag(pipeline, deliveryLagOf(receiverLog, event), lagAfter, ` of ${event}`, accepted);
    }
    if (quietAfter === undefined) continue;
    // SQS counts it for nothing. What is redriven or replayed counts, too: it is no silence of ours to hear.
    watchSilence(pipeline, queue.metricNumberOfMessagesSent(), quietAfter, alarms, {
      impact: catalogue[event].impact,
      firstStep: `see whether other events come, and ask the partner whether they send ${event}`,
      links: [logLink(receiverLog, accepted)],
    });
  }
  return lag;
}
