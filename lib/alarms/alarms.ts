import { Duration, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { catalogue, type EventName } from '../../lambda/events/catalogue.ts';
import { acknowledge } from '../acknowledge.ts';
import type { StageConfig } from '../config.ts';
import type { Encryption } from '../encryption.ts';
import { type AlarmDefinition, type AlarmName, alarmTable } from './alarm-table.ts';
import { topicLink } from './console-links.ts';
import type { MetricSource } from './log-metrics.ts';

interface AlarmsProps {
  readonly config: Pick<StageConfig, 'alarmEmails' | 'gateway' | 'runbook'>;
  readonly encryption: Encryption;
  /** Name of the stage, for the commands in descriptions. */
  readonly stage: string;
}

/** Values of an alarm that are not in the table. */
interface AlarmProps<Name extends AlarmName> {
  /** The resource or log that has the metric. */
  readonly metricsOf: MetricSource<(typeof alarmTable)[Name]['metric']['name']>;
  /** Links into the AWS console, made by `console-links.ts`. */
  readonly links: readonly [string, ...string[]];
  /** Replaces `<event>` and `<impact>` in the texts. */
  readonly event?: EventName;
  /** Value of the setting that the alarm names in `timesSetting` or `periods`. In the unit of the metric. */
  readonly setting?: number;
  /** @default the last part of the alarm's name */
  readonly id?: string;
}

/** Sends a topic's messages by e-mail. Each recipient must confirm once (docs/operations.md). */
export function subscribeEmails(topic: Topic, addresses: readonly string[]): void {
  for (const address of addresses) {
    acknowledge(
      topic.addSubscription(new EmailSubscription(address)),
      'Serverless-SNSRedrivePolicy',
      'SNS retries mail for hours. Nobody would look into a dead-letter queue of mails.',
    );
  }
}

const COMPARISONS = {
  '>=': ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  '<=': ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
  '<': ComparisonOperator.LESS_THAN_THRESHOLD,
};

/** Creates the alarms of the table. They notify one topic, which sends e-mails. */
export class Alarms extends Construct {
  readonly topic: Topic;
  readonly #props: AlarmsProps;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.#props = props;
    this.topic = new Topic(this, 'Topic', { masterKey: props.encryption.alarmKey, enforceSSL: true });
    // The policy that enforces TLS replaces the default policy of SNS, which would let the account's alarms publish.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    subscribeEmails(this.topic, props.config.alarmEmails);
    this.add(this.topic, 'Alarms/Topic/NotDelivered', {
      metricsOf: this.topic,
      links: [topicLink(this.topic)],
    });
  }

  /** Adds an alarm of the table. Unless the table says otherwise, it notifies when it begins and when it ends. */
  add<Name extends AlarmName>(scope: Construct, name: Name, props: AlarmProps<Name>): Alarm {
    const { metric, fires, section, notifies = true, ...texts }: AlarmDefinition = alarmTable[name];
    const { setting = 1, id = name.split('/').at(-1) ?? name } = props;
    const { comparison = '>=' } = fires;
    const threshold = fires.timesSetting === undefined ? fires.threshold : fires.threshold * setting;
    const periods = fires.periods === 'quietAfter' ? setting : (fires.periods ?? 1);
    const impact = this.#fillIn(texts.impact, props.event);
    const firstStep = this.#fillIn(texts.firstStep, props.event);
    const alarm = new Alarm(scope, id, {
      metric: props.metricsOf.metric(alarmTable[name].metric.name, {
        statistic: metric.statistic,
        period: Duration.seconds(metric.period),
      }),
      threshold,
      evaluationPeriods: periods,
      datapointsToAlarm: fires.periodsAtThreshold ?? periods,
      comparisonOperator: COMPARISONS[comparison],
      treatMissingData: TreatMissingData[fires.missingData ?? 'NOT_BREACHING'],
      alarmDescription: [
        `Impact: ${impact} First step: ${firstStep}. See ${this.#props.config.runbook}#${section}`,
        ...props.links,
      ].join('\n'),
    });
    if (notifies) {
      const notify = new SnsAction(this.topic);
      alarm.addAlarmAction(notify);
      alarm.addOkAction(notify);
    }
    return alarm;
  }

  /** Replaces the placeholders of a text. */
  #fillIn(text: AlarmDefinition['impact'], event: EventName | undefined): string {
    const { config, stage } = this.#props;
    const filled = (typeof text === 'string' ? text : text[config.gateway]).replace('<stage>', stage);
    if (event === undefined) return filled;
    return filled.replace('<impact>', catalogue[event].impact).replace('<event>', event);
  }
}
