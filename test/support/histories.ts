import fc from 'fast-check';
import type { ReceivedDelivery } from './oracle.ts';

const RECEIVED_AT = ['2026-01-31T09:00:00.000Z', '2026-01-31T09:00:01.000Z', '2026-01-31T09:10:00.000Z'];

/** Few moments, so that equal ones are common; the last two are ahead of (some) receipts. */
const timestamp = fc.constantFrom(
  '2026-01-31T08:00:00.000Z',
  '2026-01-31T08:00:00.001Z',
  '2026-01-31T08:59:59.000Z',
  '2026-01-31T09:07:00.000Z',
  '9999-12-31T23:59:59.000Z',
);
const id = fc.constantFrom('1', '2');
const word = fc.constantFrom('a', 'b', 'c');

const payload = fc.oneof(
  fc.record({
    event: fc.constant('shop.updated'),
    data: fc.record(
      { shop_id: id, updated_fields: fc.array(word, { maxLength: 2 }) },
      { requiredKeys: ['shop_id'] },
    ),
    timestamp,
  }),
  fc.record({
    event: fc.constant('girl.created'),
    data: fc.record({ girl_id: id, shop_id: word, name: word }, { requiredKeys: ['girl_id'] }),
    timestamp,
  }),
  fc.record({
    event: fc.constant('girl.deleted'),
    data: fc.record({ girl_id: id, shop_id: word }, { requiredKeys: ['girl_id'] }),
    timestamp,
  }),
  fc.record({
    event: fc.constant('user.updated'),
    data: fc.record(
      { user_id: id, shop_id: word, display_name: word, profile_image_url: word },
      { requiredKeys: ['user_id'] },
    ),
    timestamp,
  }),
);

/** Deliveries of events that write state, each one to three times with receipts of their own, in any order. */
export const history: fc.Arbitrary<ReceivedDelivery[]> = fc
  .array(fc.tuple(payload, fc.array(fc.constantFrom(...RECEIVED_AT), { minLength: 1, maxLength: 3 })), {
    minLength: 1,
    maxLength: 10,
  })
  .chain((events) => {
    const deliveries = events.flatMap(([event, receipts]) =>
      receipts.map((receivedAt) => ({ body: JSON.stringify(event), receivedAt })),
    );
    return fc.shuffledSubarray(deliveries, { minLength: deliveries.length });
  });

/** The same deliveries with ids of one run, so that runs do not meet in the tables. */
export function ofRun(run: number, deliveries: readonly ReceivedDelivery[]): ReceivedDelivery[] {
  return deliveries.map(({ body, receivedAt }) => {
    const { data, ...event } = JSON.parse(body) as { data: Record<string, unknown> };
    const own = Object.entries(data).map(([name, value]) => {
      const isKey = ['shop_id', 'girl_id', 'user_id'].includes(name) && ['1', '2'].includes(String(value));
      return [name, isKey ? `${run}-${value}` : value];
    });
    return { body: JSON.stringify({ ...event, data: Object.fromEntries(own) }), receivedAt };
  });
}
