import { Duration, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Encryption } from '../encryption.ts';
import { subscribeEmails } from './email-subscriptions.ts';

export interface AlarmsProps {
  readonly encryption: Encryption;
  /** Addresses that every alarm is mailed to; each has to confirm once. */
  readonly emails: readonly string[];
  /** Where `operations.md` is published. */
  readonly runbook: string;
  /** Name of the stage, for the commands that an alarm names. */
  readonly stage: string;
}

export interface AlarmProps {
  readonly metric: IMetric;
  /** Rings at this value and above, unless `comparison` says otherwise. */
  readonly threshold: number;
  /** @default ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD */
  readonly comparison?: ComparisonOperator;
  /**
   * What a period without a value counts as.
   * @default TreatMissingData.NOT_BREACHING: no traffic is no fault
   */
  readonly missingData?: TreatMissingData;
  /**
   * Periods of the metric that are looked at.
   * @default 1
   */
  readonly periods?: number;
  /**
   * How many of them must be at the threshold.
   * @default all
   */
  readonly periodsAtThreshold?: number;
  /**
   * Whether people are told. What a deployment reads needs no action, and rings at other times, too.
   * @default true
   */
  readonly told?: boolean;
  /** What users lose while nobody does anything: a sentence. */
  readonly impact: string;
  /** The first thing to do: a sentence without its full stop. */
  readonly firstStep: string;
  /** Anchor of its section in `operations.md`. */
  readonly section: string;
  /** Where to look in the console of AWS, as `console-links.ts` makes them. */
  readonly links: readonly [string, ...string[]];
}

/** Metrics of what must not happen at all are looked at every minute. */
export const EACH_MINUTE = Duration.minutes(1);

/** Every alarm of the stack is made here, and those that people hear ring the same way: at one topic, with e-mail. */
export class Alarms extends Construct {
  readonly topic: Topic;
  readonly #runbook: string;
  readonly #stage: string;

  constructor(scope: Construct, id: string, { encryption, emails, runbook, stage }: AlarmsProps) {
    super(scope, id);
    this.#runbook = runbook;
    this.#stage = stage;
    this.topic = new Topic(this, 'Topic', { masterKey: encryption.alarmKey, enforceSSL: true });
    // The policy that enforces TLS replaces SNS' own, which would have let the account's alarms publish.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    subscribeEmails(this.topic, emails);
  }

  /** The first step where a message lies on a queue. @param queue as `npm run dlq` knows it */
  lookInto(queue: string): string {
    return `npm run dlq -- show ${queue} --stage ${this.#stage}`;
  }

  /** What shows every queue, and what is paused. */
  look(): string {
    return `npm run dlq -- list --stage ${this.#stage}`;
  }

  /** The first step where an event is paused. */
  resume(event: string): string {
    return `npm run resume -- ${event} --stage ${this.#stage}`;
  }

  /** Adds an alarm, which tells the topic when it begins and when it is over, unless `told` is false. */
  add(scope: Construct, id: string, props: AlarmProps): Alarm {
    const { metric, threshold, periods = 1, periodsAtThreshold = periods } = props;
    const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD } = ComparisonOperator;
    const alarm = new Alarm(scope, id, {
      metric,
      threshold,
      evaluationPeriods: periods,
      datapointsToAlarm: periodsAtThreshold,
      comparisonOperator: props.comparison ?? GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: props.missingData ?? TreatMissingData.NOT_BREACHING,
      alarmDescription: [
        `Impact: ${props.impact} First step: ${props.firstStep}. See ${this.#runbook}#${props.section}`,
        ...props.links,
      ].join('\n'),
    });
    if (props.told === false) return alarm;
    const tell = new SnsAction(this.topic);
    alarm.addAlarmAction(tell);
    alarm.addOkAction(tell);
    return alarm;
  }
}
