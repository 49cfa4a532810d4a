import { Duration } from 'aws-cdk-lib';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type Alarms, EACH_MINUTE } from './alarms.ts';
import { dashboardLink } from './console-links.ts';
import { failures, putAside } from './counted-metrics.ts';

export interface WatchConsumersProps {
  readonly receiverLog: LogGroup;
  readonly consumerLogs: readonly [LogGroup, ...LogGroup[]];
  readonly alarms: Alarms;
}

/** Periods of five minutes with failures in a row: a message that fails alone backs off and leaves gaps, which others may fill. */
const FAILING_PERIODS = 3;

/**
 * Watches what any event may do, by one alarm for all: an alarm is paid for, and which event it is stands where one looks
 * first. What lies on a queue has an alarm of that queue besides.
 */
export function watchConsumers(
  scope: Construct,
  { receiverLog, consumerLogs, alarms }: WatchConsumersProps,
): void {
  const links = [dashboardLink(scope)] as const;
  alarms.add(scope, 'Failing', {
    metric: failures(consumerLogs).with({ period: Duration.minutes(5) }),
    threshold: 1,
    periods: FAILING_PERIODS,
    impact: 'effects of some event come late, and after some three hours of failing do not come.',
    firstStep: `see which event it is, and what is down: ${alarms.look()}`,
    section: 'failing',
    links,
  });
  alarms.add(scope, 'PutAside', {
    metric: putAside(receiverLog, consumerLogs).with({ period: EACH_MINUTE }),
    threshold: 1,
    impact:
      'one more event had no effect: it is a dead letter, could not be understood, or is of an unknown kind.',
    firstStep: `see on which queue: ${alarms.look()}`,
    section: 'put-aside',
    links,
  });
}
