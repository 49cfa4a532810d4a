import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { catalogue, eventNames } from '../lambda/events/catalogue.ts';
import { pascalCase } from '../lambda/events/event-names.ts';
import { Alarms } from './alarms/alarms.ts';
import { watchCertificate } from './alarms/certificate-expiry.ts';
import { effectLatency } from './alarms/counted-metrics.ts';
import { watchLastStop } from './alarms/dead-letter-alarm.ts';
import { watchArrivals } from './alarms/lag-alarm.ts';
import { watchConsumers } from './alarms/watch-consumers.ts';
import { watchDelivery } from './alarms/watch-delivery.ts';
import { WebhookApi } from './api/webhook-api.ts';
import { Archive } from './archive/archive.ts';
import { ArchiveQueries } from './archive/archive-queries.ts';
import type { StageConfig } from './config.ts';
import { WebhookDashboard } from './dashboard/dashboard.ts';
import { SavedQueries } from './dashboard/saved-queries.ts';
import { Encryption } from './encryption.ts';
import { Effects } from './pipeline/effects.ts';
import { EventPipeline } from './pipeline/event-pipeline.ts';
import { PayloadBucket } from './pipeline/payload-bucket.ts';
import { ProtectedQueue } from './pipeline/protected-queue.ts';
import { Receiver } from './pipeline/receiver.ts';
import { WebhookSecret } from './pipeline/webhook-secret.ts';
import { Canaries } from './release/canaries.ts';
import type { FunctionBundles } from './release/function-bundles.ts';
import { SmokeTest } from './release/smoke-test.ts';
import { warn } from './warnings.ts';

export interface PartnerWebhooksStackProps extends StackProps {
  /** Name of the stage. */
  readonly stage: string;
  readonly config: StageConfig;
  readonly bundles: FunctionBundles;
}

/** Everything between the partner's POST and the effects in our data. */
export class PartnerWebhooksStack extends Stack {
  constructor(scope: Construct, id: string, { stage, config, bundles, ...props }: PartnerWebhooksStackProps) {
    super(scope, id, { ...props, terminationProtection: config.terminationProtection });
    warn(this, config);
    // What a failed deployment has created goes with it: it holds nothing, and would be in the way of the next.
    const removalPolicy =
      config.removalPolicy === 'retain' ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
    const secret = new WebhookSecret(this, 'WebhookSecret', {
      arn: config.secretArn,
      kmsKeyArn: config.secretKmsKeyArn,
      previousArn: config.previousSecretArn,
      previousKmsKeyArn: config.previousSecretKmsKeyArn,
      removalPolicy,
    });
    const encryption = new Encryption(this, {
      settings: config.encryption,
      topicKeyArn: config.kmsKeyArn,
      removalPolicy,
    });
    secret.keepUnder(encryption);
    const defaults = {
      bundles,
      encryption,
      removalPolicy,
      logRetention: config.logRetentionDays,
      tracing: config.tracing,
      platformLogs: config.platformLogs,
    };
    const alarms = new Alarms(this, 'Alarms', {
      encryption,
      emails: config.alarmEmails,
      runbook: config.runbook,
      stage,
    });
    watchDelivery(alarms.topic, alarms, 'somebody was not told of an alarm; the others are told this.');

    const effects = new Effects(this, 'Effects', { config, removalPolicy, encryption, alarms });
    const payloads = new PayloadBucket(this, 'Payloads', {
      encryption,
      removalPolicy,
      archiveDays: config.archive.days,
    });
    const archive =
      config.archive.days === 0
        ? undefined
        : new Archive(this, 'Archive', { config: config.archive, defaults, alarms });
    const archiveQueries =
      archive && new ArchiveQueries(archive, 'Queries', { bucket: archive.bucket, config, encryption });
    const pipelines = eventNames.map(
      (event) =>
        new EventPipeline(this, pascalCase(event), {
          event,
          defaults,
          settings: config.events[event],
          access: effects.access[catalogue[event].effect],
          payloads,
          archiving: archive?.access(event),
          alarms,
        }),
    );

    const quarantine = new ProtectedQueue(this, 'Quarantine', { encryption, removalPolicy });
    watchLastStop(quarantine, alarms, {
      impact:
        'signed deliveries could not be understood and have had no effect; the partner will not repeat them.',
      firstStep: alarms.lookInto('quarantine'),
      section: 'quarantine',
    });
    const unrouted = new ProtectedQueue(this, 'Unrouted', { encryption, removalPolicy });
    watchLastStop(unrouted, alarms, {
      impact: 'the partner sends an event kind that we do not process yet.',
      firstStep: alarms.lookInto('unrouted'),
      section: 'unrouted',
    });

    const receiver = new Receiver(this, 'Receiver', {
      defaults,
      settings: config.receiver,
      secret,
      rotationGrace: Duration.hours(config.rotationGraceHours),
      queues: new Map(pipelines.map(({ event, queue }) => [event, queue])),
      unrouted,
      quarantine,
      payloads,
      quietAfter: config.quietAfter,
      alarms,
    });
    const consumers = pipelines.map(({ consumer }) => consumer);
    const [firstLog, ...otherLogs] = consumers.map(({ logGroup }) => logGroup);
    if (firstLog === undefined) throw new Error('The catalogue has no event');
    const logs = { receiver: receiver.logGroup, consumers: [firstLog, ...otherLogs] as const };
    watchConsumers(this, { receiverLog: logs.receiver, consumerLogs: logs.consumers, alarms });
    const lag = watchArrivals(this, { config, pipelines, receiverLog: logs.receiver, alarms });
    const api = new WebhookApi(this, 'Api', {
      config,
      receiver: receiver.live,
      encryption,
      removalPolicy,
      alarms,
    });
    const { certificateArn, ownershipCertificateArn } = config.domain ?? {};
    if (certificateArn) watchCertificate(this, 'CertificateExpires', certificateArn, alarms);
    if (ownershipCertificateArn) {
      watchCertificate(this, 'OwnershipCertificateExpires', ownershipCertificateArn, alarms);
    }

    new SmokeTest(this, 'SmokeTest', { defaults, receiver, consumers });
    if (config.deployment === 'canary') {
      new Canaries(this, 'Canaries', { receiver, consumers, alarms });
    }

    if (config.savedQueries) new SavedQueries(this, 'SavedQueries', { ...logs, access: api.accessLog });
    new WebhookDashboard(this, 'Dashboard', {
      api,
      receiver: receiver.function,
      events: pipelines.map(({ event, queue, deadLetterQueue, consumer }) => ({
        event,
        queue,
        deadLetterQueue,
        consumer: consumer.function,
        archiveStream: archive?.streamOf(event),
      })),
      quarantine,
      unrouted,
      tables: effects.tables,
      topics: [effects.chat, effects.review],
      logGroups: [api.accessLog, logs.receiver, ...logs.consumers],
      lag,
      effectLatency: effectLatency(logs.consumers),
      alarms: this.node.findAll().filter((construct) => construct instanceof Alarm),
    });

    this.#output({
      WebhookUrl: api.webhookUrl,
      WebhookSecretArn: secret.arn,
      ShopCacheTable: effects.shopCache.tableName,
      CastTable: effects.cast.tableName,
      ContactPartnerTable: effects.contactPartner.tableName,
      ChatTopicArn: effects.chat.topicArn,
      ReviewTopicArn: effects.review.topicArn,
      AlarmTopicArn: alarms.topic.topicArn,
      QuarantineQueueUrl: quarantine.queueUrl,
      UnroutedQueueUrl: unrouted.queueUrl,
      PayloadBucket: payloads.bucketName,
      ...(archive && { ArchiveBucket: archive.bucket.bucketName, ...archiveOutputs(archive) }),
      ...archiveQueries?.outputs,
      ApiAccessLogGroup: api.accessLog.logGroupName,
      ReceiverLogGroup: receiver.logGroup.logGroupName,
      ...Object.assign({}, ...pipelines.map(pipelineOutputs)),
    });
  }

  #output(values: Record<string, string>): void {
    for (const [name, value] of Object.entries(values)) new CfnOutput(this, name, { value });
  }
}

function archiveOutputs(archive: Archive): Record<string, string> {
  return Object.fromEntries(
    eventNames.map((event) => [`${pascalCase(event)}ArchiveStream`, archive.streamOf(event).ref]),
  );
}

function pipelineOutputs(pipeline: EventPipeline): Record<string, string> {
  const { event, queue, deadLetterQueue, consumer, waiting, paused } = pipeline;
  return {
    [`${pascalCase(event)}QueueUrl`]: queue.queueUrl,
    [`${pascalCase(event)}DeadLetterQueueUrl`]: deadLetterQueue.queueUrl,
    [`${pascalCase(event)}LogGroup`]: consumer.logGroup.logGroupName,
    [`${pascalCase(event)}WaitingAlarm`]: waiting.alarmName,
    [`${pascalCase(event)}PausedAlarm`]: paused.alarmName,
  };
}
