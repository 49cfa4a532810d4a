import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { clientSettings, describeError } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { SMOKE_TEST_PREFIX } from '../smoke-test/request-id.ts';
import { count, functionVersion, logger } from '../telemetry.ts';
import { ahead } from './ahead.ts';
import { EventQueues, queueUrlsFromEnvironment } from './event-queues.ts';
import { PreparedAgent } from './prepared-agent.ts';
import { problemResponses } from './problem.ts';
import { createReceiver, type Outcome } from './receive.ts';
import type { GatewayEvent, WebhookRequest } from './request.ts';
import { WebhookSecrets } from './webhook-secrets.ts';

const { WEBHOOK_SECRET_ARN, SECRET_GRACE_SECONDS } = requireEnvironment([
  'WEBHOOK_SECRET_ARN',
  'SECRET_GRACE_SECONDS',
]);

/** Whether the request under way is the smoke test's: it is logged, and rings nothing. */
let isSmokeTest = false;

const tally: typeof count = async (...outcome) => {
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
  onUnreadable: () => tally('SecretUnreadable'),
  onStale: async (error) =>
    logger.warn('Secret not readable; serving the cached one', await describeError(error)),
  onWhiteSpace: () =>
    logger.warn('The stored secret begins or ends with white space, and is used with it: was it pasted?'),
});

const agent = new PreparedAgent();
const queueUrls = queueUrlsFromEnvironment();
const queues = new EventQueues(
  new SQSClient({
    ...clientSettings,
    requestHandler: { ...clientSettings.requestHandler, httpsAgent: agent },
  }),
  queueUrls,
);

async function report({ outcome, ...facts }: Outcome, { sourceIp }: WebhookRequest): Promise<void> {
  if (outcome === 'Rejected') logger.warn(outcome, { ...facts, sourceIp });
  else logger.info(outcome, facts);
  if (outcome !== 'Accepted') await tally(outcome, 'reason' in facts ? { reason: facts.reason } : {});
}

/**
 * The HTTP side of the service: `POST /api/v1/webhooks/partner`. Its answer is of a form that both kinds of
 * API take.
 */
export const handler = middy<GatewayEvent, APIGatewayProxyStructuredResultV2>()
  .use(injectLambdaContext(logger, { logEvent: false, resetKeys: true }))
  .use(
    problemResponses(async (error) => {
      logger.error('ServerError', await describeError(error));
      await tally('ServerError');
      await tally('VersionError', { version: functionVersion });
    }),
  )
  .handler(createReceiver({ secrets, queues, identify, report }));

await ahead(
  (signal) => secrets.readAhead(signal),
  (signal) => agent.prepare(queueUrls.unrouted, signal),
);
