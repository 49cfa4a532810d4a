import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from '../../local/local-stack.ts';
import { Partner } from '../support/partner.ts';
import { startTestStack, TEST_SECRET } from '../support/test-stack.ts';

/** Senders that post all the time; more than one receiver answers them. */
const SENDERS = 4;

/** Deliveries before the rotation, and as many after it. */
const DELIVERIES = 100;

let stack: LocalStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

test('a rotation under load: no good delivery is answered 401, signed with the old secret or the new', async () => {
  const partner = new Partner(stack.outputs.WebhookUrl);
  const answers = new Map<number, number>();
  let posted = 0;
  let newest = TEST_SECRET;

  async function send(): Promise<void> {
    while (posted < 2 * DELIVERIES) {
      posted += 1;
      if (posted === DELIVERIES) {
        await new SecretsManagerClient(stack.operator).send(
          new PutSecretValueCommand({
            SecretId: stack.outputs.WebhookSecretArn,
            SecretString: 'the new secret',
          }),
        );
        newest = 'the new secret';
      }
      const body = {
        event: 'shop.updated',
        data: { shop_id: `shop-${posted}` },
        timestamp: '2026-01-31T09:00:00Z',
      };
      // Of the partner's own senders not all change at once.
      const secret = posted % 2 === 0 ? newest : TEST_SECRET;
      const { status } = await partner.post(body, { secret });
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, send));
  expect(Object.fromEntries(answers)).toEqual({ 200: posted });
});
