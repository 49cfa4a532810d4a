import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { queueUrlVariable } from '../../lambda/events/event-names.ts';
import { type Alarms, EACH_MINUTE } from '../alarms/alarms.ts';
import { DIED, functionLink, logLink, saying } from '../alarms/console-links.ts';
import { ReportedMetrics } from '../alarms/reported-metrics.ts';
import { VERIFYING, verified, WRONGLY_SIGNED } from '../alarms/signature-metric.ts';
import { watchSilence } from '../alarms/watch-silence.ts';
import type { StageConfig } from '../config.ts';
import { ReleasedFunction } from '../release/released-function.ts';
import type { PayloadBucket } from './payload-bucket.ts';
import type { ProtectedQueue } from './protected-queue.ts';
import type { FunctionDefaults } from './webhook-function.ts';
import type { WebhookSecret } from './webhook-secret.ts';

export interface ReceiverProps {
  readonly defaults: FunctionDefaults;
  readonly settings: StageConfig['receiver'];
  readonly secret: WebhookSecret;
  /** How long after a rotation the previous secret is accepted (decision D12). */
  readonly rotationGrace: Duration;
  readonly queues: ReadonlyMap<EventName, ProtectedQueue>;
  readonly unrouted: ProtectedQueue;
  readonly quarantine: ProtectedQueue;
  readonly payloads: PayloadBucket;
  /** Hours after which silence of every kind rings. @default never */
  readonly quietAfter: StageConfig['quietAfter'];
  readonly alarms: Alarms;
}

/** How long wrong signatures may come with no right one between them, before somebody is told. */
const AN_HOUR = Duration.hours(1);

/** The function behind the webhook: verifies, parses and queues. */
export class Receiver extends ReleasedFunction {
  constructor(scope: Construct, id: string, props: ReceiverProps) {
    const { secret, queues, unrouted, quarantine, payloads, alarms } = props;
    const send = new PolicyStatement({
      actions: ['sqs:SendMessage'],
      resources: [...queues.values(), quarantine, unrouted].map(({ queueArn }) => queueArn),
    });
    super(scope, id, {
      ...props.defaults,
      service: 'receiver',
      description: 'Verifies, parses and queues the deliveries of the partner',
      timeout: Duration.seconds(props.settings.timeout),
      memory: props.settings.memory,
      reservedConcurrency: props.settings.reservedConcurrency,
      environment: {
        WEBHOOK_SECRET_ARN: secret.arn,
        SECRET_GRACE_SECONDS: String(props.rotationGrace.toSeconds()),
        PAYLOAD_BUCKET: payloads.bucketName,
        QUARANTINE_QUEUE_URL: quarantine.queueUrl,
        UNROUTED_QUEUE_URL: unrouted.queueUrl,
        ...Object.fromEntries(
          [...queues].map(([event, { queueUrl }]) => [queueUrlVariable(event), queueUrl]),
        ),
      },
      permissions: [send, ...secret.readPermissions, payloads.putPermission()],
    });

    payloads.acknowledgeWildcard(this, '*');

    alarms.add(this, 'Errors', {
      metric: this.function.metricErrors({ period: EACH_MINUTE }),
      threshold: 1,
      periods: 5,
      periodsAtThreshold: 2,
      impact: 'the receiver dies or runs out of time; the partner gets 500s and repeats.',
      firstStep: 'read the end of the receiver’s log, and take the last deployment back if it is new',
      section: 'receiver-errors',
      links: [logLink(this.logGroup, DIED)],
    });
    alarms.add(this, 'Throttles', {
      metric: this.function.metricThrottles({ period: EACH_MINUTE }),
      threshold: 1,
      periods: 5,
      periodsAtThreshold: 2,
      impact:
        'deliveries are turned away for want of concurrency; the 503 of an HTTP API may not be repeated.',
      firstStep: 'compare the concurrency of all functions with the account’s quota',
      section: 'throttles',
      links: [functionLink(this.function)],
    });
    alarms.add(this, 'SecretUnreadable', {
      metric: ReportedMetrics.of(this).ofReceiver('SecretUnreadable'),
      threshold: 1,
      periods: 5,
      periodsAtThreshold: 2,
      impact: 'new receivers cannot verify anything and answer 500; running ones live on a cached secret.',
      firstStep: 'read the secret by hand as the operations guide shows: is it there, is it allowed?',
      section: 'secret-unreadable',
      links: [logLink(this.logGroup, saying('Secret not readable*', 'ServerError'))],
    });
    this.#watchSignatures(alarms, props.quietAfter);
  }

  #watchSignatures(alarms: Alarms, quietAfter: StageConfig['quietAfter']): void {
    const metric = verified(this.logGroup);
    alarms.add(this, 'WrongSecret', {
      metric: metric.with({ period: AN_HOUR, statistic: 'Maximum' }),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      impact:
        'in this hour all that was signed was signed with another secret: the partner may be locked out.',
      firstStep: 'see by source address whether it is the partner whose signature is wrong',
      section: 'wrong-secret',
      links: [logLink(this.logGroup, WRONGLY_SIGNED)],
    });
    if (quietAfter === undefined) return;
    watchSilence(this, metric, quietAfter, alarms, {
      impact: 'nothing has come of the partner, of any kind: our data may be falling behind.',
      firstStep: 'see whether requests reach the API, and ask the partner whether they send',
      links: [logLink(this.logGroup, VERIFYING)],
    });
  }
}
