import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

const EACH_MINUTE = { period: Duration.minutes(1), statistic: 'Maximum' };

export interface QueueAlarmProps {
  readonly queue: Queue;
  /**
   * How old the oldest message may become.
   * @default a message at all means that somebody has to look
   */
  readonly maximumAge?: Duration;
  /** What users lose while nobody does. */
  readonly impact: string;
  /** The first thing to do. */
  readonly firstStep: string;
  readonly topic: ITopic;
}

/** Rings as soon as there is a message on a queue that should be empty, or one that should have been processed. */
export class QueueAlarm extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { queue, maximumAge, impact, firstStep, topic }: QueueAlarmProps,
  ) {
    super(scope, id);
    const alarm = new Alarm(this, 'Alarm', {
      metric:
        maximumAge === undefined
          ? queue.metricApproximateNumberOfMessagesVisible(EACH_MINUTE)
          : queue.metricApproximateAgeOfOldestMessage(EACH_MINUTE),
      threshold: maximumAge?.toSeconds() ?? 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `Impact: ${impact} First step: ${firstStep}`,
    });
    alarm.addAlarmAction(new SnsAction(topic));
  }
}
