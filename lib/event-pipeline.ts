import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { catalogue, type EventName } from '../lambda/contract/catalogue.ts';
import { kebabCase } from '../lambda/contract/event-names.ts';
import type { EffectAccess } from './effects.ts';
import type { FunctionBundles } from './function-bundles.ts';
import type { PayloadBucket } from './payload-bucket.ts';
import { ProtectedQueue } from './protected-queue.ts';
import { QueueAlarm } from './queue-alarm.ts';
import { WebhookFunction } from './webhook-function.ts';

export interface EventPipelineProps {
  readonly event: EventName;
  readonly bundles: FunctionBundles;
  /** What the consumer may touch. */
  readonly access: EffectAccess;
  readonly payloads: PayloadBucket;
  readonly alarmTopic: ITopic;
  readonly removalPolicy: RemovalPolicy;
}

const CONSUMER_TIMEOUT = Duration.seconds(30);

/** Source: Lambda developer guide, "Using Lambda with Amazon SQS": at least six times the function's time-out. */
const VISIBILITY_TIMEOUT = Duration.seconds(6 * CONSUMER_TIMEOUT.toSeconds());

/** Receives before a message goes to the dead-letter queue (design §5). */
const MAXIMUM_RECEIVES = 10;

/** Wait after the first failure that may pass; it doubles from then on (design §5). */
const FIRST_RETRY_DELAY = Duration.seconds(30);

/** Beyond the three hours in which back-off heals by itself, far below the 14 days after which SQS deletes. */
const MAXIMUM_AGE = Duration.hours(4);

/** Messages that one invocation gets at most: SQS' own limit for a batch without a batching window. */
const BATCH_SIZE = 10;

/**
 * Batches that are processed at a time: a backlog must not take the receiver's share of the account's
 * concurrency. Without it Lambda also receives messages that it then cannot process, which counts.
 */
const MAXIMUM_CONCURRENCY = 20;

/** The way of one event from the receiver to its effect: queue, dead-letter queue, consumer, alarm. */
export class EventPipeline extends Construct {
  readonly queue: ProtectedQueue;
  readonly deadLetterQueue: ProtectedQueue;
  readonly consumer: WebhookFunction;

  constructor(scope: Construct, id: string, props: EventPipelineProps) {
    super(scope, id);
    const { event, bundles, access, payloads, alarmTopic, removalPolicy } = props;
    const { processing, impact } = catalogue[event];
    this.deadLetterQueue = new ProtectedQueue(this, 'DeadLetterQueue', { removalPolicy });
    this.queue = new ProtectedQueue(this, 'Queue', {
      removalPolicy,
      visibilityTimeout: VISIBILITY_TIMEOUT,
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: MAXIMUM_RECEIVES },
    });

    this.consumer = new WebhookFunction(this, 'Consumer', {
      bundles,
      service: kebabCase(event),
      description: `${event}: ${processing}`,
      timeout: CONSUMER_TIMEOUT,
      environment: {
        ...access.environment,
        PAYLOAD_BUCKET: payloads.bucketName,
        QUEUE_URL: this.queue.queueUrl,
        DEAD_LETTER_QUEUE_URL: this.deadLetterQueue.queueUrl,
        MAXIMUM_RECEIVES: String(MAXIMUM_RECEIVES),
        FIRST_RETRY_DELAY_SECONDS: String(FIRST_RETRY_DELAY.toSeconds()),
      },
      permissions: [
        ...access.permissions,
        payloads.getPermission(event),
        new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.deadLetterQueue.queueArn] }),
      ],
      removalPolicy,
    });
    this.consumer.function.addEventSource(
      new SqsEventSource(this.queue, {
        batchSize: BATCH_SIZE,
        maxConcurrency: MAXIMUM_CONCURRENCY,
        reportBatchItemFailures: true,
      }),
    );

    new QueueAlarm(this, 'Waiting', {
      queue: this.queue,
      maximumAge: MAXIMUM_AGE,
      impact,
      firstStep: `see whether the ${kebabCase(event)} consumer runs: its event source, its throttles, its log.`,
      topic: alarmTopic,
    });
    new QueueAlarm(this, 'DeadLetters', {
      queue: this.deadLetterQueue,
      impact,
      firstStep: `read the errors of the ${kebabCase(event)} consumer in its log, then redrive the dead-letter queue.`,
      topic: alarmTopic,
    });
  }
}
