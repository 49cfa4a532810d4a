import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';
import { clientSettings, connections } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { describeError } from '../errors.ts';
import { isOutage } from '../outage.ts';
import { count, functionVersion, logger } from '../telemetry.ts';
import type { Answer } from './answers.ts';
import { EventQueues, queueUrlsFromEnvironment } from './event-queues.ts';
import { createReceiver, type Outcome } from './receive.ts';
import { type GatewayEvent, SMOKE_TEST_PREFIX, type WebhookRequest } from './request.ts';
import { warmUp } from './warm-up.ts';
import { WebhookSecrets } from './webhook-secrets.ts';

const { WEBHOOK_SECRET_ARN, SECRET_GRACE_SECONDS } = requireEnvironment([
  'WEBHOOK_SECRET_ARN',
  'SECRET_GRACE_SECONDS',
]);

/** Whether the current request is the smoke test's. It is logged, but must not trigger an alarm. */
let isSmokeTest = false;

const countUnlessSmokeTest: typeof count = async (...outcome) => {
  if (!isSmokeTest) await count(...outcome);
};

function identify(ids: { readonly eventId: string; readonly requestId: string }): void {
  isSmokeTest = ids.requestId.startsWith(SMOKE_TEST_PREFIX);
  logger.appendKeys(ids);
}

const secrets = new WebhookSecrets({
  client: new SecretsManagerClient(clientSettings),
  secretId: WEBHOOK_SECRET_ARN,
  gracePeriod: Number(SECRET_GRACE_SECONDS) * 1000,
  onUnreadable: () => countUnlessSmokeTest('SecretUnreadable'),
  onStale: async (error) =>
    logger.warn('Cannot read the secret; using the cached one', await describeError(error)),
  onWhiteSpace: () =>
    logger.warn(
      'The stored secret begins or ends with white space, which is used as part of it. Was it pasted?',
    ),
});

const queueUrls = queueUrlsFromEnvironment();
const queues = new EventQueues(new SQSClient(clientSettings), queueUrls);

async function report({ outcome, ...facts }: Outcome, { sourceIp }: WebhookRequest): Promise<void> {
  if (outcome === 'Rejected') logger.warn(outcome, { ...facts, sourceIp });
  else logger.info(outcome, facts);
  if (outcome !== 'Accepted')
    await countUnlessSmokeTest(outcome, 'reason' in facts ? { reason: facts.reason } : {});
}

async function reportError(error: unknown): Promise<void> {
  logger.error('ServerError', await describeError(error));
  await countUnlessSmokeTest('ServerError');
  if (!isOutage(error)) await countUnlessSmokeTest('VersionError', { version: functionVersion });
}

/** The HTTP side of the service: `POST /api/v1/webhooks/partner`. Powertools' middleware adds the invocation to log lines. */
export const handler = middy<GatewayEvent, Answer>()
  .use(injectLambdaContext(logger, { logEvent: false, resetKeys: true }))
  .handler(createReceiver({ secrets, queues, identify, report, reportError }));

await warmUp(
  (signal) => secrets.warmUp(signal),
  (signal) => connections.prepare(queueUrls.unrouted, signal),
);
