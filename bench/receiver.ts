import { type BuildOptions, build, type Plugin } from 'esbuild';
import { httpApiEvent } from '../events/gateway-events.ts';
import { signatureOf } from '../events/signing.ts';
import { eventNames } from '../lambda/contract/catalogue.ts';
import { queueUrlVariable } from '../lambda/contract/event-names.ts';
import { BUNDLE_OPTIONS } from '../lib/bundle.ts';
import { SECRET } from './aws/aws.ts';

/** The receiver's entry point, from the project's root. */
export const RECEIVER = 'lambda/receiver/handler.ts';

/** Takes the place of what the receiver does ahead of its first request: nothing. */
export const nothingAhead: Plugin = {
  name: 'nothing-ahead',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/lambda\/receiver\/ahead\.ts$/ }, () => ({
      contents: 'export async function ahead() {}',
    }));
  },
};

/** Bundles the receiver as it is deployed, but for its source maps, which nothing reads. */
export const bundleReceiver = (outdir: string, options: BuildOptions = {}) =>
  build({ ...BUNDLE_OPTIONS, ...options, entryPoints: { index: RECEIVER }, outdir });

/** Of the receiver, as the stack sets it. @param queueUrl of each of its queues */
export const receiverEnvironment = (queueUrl: string): Record<string, string> => ({
  ...Object.fromEntries(
    [...eventNames.map(queueUrlVariable), 'QUARANTINE_QUEUE_URL', 'UNROUTED_QUEUE_URL'].map((name) => [
      name,
      queueUrl,
    ]),
  ),
  WEBHOOK_SECRET_ARN: 'secret',
  SECRET_GRACE_SECONDS: '86400',
  POWERTOOLS_SERVICE_NAME: 'receiver',
  POWERTOOLS_METRICS_NAMESPACE: 'bench',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'key',
  AWS_SESSION_TOKEN: 'token',
});

/** A delivery that is accepted, as an HTTP API hands it over. @param number of it, by which its bytes differ */
export function delivery(number = 0) {
  const body = JSON.stringify({
    event: 'user.updated',
    data: {
      user_id: `user-${number}`,
      shop_id: 'shop-1',
      display_name: 'Sora',
      profile_image_url: 'https://example.com/a.png',
    },
    timestamp: new Date().toISOString(),
  });
  return httpApiEvent(
    {
      method: 'POST',
      path: '/api/v1/webhooks/partner',
      headers: [
        ['content-type', 'application/json'],
        ['x-webhook-signature', signatureOf({ body: Buffer.from(body), secret: SECRET })],
      ],
      body,
      isBase64Encoded: false,
      sourceIp: '192.0.2.1',
      receivedAt: new Date(),
      requestId: `request-${number}`,
    },
    { accountId: '000000000000', apiId: 'api', domainName: 'api.execute-api.us-east-1.amazonaws.com' },
  );
}
