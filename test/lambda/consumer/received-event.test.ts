import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import { sqsEvent } from '../../../events/lambda-events.ts';
import { readRecord } from '../../../lambda/consumer/received-event.ts';

const payload = { event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp: '2026-01-31T09:00:00Z' };
const [sample] = sqsEvent({ event: 'shop.updated', name: 'shop-updated', payload }).Records as [SQSRecord];

test('an event comes with what the receiver noted of its delivery', async () => {
  const eventId = createHash('sha256').update(JSON.stringify(payload)).digest('hex');
  expect(await readRecord('shop.updated', sample)).toMatchObject({
    event: 'shop.updated',
    data: { shop_id: 'shop-1' },
    eventId,
    receivedAt: '2026-01-31T09:00:00.000Z',
    version: `2026-01-31T09:00:00.000000000Z#${eventId}`,
  });
});

test('a message without attributes has the id of its body and the receipt of its queue', async () => {
  const { eventId, receivedAt } = await readRecord('shop.updated', { ...sample, messageAttributes: {} });
  expect(eventId).toBe(createHash('sha256').update(sample.body).digest('hex'));
  expect(receivedAt).toBe('2026-01-31T09:00:00.000Z');
});

test('a message of which SQS says no time is received now', async () => {
  const attributes = { ...sample.attributes, SentTimestamp: '99999999999999999' };
  const { receivedAt } = await readRecord('shop.updated', { ...sample, attributes, messageAttributes: {} });
  expect(Math.abs(Date.now() - Date.parse(receivedAt))).toBeLessThan(60_000);
});

test('a message that says of its receipt what is no time was received when its queue got it', async () => {
  const messageAttributes = {
    ...sample.messageAttributes,
    receivedAt: { dataType: 'String' as const, stringValue: 'yesterday' },
  };
  const { receivedAt } = await readRecord('shop.updated', { ...sample, messageAttributes });
  expect(receivedAt).toBe('2026-01-31T09:00:00.000Z');
});

test.each([
  ['is not JSON', 'hello'],
  ['is not usable', JSON.stringify({ ...payload, data: {} })],
  ['is of another queue', JSON.stringify({ ...payload, event: 'user.updated', data: { user_id: 'u' } })],
  ['is of an unknown kind', JSON.stringify({ ...payload, event: 'example.unknown' })],
])('a message that %s cannot be processed', async (_, body) => {
  await expect(readRecord('shop.updated', { ...sample, body })).rejects.toThrow(
    expect.objectContaining({ name: 'UnprocessableMessageError' }),
  );
});
