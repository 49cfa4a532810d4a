import createClient from 'openapi-fetch';
import type { components, paths } from './generated.ts';

// What the generated types have to notice: each of these is an error, and its absence is one, too.

const client = createClient<paths>();
const header = { 'X-Webhook-Signature': 'any' };
const event: components['schemas']['ShopUpdated'] = {
  event: 'shop.updated',
  data: { shop_id: 'shop-1' },
  timestamp: '2026-01-31T09:00:00Z',
};

export const mistakes = [
  // @ts-expect-error no such path
  () => client.POST('/api/v2/webhooks/partner', { params: { header }, body: event }),
  // @ts-expect-error the path takes no GET
  () => client.GET('/api/v1/webhooks/partner', { params: { header } }),
  // @ts-expect-error without a signature
  () => client.POST('/api/v1/webhooks/partner', { body: event }),
  // @ts-expect-error without a body
  () => client.POST('/api/v1/webhooks/partner', { params: { header } }),
  (): components['schemas']['ShopUpdated'] => ({
    event: 'shop.updated',
    // @ts-expect-error data without shop_id
    data: {},
    timestamp: '2026-01-31T09:00:00Z',
  }),
  (): components['schemas']['GirlScheduleChanged'] => ({
    event: 'girl.schedule_changed',
    // @ts-expect-error a field that is no value of JSON
    data: { shop_id: 'shop-1', girl_id: 'girl-1', name: () => 'Hana' },
    timestamp: '2026-01-31T09:00:00Z',
  }),
  // @ts-expect-error the event of another schema
  (): components['schemas']['ShopUpdated'] => ({ ...event, event: 'user.updated' }),
  async () => {
    const { data } = await client.POST('/api/v1/webhooks/partner', { params: { header }, body: event });
    // @ts-expect-error no answer has such a status
    return data?.status === 'processed';
  },
  async () => {
    const { data } = await client.POST('/api/v1/webhooks/partner', { params: { header }, body: event });
    // @ts-expect-error no answer has such a field
    return data?.deliveryId;
  },
];
