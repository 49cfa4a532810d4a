import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';
import { clientSettings, connections } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { describeError } from '../errors.ts';
import { ACCEPTED, CACHED_SECRET_USED, REJECTED, SERVER_ERROR, SMOKE_TEST } from '../log-messages.ts';
import { isOutage } from '../outage.ts';
import { count, logger } from '../telemetry.ts';
import type { GatewayAnswer } from './answers.ts';
import { EventQueues, queueUrlsFromEnvironment } from './event-queues.ts';
import { createReceiver, type DeliveryOutcome } from './receive.ts';
import { type GatewayEvent, isSmokeTest, type WebhookRequest } from './request.ts';
import { warmUp } from './warm-up.ts';
import { UnusableSecretError, WebhookSecrets } from './webhook-secrets.ts';

const { WEBHOOK_SECRET_ARN, SECRET_GRACE_SECONDS } = requireEnvironment([
  'WEBHOOK_SECRET_ARN',
  'SECRET_GRACE_SECONDS',
]);

/** The number of the published version. */
const functionVersion = process.env.AWS_LAMBDA_FUNCTION_VERSION ?? '';

/** Whether the current request is a probe of the smoke test. */
let isProbe = false;

/** Keys that each log line of the current request has. Faster than the logger's own temporary keys. */
let ids: { readonly eventId?: string; readonly requestId?: string } = {};

const countUnlessProbe: typeof count = async (...outcome) => {
  if (!isProbe) await count(...outcome);
};

function identify({ eventId, requestId }: { readonly eventId: string; readonly requestId: string }): void {
  isProbe = isSmokeTest(requestId);
  // Probes have no event id in their lines: a line with an event id is part of the history of a delivery.
  ids = isProbe ? { requestId } : { eventId, requestId };
}

const secrets = new WebhookSecrets({
  client: new SecretsManagerClient(clientSettings),
  secretId: WEBHOOK_SECRET_ARN,
  gracePeriod: Number(SECRET_GRACE_SECONDS) * 1000,
  onUnreadable: () => countUnlessProbe('SecretUnreadable'),
  onStale: async (error) => logger.warn(CACHED_SECRET_USED, { ...ids, ...(await describeError(error)) }),
  onDoubt: (doubt) => logger.warn(doubt, ids),
});

/** As JSON. Absent if the stage ignores no kind of event. */
const ignoredEvents = new Set<string>(JSON.parse(process.env.IGNORED_EVENTS ?? '[]'));

const queueUrls = queueUrlsFromEnvironment();
const queues = new EventQueues(new SQSClient(clientSettings), queueUrls);

async function report({ outcome, ...fields }: DeliveryOutcome, { sourceIp }: WebhookRequest): Promise<void> {
  if (isProbe) {
    // Probes have a log message of their own, which no alarm counts.
    logger.info(SMOKE_TEST, { ...ids, outcome, ...fields });
    return;
  }
  if (outcome === REJECTED) logger.warn(outcome, { ...ids, ...fields, sourceIp });
  else logger.info(outcome, { ...ids, ...fields });
  if (outcome !== ACCEPTED) await count(outcome, 'reason' in fields ? { reason: fields.reason } : {});
}

async function reportError(error: unknown): Promise<void> {
  logger.error(SERVER_ERROR, { ...ids, ...(await describeError(error)) });
  await countUnlessProbe(SERVER_ERROR);
  // Somebody stored an unusable secret: then every version fails, as in an outage.
  const isOfVersion = !isOutage(error) && !(error instanceof UnusableSecretError);
  if (isOfVersion) await countUnlessProbe('VersionError', { version: functionVersion });
}

/** The HTTP side of the service: `POST /api/v1/webhooks/partner`. */
export const handler = middy<GatewayEvent, GatewayAnswer>()
  .before(({ context }) => {
    logger.addContext(context);
    ids = {};
    isProbe = false;
  })
  .handler(createReceiver({ secrets, queues, ignoredEvents, identify, report, reportError }));

await warmUp(
  (signal) => secrets.warmUp(signal),
  (signal) => connections.prepare(queueUrls.unrouted, signal),
);
