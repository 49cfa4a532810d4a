import { expect, test } from '@jest/globals';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { parsePayload } from '../../lambda/events/envelope.ts';
import { signBody, TEST_SECRET } from '../support/partner.ts';

// It has no types.
const PROCESSOR: string = '../../examples/load-test/sign-delivery.mjs';

test('the load test signs deliveries of all events, each with ids of its own, that the receiver queues', async () => {
  process.env.WEBHOOK_SECRET = TEST_SECRET;
  const { signDelivery } = await import(PROCESSOR);
  const events = new Set<string>();
  const ids = new Set<string>();
  for (const _ of eventNames) {
    const delivery = { body: '', headers: {} as Record<string, string> };
    await signDelivery(delivery);
    expect(delivery.headers['X-Webhook-Signature']).toBe(signBody(delivery.body));
    expect(parsePayload(Buffer.from(delivery.body)).kind).toBe('event');
    const { event, webhookId } = JSON.parse(delivery.body);
    events.add(event);
    ids.add(webhookId);
  }
  expect([...events].sort()).toEqual([...eventNames].sort());
  expect(ids.size).toBe(eventNames.length);
});
