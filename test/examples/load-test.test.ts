import { expect, test } from '@jest/globals';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { TEST_SECRET } from '../support/partner.ts';
import { sharedStack } from '../support/shared-stack.ts';

// It has no types.
const PROCESSOR: string = '../../examples/load-test/sign-delivery.mjs';

interface Delivery {
  body: string;
  headers: Record<string, string>;
}

test('the load test signs deliveries of all events, each with ids of its own, that the receiver queues', async () => {
  const { outputs } = await sharedStack();
  process.env.WEBHOOK_SECRET = TEST_SECRET;
  const { signDelivery } = await import(PROCESSOR);
  const events = new Set<string>();
  const ids = new Set<string>();
  for (const _ of eventNames) {
    const delivery = { headers: {} } as Delivery;
    await signDelivery(delivery);
    const response = await fetch(outputs.WebhookUrl ?? '', { method: 'POST', ...delivery });
    expect({ status: response.status, answer: await response.json() }).toMatchObject({
      status: 200,
      answer: { status: 'queued' },
    });
    const { event, webhookId } = JSON.parse(delivery.body);
    events.add(event);
    ids.add(webhookId);
  }
  expect([...events].sort()).toEqual([...eventNames].sort());
  expect(ids.size).toBe(eventNames.length);
});
