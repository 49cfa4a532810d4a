import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { catalogue, type EventName } from '../../lambda/events/catalogue.ts';
import { kebabCase, pascalCase } from '../../lambda/events/event-names.ts';
import {
  EVENT_RETENTION_SECONDS,
  FIRST_RETRY_SECONDS,
  MAX_RECEIVES,
  UNARCHIVED_RECEIVES,
  VISIBILITY_TIMEOUTS,
} from '../../lambda/limits.ts';
import { DEAD_LETTERED, FAILED } from '../../lambda/log-messages.ts';
import { acknowledge } from '../acknowledge.ts';
import type { Alarms } from '../alarms/alarms.ts';
import { logLink, queueLink } from '../alarms/console-links.ts';
import { countLines, metricsUnder } from '../alarms/log-metrics.ts';
import { INVOCATION_FAILED, messagePattern } from '../alarms/log-patterns.ts';
import type { StageConfig } from '../config.ts';
import type { PayloadBucket } from './payload-bucket.ts';
import { ProtectedQueue } from './protected-storage.ts';
import { type FunctionAccess, type FunctionDefaults, ReleasedFunction } from './webhook-function.ts';

interface EventPipelineProps {
  readonly event: EventName;
  readonly defaults: FunctionDefaults;
  readonly settings: StageConfig['events'][EventName];
  /** The access for the effect. */
  readonly access: FunctionAccess;
  readonly payloads: PayloadBucket;
  /** The access for archiving; undefined if the stage has no archive. */
  readonly archiving: FunctionAccess | undefined;
  readonly alarms: Alarms;
}

/** Permissions that Lambda needs to poll for the function, and the function to delay retries. */
const CONSUMING = [
  'sqs:ChangeMessageVisibility',
  'sqs:DeleteMessage',
  'sqs:GetQueueAttributes',
  'sqs:ReceiveMessage',
];

/** The path of one event from the receiver to its effect: queue, dead-letter queue, consumer, alarms. */
export class EventPipeline extends Construct {
  readonly event: EventName;
  readonly queue: ProtectedQueue;
  readonly deadLetterQueue: ProtectedQueue;
  readonly consumer: ReleasedFunction;
  readonly outputs: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: EventPipelineProps) {
    super(scope, id);
    const { event, defaults, settings, access, payloads, archiving, alarms } = props;
    const { encryption, removalPolicy } = defaults;
    this.event = event;
    this.deadLetterQueue = new ProtectedQueue(this, 'DeadLetterQueue', { encryption, removalPolicy });
    this.queue = new ProtectedQueue(this, 'Queue', {
      encryption,
      removalPolicy,
      retentionPeriod: Duration.seconds(EVENT_RETENTION_SECONDS),
      visibilityTimeout: Duration.seconds(VISIBILITY_TIMEOUTS * settings.timeout),
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: MAX_RECEIVES + UNARCHIVED_RECEIVES },
    });

    this.consumer = new ReleasedFunction(this, 'Consumer', {
      ...defaults,
      service: kebabCase(event),
      description: `${event}: ${catalogue[event].processing}`,
      timeout: Duration.seconds(settings.timeout),
      memory: settings.memory,
      environment: {
        ...access.environment,
        ...archiving?.environment,
        PAYLOAD_BUCKET: payloads.bucketName,
        QUEUE_URL: this.queue.queueUrl,
        DEAD_LETTER_QUEUE_URL: this.deadLetterQueue.queueUrl,
        MAXIMUM_RECEIVES: String(MAX_RECEIVES),
        FIRST_RETRY_DELAY_SECONDS: String(FIRST_RETRY_SECONDS),
      },
      permissions: [
        ...access.permissions,
        ...(archiving?.permissions ?? []),
        payloads.getPermission(event),
        new PolicyStatement({ actions: CONSUMING, resources: [this.queue.queueArn] }),
        new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.deadLetterQueue.queueArn] }),
      ],
    });
    this.consumer.alias.addEventSourceMapping('Queue', {
      eventSourceArn: this.queue.queueArn,
      batchSize: settings.batchSize,
      maxConcurrency: settings.maximumConcurrency,
      reportBatchItemFailures: true,
    });
    payloads.acknowledgeWildcard(this.consumer, `${event}/*`);
    acknowledge(
      this.consumer,
      'Serverless-LambdaEventSourceMappingDestination',
      'Sources of SQS have none: what fails stays on the queue, and its dead-letter queue takes it in the end.',
    );
    // They include crashes, which a consumer cannot report itself.
    countLines(this.consumer.logGroup, {
      Failed: { metric: 'Failures', pattern: messagePattern(FAILED) },
      Died: { metric: 'Failures', pattern: INVOCATION_FAILED },
      PutAside: { metric: 'PutAside', pattern: messagePattern(DEAD_LETTERED) },
      // Milliseconds from the receipt of a delivery to its effect. Replays have none.
      EffectLatency: { metric: 'EffectLatency', pattern: '{ $.latencyMs >= 0 }', value: '$.latencyMs' },
    });
    alarms.add(this.deadLetterQueue, '<Event>/DeadLetterQueue/NotEmpty', {
      metricsOf: this.deadLetterQueue,
      event,
      links: [queueLink(this.deadLetterQueue)],
    });
    const waiting = alarms.add(this, '<Event>/Waiting', {
      metricsOf: this.queue,
      event,
      links: [
        queueLink(this.queue),
        logLink(this.consumer.logGroup, '{ $.level = "ERROR" || $.level = "WARN" }'),
      ],
    });
    // `npx hookctl pause` sets the state, with who paused the event and why as the reason.
    const paused = alarms.add(this, '<Event>/Paused', {
      metricsOf: metricsUnder(Stack.of(this).stackName, { event }),
      event,
      links: [queueLink(this.queue)],
    });
    const name = pascalCase(event);
    this.outputs = {
      [`${name}QueueUrl`]: this.queue.queueUrl,
      [`${name}DeadLetterQueueUrl`]: this.deadLetterQueue.queueUrl,
      [`${name}LogGroup`]: this.consumer.logGroup.logGroupName,
      [`${name}WaitingAlarm`]: waiting.alarmName,
      [`${name}PausedAlarm`]: paused.alarmName,
    };
  }
}
