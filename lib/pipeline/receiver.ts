import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { queueUrlVariable } from '../../lambda/events/event-names.ts';
import { RECEIVER_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
import { ACCEPTED, CACHED_SECRET_USED, PARKED, SERVER_ERROR, UNUSABLE } from '../../lambda/log-messages.ts';
import type { Alarms } from '../alarms/alarms.ts';
import { functionLink, logLink } from '../alarms/console-links.ts';
import { countedMetrics, countLines } from '../alarms/log-metrics.ts';
import {
  INVOCATION_FAILED,
  messageIs,
  messagePattern,
  SIGNATURE_RIGHT,
  SIGNATURE_WRONG,
} from '../alarms/log-patterns.ts';
import type { StageConfig } from '../config.ts';
import type { EventPipeline } from './event-pipeline.ts';
import type { PayloadBucket } from './payload-bucket.ts';
import type { ProtectedQueue } from './protected-storage.ts';
import { type FunctionDefaults, ReleasedFunction } from './webhook-function.ts';
import type { WebhookSecret } from './webhook-secret.ts';

interface ReceiverProps {
  readonly config: Pick<StageConfig, 'receiver' | 'ignoredEvents' | 'quietAfter'>;
  readonly defaults: FunctionDefaults;
  readonly secret: WebhookSecret;
  readonly pipelines: readonly EventPipeline[];
  readonly unrouted: ProtectedQueue;
  readonly quarantine: ProtectedQueue;
  /** Queue for the probes of the smoke test, instead of an event's queue. */
  readonly smokeTestQueue: ProtectedQueue;
  readonly payloads: PayloadBucket;
  readonly alarms: Alarms;
}

/** The function behind the webhook: verifies, parses and queues. */
export class Receiver extends ReleasedFunction {
  constructor(scope: Construct, id: string, props: ReceiverProps) {
    const { config, secret, pipelines, unrouted, quarantine, smokeTestQueue, payloads, alarms } = props;
    const { receiver, ignoredEvents, quietAfter } = config;
    const queues = [...pipelines.map(({ queue }) => queue), quarantine, unrouted, smokeTestQueue];
    const send = new PolicyStatement({
      actions: ['sqs:SendMessage'],
      resources: queues.map(({ queueArn }) => queueArn),
    });
    super(scope, id, {
      ...props.defaults,
      service: 'receiver',
      description: 'Verifies, parses and queues the deliveries of the partner',
      timeout: Duration.seconds(RECEIVER_TIMEOUT_SECONDS),
      memory: receiver.memory,
      reservedConcurrency: receiver.reservedConcurrency,
      environment: {
        WEBHOOK_SECRET_ARN: secret.arn,
        PAYLOAD_BUCKET: payloads.bucketName,
        QUARANTINE_QUEUE_URL: quarantine.queueUrl,
        UNROUTED_QUEUE_URL: unrouted.queueUrl,
        SMOKE_TEST_QUEUE_URL: smokeTestQueue.queueUrl,
        ...(ignoredEvents.length > 0 && { IGNORED_EVENTS: JSON.stringify(ignoredEvents) }),
        ...Object.fromEntries(pipelines.map(({ event, queue }) => [queueUrlVariable(event), queue.queueUrl])),
      },
      permissions: [send, ...secret.readPermissions, payloads.putPermission()],
    });

    payloads.acknowledgeWildcard(this, '*');

    countLines(this.logGroup, {
      // 1 for a correct signature and 0 for a wrong one. So the maximum shows whether all signatures were wrong, and a
      // missing value means no deliveries.
      WronglySigned: { metric: 'Verified', pattern: SIGNATURE_WRONG, value: '0' },
      Verified: { metric: 'Verified', pattern: SIGNATURE_RIGHT },
      PutAside: { metric: 'PutAside', pattern: messagePattern(UNUSABLE, PARKED) },
      // Milliseconds from the partner's `timestamp` to the receipt.
      DeliveryLag: {
        metric: 'DeliveryLag',
        pattern: `{ ${messageIs(ACCEPTED)} && $.lagMs >= 0 }`,
        value: '$.lagMs',
      },
    });
    const logLines = (pattern: string) => [logLink(this.logGroup, pattern)] as const;
    alarms.add(this, 'Receiver/Errors', { metricsOf: this.function, links: logLines(INVOCATION_FAILED) });
    alarms.add(this, 'Receiver/Throttles', {
      metricsOf: this.function,
      links: [functionLink(this.function)],
    });
    alarms.add(this, 'Receiver/SecretUnreadable', {
      metricsOf: this.reported(),
      links: logLines(messagePattern(CACHED_SECRET_USED, SERVER_ERROR)),
    });
    alarms.add(this, 'Receiver/WrongSecret', {
      metricsOf: countedMetrics(this),
      links: logLines(SIGNATURE_WRONG),
    });
    if (quietAfter !== undefined) {
      alarms.add(this, 'Receiver/Quiet', {
        metricsOf: countedMetrics(this),
        setting: quietAfter,
        links: logLines(SIGNATURE_RIGHT),
      });
    }
  }
}
