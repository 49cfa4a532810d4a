import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { eventNames } from '../lambda/events/catalogue.ts';
import { pascalCase } from '../lambda/events/event-names.ts';
import { ACCEPTED } from '../lambda/log-messages.ts';
import { SMOKE_TEST_QUEUE } from '../lambda/receiver/request.ts';
import { Alarms } from './alarms/alarms.ts';
import { dashboardLink, logLink, queueLink } from './alarms/console-links.ts';
import { countedMetrics } from './alarms/log-metrics.ts';
import { messagePattern } from './alarms/log-patterns.ts';
import { WebhookApi } from './api/webhook-api.ts';
import { EventArchive } from './archive/event-archive.ts';
import type { StageConfig } from './config.ts';
import { addDashboard } from './dashboard/dashboard.ts';
import { Effects } from './effects/effects.ts';
import { Encryption } from './encryption.ts';
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
    const { days } = config.archive;
    const removalPolicy = REMOVAL_POLICIES[config.removalPolicy];
    const encryption = new Encryption(this, { settings: config.encryption, removalPolicy });
    const stored = { encryption, removalPolicy };
    const defaults = { ...stored, bundles, logRetention: config.logRetentionDays, tracing: config.tracing };
    const alarms = new Alarms(this, 'Alarms', { config, encryption, stage });

    const secret = new WebhookSecret(this, 'WebhookSecret', { ...stored, config });
    const payloads = new PayloadBucket(this, 'Payloads', { ...stored, archiveDays: days });
    const effects = new Effects(this, 'Effects', { ...stored, config, alarms });
    const archive = days === 0 ? undefined : new EventArchive(this, 'Archive', { ...defaults, days, alarms });
    const pipelines = eventNames.map(
      (event) =>
        new EventPipeline(this, pascalCase(event), {
          event,
          defaults,
          settings: config.events[event],
          access: effects.access(event),
          archiving: archive?.access(event),
          payloads,
          alarms,
        }),
    );
    const consumers = pipelines.map(({ consumer }) => consumer);
    const quarantine = new ProtectedQueue(this, 'Quarantine', stored);
    const unrouted = new ProtectedQueue(this, 'Unrouted', stored);
    const smokeTestQueue = new ProtectedQueue(this, SMOKE_TEST_QUEUE, {
      encryption,
      removalPolicy: RemovalPolicy.DESTROY,
      retentionPeriod: PROBE_RETENTION,
    });
    const receiver = new Receiver(this, 'Receiver', {
      config,
      defaults,
      secret,
      pipelines,
      unrouted,
      quarantine,
      smokeTestQueue,
      payloads,
      alarms,
    });
    const api = new WebhookApi(this, 'Api', { ...stored, config, receiver, alarms });

    new SmokeTest(this, 'SmokeTest', { defaults, secret, receiver, consumers });
    if (config.deployment === 'canary') {
      new ReceiverCanary(this, 'Canaries', { receiver, consumers, alarms });
    }

    alarms.add(quarantine, 'Quarantine/NotEmpty', { metricsOf: quarantine, links: [queueLink(quarantine)] });
    alarms.add(unrouted, 'Unrouted/NotEmpty', { metricsOf: unrouted, links: [queueLink(unrouted)] });
    this.#watchDeliveries(alarms, config, receiver);
    addDashboard(this, { api, receiver, pipelines, archive, quarantine, unrouted });

    this.#output({
      WebhookUrl: api.webhookUrl,
      WebhookSecretArn: secret.arn,
      ...effects.outputs,
      AlarmTopicArn: alarms.topic.topicArn,
      QuarantineQueueUrl: quarantine.queueUrl,
      UnroutedQueueUrl: unrouted.queueUrl,
      PayloadBucket: payloads.bucketName,
      ...archive?.outputs,
      ApiAccessLogGroup: api.accessLog.logGroupName,
      ReceiverLogGroup: receiver.logGroup.logGroupName,
      ...Object.assign({}, ...pipelines.map(({ outputs }) => outputs)),
    });
  }

  /** Alarms on failing, set aside and late events. */
  #watchDeliveries(alarms: Alarms, { lagAfter }: StageConfig, { logGroup }: Receiver): void {
    const metricsOf = countedMetrics(this);
    alarms.add(this, 'Failing', { metricsOf, links: [dashboardLink(this)] });
    alarms.add(this, 'PutAside', { metricsOf, links: [dashboardLink(this)] });
    if (lagAfter > 0) {
      alarms.add(this, 'Lag', {
        metricsOf,
        setting: Duration.minutes(lagAfter).toMilliseconds(),
        links: [logLink(logGroup, messagePattern(ACCEPTED))],
      });
    }
  }

  #output(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) new CfnOutput(this, name, { value });
  }
}
