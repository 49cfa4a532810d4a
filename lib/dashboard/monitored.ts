import type { Alarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { CfnDeliveryStream } from 'aws-cdk-lib/aws-kinesisfirehose';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { EventName } from '../../lambda/events/catalogue.ts';
import type { WebhookApi } from '../api/webhook-api.ts';

/** The way of one event: what its row of the dashboard is made of. */
export interface MonitoredEvent {
  readonly event: EventName;
  readonly queue: IQueue;
  readonly deadLetterQueue: IQueue;
  /** The function itself and not an alias: its metrics hold all versions. */
  readonly consumer: LambdaFunction;
  /** undefined where nothing is archived */
  readonly archiveStream: CfnDeliveryStream | undefined;
}

export interface MonitoredTable {
  readonly table: Table;
  /** Names of its global secondary indexes: they throttle and cost by themselves. @default none */
  readonly indexes?: readonly string[];
}

/** What the dashboard shows. */
export interface Monitored {
  readonly api: Pick<WebhookApi, 'gateway' | 'ownAnswers'>;
  /** The function itself and not an alias: its metrics hold all versions. */
  readonly receiver: LambdaFunction;
  /** In the order of their rows. */
  readonly events: readonly MonitoredEvent[];
  readonly quarantine: IQueue;
  readonly unrouted: IQueue;
  readonly tables: readonly MonitoredTable[];
  /** The topics of notifications. */
  readonly topics: readonly ITopic[];
  /** Every log group that is paid for. */
  readonly logGroups: readonly ILogGroup[];
  /** How late deliveries come, and effects after them: milliseconds of all events. */
  readonly lag: Metric;
  readonly effectLatency: Metric;
  /** Every alarm: their states stand at the top, their thresholds in the graphs. */
  readonly alarms: readonly Alarm[];
}
