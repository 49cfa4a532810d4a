import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { catalogue, type EventName, eventNames } from '../lambda/contract/catalogue.ts';
import { pascalCase, queueUrlVariable } from '../lambda/contract/event-names.ts';
import { Effects } from './effects.ts';
import { EventPipeline } from './event-pipeline.ts';
import type { FunctionBundles } from './function-bundles.ts';
import { WebhookDashboard } from './monitoring/dashboard.ts';
import { PayloadBucket } from './payload-bucket.ts';
import { ProtectedQueue } from './protected-queue.ts';
import { QueueAlarm } from './queue-alarm.ts';
import type { StageConfig } from './stage.ts';
import { WebhookApi } from './webhook-api.ts';
import { WebhookFunction } from './webhook-function.ts';

export interface PartnerWebhooksStackProps extends StackProps {
  readonly config: StageConfig;
  readonly bundles: FunctionBundles;
}

/** Above what the receiver's AWS calls take at their worst, below the 30 s that API Gateway waits. */
const RECEIVER_TIMEOUT = Duration.seconds(28);

/** Everything between the partner's POST and the effects in our data. */
export class PartnerWebhooksStack extends Stack {
  constructor(scope: Construct, id: string, { config, bundles, ...props }: PartnerWebhooksStackProps) {
    super(scope, id, { ...props, terminationProtection: config.terminationProtection });
    const { removalPolicy } = config;

    const secret = new Secret(this, 'WebhookSecret', {
      description: 'Shared with the partner; signs every delivery (WEBHOOK_SECRET).',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy,
    });

    // CloudWatch cannot publish to a topic under the AWS-managed key of SNS.
    const topicKey = new Key(this, 'TopicKey', {
      description: 'Encrypts the notification and alarm topics.',
      enableKeyRotation: true,
      removalPolicy,
    });
    const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com');
    topicKey.addToResourcePolicy(
      new PolicyStatement({
        principals: [cloudWatch],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
      }),
    );
    const alarmTopic = new Topic(this, 'Alarms', { masterKey: topicKey, enforceSSL: true });
    // The policy that enforces TLS replaces SNS' own, which would have let the account's alarms publish.
    alarmTopic.addToResourcePolicy(
      new PolicyStatement({
        principals: [cloudWatch],
        actions: ['sns:Publish'],
        resources: [alarmTopic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': this.account } },
      }),
    );

    const effects = new Effects(this, 'Effects', { removalPolicy, topicKey });
    const payloads = new PayloadBucket(this, 'Payloads', { removalPolicy });
    const pipelines = eventNames.map((event) => ({
      event,
      pipeline: new EventPipeline(this, pascalCase(event), {
        event,
        bundles,
        access: effects.access[catalogue[event].effect],
        payloads,
        alarmTopic,
        removalPolicy,
      }),
    }));

    const quarantine = new ProtectedQueue(this, 'Quarantine', { removalPolicy });
    new QueueAlarm(this, 'QuarantineNotEmpty', {
      queue: quarantine,
      impact: 'signed deliveries could not be understood and have had no effect.',
      firstStep: 'read the `reason` attribute of the messages on the quarantine queue.',
      topic: alarmTopic,
    });
    const unrouted = new ProtectedQueue(this, 'Unrouted', { removalPolicy });
    new QueueAlarm(this, 'UnroutedNotEmpty', {
      queue: unrouted,
      impact: 'the partner sends an event kind that we do not process yet.',
      firstStep: 'read the `event` attribute of the messages on the unrouted queue.',
      topic: alarmTopic,
    });

    const queues = [...pipelines.map(({ pipeline }) => pipeline.queue), quarantine, unrouted];
    const receiver = new WebhookFunction(this, 'Receiver', {
      bundles,
      service: 'receiver',
      description: 'Verifies, parses and queues the deliveries of the partner',
      timeout: RECEIVER_TIMEOUT,
      environment: {
        WEBHOOK_SECRET_ARN: secret.secretArn,
        SECRET_GRACE_SECONDS: String(config.rotationGrace.toSeconds()),
        PAYLOAD_BUCKET: payloads.bucketName,
        QUARANTINE_QUEUE_URL: quarantine.queueUrl,
        UNROUTED_QUEUE_URL: unrouted.queueUrl,
        ...Object.fromEntries(
          pipelines.map(({ event, pipeline }) => [queueUrlVariable(event), pipeline.queue.queueUrl]),
        ),
      },
      permissions: [
        new PolicyStatement({
          actions: ['sqs:SendMessage'],
          resources: queues.map(({ queueArn }) => queueArn),
        }),
        new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secret.secretArn] }),
        payloads.putPermission(),
      ],
      removalPolicy,
    });
    const api = new WebhookApi(this, 'Api', { receiver: receiver.function, removalPolicy });

    const events = pipelines.map(({ event, pipeline: { queue, deadLetterQueue, consumer } }) => ({
      event,
      queue,
      deadLetterQueue,
      consumer: consumer.function,
    }));
    new WebhookDashboard(this, 'Dashboard', {
      namespace: this.stackName,
      api: api.httpApi,
      receiver: receiver.function,
      events,
      quarantine,
      unrouted,
      tables: [
        { table: effects.shopCache },
        { table: effects.cast, indexes: ['shop_id'] },
        { table: effects.contactPartner },
        { table: effects.idempotency },
      ],
      topics: [effects.chat, effects.review],
      logGroups: [
        api.accessLog,
        receiver.function.logGroup,
        ...events.map(({ consumer }) => consumer.logGroup),
      ],
      alarms: this.node.findAll().filter((construct) => construct instanceof Alarm),
    });

    this.#output({
      WebhookUrl: api.webhookUrl,
      WebhookSecretArn: secret.secretArn,
      ShopCacheTable: effects.shopCache.tableName,
      CastTable: effects.cast.tableName,
      ContactPartnerTable: effects.contactPartner.tableName,
      ChatTopicArn: effects.chat.topicArn,
      ReviewTopicArn: effects.review.topicArn,
      AlarmTopicArn: alarmTopic.topicArn,
      QuarantineQueueUrl: quarantine.queueUrl,
      UnroutedQueueUrl: unrouted.queueUrl,
      PayloadBucket: payloads.bucketName,
      ...Object.assign({}, ...pipelines.map(({ event, pipeline }) => pipelineOutputs(event, pipeline))),
    });
  }

  #output(values: Record<string, string>): void {
    for (const [name, value] of Object.entries(values)) new CfnOutput(this, name, { value });
  }
}

function pipelineOutputs(
  event: EventName,
  { queue, deadLetterQueue }: EventPipeline,
): Record<string, string> {
  return {
    [`${pascalCase(event)}QueueUrl`]: queue.queueUrl,
    [`${pascalCase(event)}DeadLetterQueueUrl`]: deadLetterQueue.queueUrl,
  };
}
