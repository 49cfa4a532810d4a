import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { catalogue, eventNames } from '../lambda/events/catalogue.ts';
import { pascalCase } from '../lambda/events/event-names.ts';
import { ACCEPTED } from '../lambda/log-messages.ts';
import { SMOKE_TEST_QUEUE } from '../lambda/receiver/request.ts';
import { Alarms } from './alarms/alarms.ts';
import { certificateLink, dashboardLink, logLink, queueLink } from './alarms/console-links.ts';
import { logMetrics, metricsUnder } from './alarms/log-metrics.ts';
import { acceptedPattern, messagePattern } from './alarms/log-patterns.ts';
import { WebhookApi } from './api/webhook-api.ts';
import { ArchiveQueries } from './archive/archive-queries.ts';
import { EventArchive } from './archive/event-archive.ts';
import type { StageConfig } from './config.ts';
import { addDashboard } from './dashboard/dashboard.ts';
import { Encryption } from './encryption.ts';
import { Effects } from './pipeline/effects.ts';
import { EventPipeline } from './pipeline/event-pipeline.ts';
import { PayloadBucket } from './pipeline/payload-bucket.ts';
import { ProtectedQueue } from './pipeline/protected-storage.ts';
import { Receiver } from './pipeline/receiver.ts';
import { WebhookSecret } from './pipeline/webhook-secret.ts';
import { ReceiverCanary } from './release/receiver-canary.ts';
import { SmokeTest } from './release/smoke-test.ts';
import { warn } from './warnings.ts';

interface PartnerWebhooksStackProps extends StackProps {
  readonly stage: string;
  readonly config: StageConfig;
  /** Folder with a subfolder per function that has its code. */
  readonly bundles: string;
}

/**
 * Removal policies of resources with data. A failed first deployment deletes the resources that it created: they are
 * empty, and would block the next attempt.
 */
const REMOVAL_POLICIES = {
  retain: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  destroy: RemovalPolicy.DESTROY,
} as const;

/** How long SQS keeps a probe: the minimum that SQS allows. Source: SQS developer guide, "Message quotas". */
const PROBE_RETENTION = Duration.seconds(60);

/** The whole stack, from the partner's POST to the effects. */
export class PartnerWebhooksStack extends Stack {
  constructor(scope: Construct, id: string, { stage, config, bundles, ...props }: PartnerWebhooksStackProps) {
    super(scope, id, { ...props, terminationProtection: config.removalPolicy === 'retain' });
    warn(this, config);
    const removalPolicy = REMOVAL_POLICIES[config.removalPolicy];
    const secret = new WebhookSecret(this, 'WebhookSecret', {
      arn: config.secretArn,
      kmsKeyArn: config.secretKmsKeyArn,
      removalPolicy,
    });
    const encryption = new Encryption(this, { settings: config.encryption, removalPolicy });
    secret.keepUnder(encryption);
    const stored = { encryption, removalPolicy };
    const defaults = {
      bundles,
      ...stored,
      logRetention: config.logRetentionDays,
      tracing: config.tracing,
    };
    const alarms = new Alarms(this, 'Alarms', { config, encryption, stage });
    const effects = new Effects(this, 'Effects', { config, ...stored, alarms });
    const payloads = new PayloadBucket(this, 'Payloads', { ...stored, archiveDays: config.archive.days });
    const archive =
      config.archive.days === 0
        ? undefined
        : new EventArchive(this, 'Archive', { config: config.archive, defaults, alarms });
    const archiveQueries =
      archive &&
      new ArchiveQueries(archive, 'Queries', {
        stage,
        bucket: archive.bucket,
        days: config.archive.days,
        encryption,
      });
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

    const quarantine = new ProtectedQueue(this, 'Quarantine', stored);
    alarms.add(quarantine, 'Quarantine/NotEmpty', { metricsOf: quarantine, links: [queueLink(quarantine)] });
    const unrouted = new ProtectedQueue(this, 'Unrouted', stored);
    alarms.add(unrouted, 'Unrouted/NotEmpty', { metricsOf: unrouted, links: [queueLink(unrouted)] });

    const smokeTestQueue = new ProtectedQueue(this, SMOKE_TEST_QUEUE, {
      encryption,
      removalPolicy: RemovalPolicy.DESTROY,
      retentionPeriod: PROBE_RETENTION,
      lastStop: 'Probes of the smoke test expire: that the receiver can store them is all that matters.',
    });

    const receiver = new Receiver(this, 'Receiver', {
      defaults,
      settings: config.receiver,
      secret,
      rotationGrace: Duration.hours(config.rotationGraceHours),
      queues: new Map(pipelines.map(({ event, queue }) => [event, queue])),
      unrouted,
      quarantine,
      ignoredEvents: config.ignoredEvents,
      smokeTestQueue,
      payloads,
      quietAfter: config.quietAfter,
      alarms,
    });
    const consumers = pipelines.map(({ consumer }) => consumer);
    this.#watchDeliveries(alarms, config, receiver, pipelines);
    const api = new WebhookApi(this, 'Api', { config, receiver, ...stored, alarms });
    this.#watchCertificates(alarms, config.domain);

    new SmokeTest(this, 'SmokeTest', { defaults, secret, receiver, consumers });
    if (config.deployment === 'canary') {
      new ReceiverCanary(this, 'Canaries', { receiver, consumers, alarms });
    }

    addDashboard(this, { api, receiver, pipelines, archive, effects, quarantine, unrouted, alarms });

    this.#output({
      WebhookUrl: api.webhookUrl,
      WebhookSecretArn: secret.arn,
      ...effects.outputs,
      AlarmTopicArn: alarms.topic.topicArn,
      QuarantineQueueUrl: quarantine.queueUrl,
      UnroutedQueueUrl: unrouted.queueUrl,
      PayloadBucket: payloads.bucketName,
      ...archive?.outputs,
      ...archiveQueries?.outputs,
      ApiAccessLogGroup: api.accessLog.logGroupName,
      ReceiverLogGroup: receiver.logGroup.logGroupName,
      ...Object.assign({}, ...pipelines.map(({ outputs }) => outputs)),
    });
  }

  /** Alarms on failing, missing and late deliveries of all events together, and on missing ones of single events. */
  #watchDeliveries(
    alarms: Alarms,
    config: StageConfig,
    { logGroup }: Receiver,
    pipelines: readonly EventPipeline[],
  ): void {
    alarms.add(this, 'Failing', { metricsOf: logMetrics(this), links: [dashboardLink(this)] });
    alarms.add(this, 'PutAside', { metricsOf: logMetrics(this), links: [dashboardLink(this)] });
    if (config.lagAfter > 0) {
      alarms.add(this, 'Lag', {
        metricsOf: logMetrics(this),
        setting: Duration.minutes(config.lagAfter).toMilliseconds(),
        links: [logLink(logGroup, messagePattern(ACCEPTED))],
      });
    }
    for (const pipeline of pipelines) {
      const { event, queue } = pipeline;
      const { quietAfter } = config.events[event];
      if (quietAfter === undefined) continue;
      const links = [logLink(logGroup, acceptedPattern(event))] as const;
      alarms.add(pipeline, '<Event>/Quiet', { metricsOf: queue, event, setting: quietAfter, links });
    }
  }

  #watchCertificates(alarms: Alarms, domain: StageConfig['domain']): void {
    for (const [name, arn] of [
      ['CertificateExpires', domain?.certificateArn],
      ['OwnershipCertificateExpires', domain?.ownershipCertificateArn],
    ] as const) {
      if (arn === undefined) continue;
      const metricsOf = metricsUnder('AWS/CertificateManager', { CertificateArn: arn });
      alarms.add(this, name, { metricsOf, links: [certificateLink(this, arn)] });
    }
  }

  #output(values: Record<string, string>): void {
    for (const [name, value] of Object.entries(values)) new CfnOutput(this, name, { value });
  }
}
