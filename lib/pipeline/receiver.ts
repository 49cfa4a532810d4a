import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { queueUrlVariable } from '../../lambda/events/event-names.ts';
import { RECEIVER_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
import { CACHED_SECRET_USED, SERVER_ERROR } from '../../lambda/log-messages.ts';
import type { Alarms } from '../alarms/alarms.ts';
import { functionLink, logLink } from '../alarms/console-links.ts';
import { countLines, logMetrics, receiverLines } from '../alarms/log-metrics.ts';
import {
  INVOCATION_FAILED,
  messagePattern,
  SIGNATURE_RIGHT,
  SIGNATURE_WRONG,
} from '../alarms/log-patterns.ts';
import type { StageConfig } from '../config.ts';
import type { PayloadBucket } from './payload-bucket.ts';
import type { ProtectedQueue } from './protected-storage.ts';
import { type FunctionDefaults, ReleasedFunction } from './webhook-function.ts';
import type { WebhookSecret } from './webhook-secret.ts';

interface ReceiverProps {
  readonly defaults: FunctionDefaults;
  readonly settings: StageConfig['receiver'];
  readonly secret: WebhookSecret;
  /** How long after a rotation the previous secret is accepted (decision D12). */
  readonly rotationGrace: Duration;
  readonly queues: ReadonlyMap<EventName, ProtectedQueue>;
  readonly unrouted: ProtectedQueue;
  readonly quarantine: ProtectedQueue;
  readonly ignoredEvents: StageConfig['ignoredEvents'];
  /** Queue for the probes of the smoke test, instead of an event's queue. */
  readonly smokeTestQueue: ProtectedQueue;
  readonly payloads: PayloadBucket;
  /** Hours without deliveries after which the alarm fires. @default never */
  readonly quietAfter: StageConfig['quietAfter'];
  readonly alarms: Alarms;
}

/** The function behind the webhook: verifies, parses and queues. */
export class Receiver extends ReleasedFunction {
  constructor(scope: Construct, id: string, props: ReceiverProps) {
    const { secret, queues, unrouted, quarantine, ignoredEvents, smokeTestQueue, payloads, alarms } = props;
    const send = new PolicyStatement({
      actions: ['sqs:SendMessage'],
      resources: [...queues.values(), quarantine, unrouted, smokeTestQueue].map(({ queueArn }) => queueArn),
    });
    super(scope, id, {
      ...props.defaults,
      service: 'receiver',
      description: 'Verifies, parses and queues the deliveries of the partner',
      timeout: Duration.seconds(RECEIVER_TIMEOUT_SECONDS),
      memory: props.settings.memory,
      reservedConcurrency: props.settings.reservedConcurrency,
      environment: {
        WEBHOOK_SECRET_ARN: secret.arn,
        SECRET_GRACE_SECONDS: String(props.rotationGrace.toSeconds()),
        PAYLOAD_BUCKET: payloads.bucketName,
        QUARANTINE_QUEUE_URL: quarantine.queueUrl,
        UNROUTED_QUEUE_URL: unrouted.queueUrl,
        SMOKE_TEST_QUEUE_URL: smokeTestQueue.queueUrl,
        ...(ignoredEvents.length > 0 && { IGNORED_EVENTS: JSON.stringify(ignoredEvents) }),
        ...Object.fromEntries(
          [...queues].map(([event, { queueUrl }]) => [queueUrlVariable(event), queueUrl]),
        ),
      },
      permissions: [send, ...secret.readPermissions, payloads.putPermission()],
    });

    payloads.acknowledgeWildcard(this, '*');

    countLines(this.logGroup, receiverLines);
    const logLines = (pattern: string) => [logLink(this.logGroup, pattern)] as const;
    alarms.add(this, 'Receiver/Errors', { metricsOf: this.function, links: logLines(INVOCATION_FAILED) });
    alarms.add(this, 'Receiver/Throttles', {
      metricsOf: this.function,
      links: [functionLink(this.function)],
    });
    alarms.add(this, 'Receiver/SecretUnreadable', {
      metricsOf: logMetrics(this, { service: this.service }),
      links: logLines(messagePattern(CACHED_SECRET_USED, SERVER_ERROR)),
    });
    alarms.add(this, 'Receiver/WrongSecret', {
      metricsOf: logMetrics(this),
      links: logLines(SIGNATURE_WRONG),
    });
    if (props.quietAfter !== undefined) {
      alarms.add(this, 'Receiver/Quiet', {
        metricsOf: logMetrics(this),
        setting: props.quietAfter,
        links: logLines(SIGNATURE_RIGHT),
      });
    }
  }
}
