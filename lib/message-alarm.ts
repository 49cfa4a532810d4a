import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

export interface MessageAlarmProps {
  /** A queue on which a message means that somebody has to look. */
  readonly queue: Queue;
  /** What users lose while nobody does. */
  readonly impact: string;
  /** The first thing to do. */
  readonly firstStep: string;
  readonly topic: ITopic;
}

/** Rings as soon as one message is on a queue that should be empty. */
export class MessageAlarm extends Construct {
  constructor(scope: Construct, id: string, { queue, impact, firstStep, topic }: MessageAlarmProps) {
    super(scope, id);
    const alarm = new Alarm(this, 'Alarm', {
      metric: queue.metricApproximateNumberOfMessagesVisible({
        period: Duration.minutes(1),
        statistic: 'Maximum',
      }),
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `Impact: ${impact} First step: ${firstStep}`,
    });
    alarm.addAlarmAction(new SnsAction(topic));
  }
}
