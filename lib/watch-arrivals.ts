import { Duration } from 'aws-cdk-lib';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { catalogue } from '../lambda/contract/catalogue.ts';
import type { Alarms } from './alarms.ts';
import type { StageConfig } from './config.ts';
import { logLink } from './console-links.ts';
import type { EventPipeline } from './event-pipeline.ts';
import { ReportedMetrics } from './reported-metrics.ts';
import { watchSilence } from './watch-silence.ts';

export interface WatchArrivalsProps {
  readonly config: Pick<StageConfig, 'events' | 'lagAfter'>;
  readonly receiverLog: ILogGroup;
  readonly alarms: Alarms;
}

/**
 * Periods of five minutes in a row. It is the median that must be late: a delivery that the partner repeats after
 * an outage of ours is late rightfully, and comes among others that are not.
 */
const LATE_PERIODS = 3;

/** Watches what the partner sends of one event: whether it comes, and how late. */
export function watchArrivals(
  pipeline: EventPipeline,
  { config, receiverLog, alarms }: WatchArrivalsProps,
): void {
  const { event } = pipeline;
  const reported = ReportedMetrics.of(pipeline);
  const links = [logLink(receiverLog, `{ $.message = "Accepted" && $.event = "${event}" }`)] as const;
  if (config.lagAfter > 0) {
    alarms.add(pipeline, 'Lag', {
      metric: reported.ofReceiver(
        'DeliveryLag',
        { event },
        { period: Duration.minutes(5), statistic: 'p50' },
      ),
      threshold: Duration.minutes(config.lagAfter).toMilliseconds(),
      periods: LATE_PERIODS,
      impact: `half of what comes of ${event} is old: ${catalogue[event].impact}`,
      firstStep: 'ask the partner whether they have a backlog',
      section: 'lag',
      links,
    });
  }
  const { quietAfter } = config.events[event];
  if (quietAfter === undefined) return;
  watchSilence(pipeline, reported.ofReceiver('Accepted', { event }), quietAfter, alarms, {
    impact: catalogue[event].impact,
    firstStep: `see whether other events come, and ask the partner whether they send ${event}`,
    links,
  });
}
