import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';
import { clientSettings, connections } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { startInvocation } from '../telemetry.ts';
import type { GatewayAnswer } from './answers.ts';
import { EventQueues, type QueueUrl, queueUrlsFromEnvironment } from './event-queues.ts';
import { createReceiver } from './receive.ts';
import { deliveryReports, probeReports, type ReportsOf } from './reports.ts';
import { type GatewayEvent, isSmokeTest, requestIdOf } from './request.ts';
import { warmUp } from './warm-up.ts';
import { WebhookSecrets } from './webhook-secrets.ts';

const { WEBHOOK_SECRET_ARN, SMOKE_TEST_QUEUE_URL } = requireEnvironment([
  'WEBHOOK_SECRET_ARN',
  'SMOKE_TEST_QUEUE_URL',
]);

const secrets = new WebhookSecrets({
  client: new SecretsManagerClient(clientSettings),
  secretId: WEBHOOK_SECRET_ARN,
});

/** As JSON. Absent if the stage ignores no kind of event. */
const ignoredEvents = new Set<string>(JSON.parse(process.env.IGNORED_EVENTS ?? '[]'));

const client = new SQSClient(clientSettings);
const queueUrl = queueUrlsFromEnvironment();

const receiver = (urlOf: QueueUrl, reportsOf: ReportsOf) =>
  createReceiver({ secrets, queues: new EventQueues(client, urlOf), ignoredEvents, reportsOf });

const receiveDelivery = receiver(queueUrl, deliveryReports);
/** The same, but nothing receives from a probe's queue, and its outcome is logged and not counted. */
const receiveProbe = receiver(() => SMOKE_TEST_QUEUE_URL, probeReports);

/** The HTTP side of the service: `POST /api/v1/webhooks/partner`. */
export const handler = middy<GatewayEvent, GatewayAnswer>()
  .before(({ context }) => startInvocation(context))
  .handler((event) => (isSmokeTest(requestIdOf(event)) ? receiveProbe(event) : receiveDelivery(event)));

await warmUp(
  (signal) => secrets.warmUp(signal),
  (signal) => connections.prepare(queueUrl('unrouted'), signal),
);
