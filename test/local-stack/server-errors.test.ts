import { DeleteSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../local/local-stack.ts';
import { Partner } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { gatewayAssembly, gateways, startTestStack } from '../support/test-stack.ts';

const shopUpdated = {
  event: 'shop.updated',
  data: { shop_id: 'shop-1' },
  timestamp: '2026-01-31T09:00:00Z',
};

const serverError = {
  status: 500,
  contentType: 'application/problem+json',
  body: {
    type: 'urn:partner-webhooks:problem:server-error',
    title: 'Server error',
    status: 500,
    detail: 'The event was not accepted. Send it again.',
    requestId: expect.any(String),
  },
};

const deleteQueue = (broken: LocalStack, output: string) =>
  new Queues(broken.operator).client.send(new DeleteQueueCommand({ QueueUrl: broken.outputs[output] }));

/** In milliseconds: the first to ask for a gateway of the other kind has its stack synthesised. */
const PATIENCE = 120_000;

const situations: [string, (broken: LocalStack) => Promise<unknown>, unknown][] = [
  [
    'the secret cannot be read',
    (broken) =>
      new SecretsManagerClient(broken.operator).send(
        new DeleteSecretCommand({
          SecretId: broken.outputs.WebhookSecretArn,
          ForceDeleteWithoutRecovery: true,
        }),
      ),
    shopUpdated,
  ],
  ['the event’s queue does not take it', (broken) => deleteQueue(broken, 'ShopUpdatedQueueUrl'), shopUpdated],
  [
    'the unrouted queue does not take it',
    (broken) => deleteQueue(broken, 'UnroutedQueueUrl'),
    { ...shopUpdated, event: 'example.unknown' },
  ],
  ['an unusable event cannot be kept', (broken) => deleteQueue(broken, 'QuarantineQueueUrl'), 'unusable'],
];

describe.each(gateways)('behind gateway %s', (gateway) => {
  test.each(situations)(
    '500 where %s, and nothing of the error is shown',
    async (_, breakIt, body) => {
      const broken = await startTestStack({ assembly: await gatewayAssembly(gateway), onProblem: () => {} });
      try {
        await breakIt(broken);
        expect(await new Partner(broken.outputs.WebhookUrl).post(body)).toEqual(serverError);
      } finally {
        await broken.close();
      }
    },
    PATIENCE,
  );
});
