import { createHmac } from 'node:crypto';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated.ts';

// Posts one event with the types that openapi-typescript generates, and prints the status of the answer.

const { ORIGIN: baseUrl = '', WEBHOOK_SECRET: secret = '' } = process.env;

const client = createClient<paths>({ baseUrl });
client.use({
  /** Signs the bytes that the client sends, which only this hook sees. */
  async onRequest({ request }) {
    const body = Buffer.from(await request.clone().arrayBuffer());
    request.headers.set('X-Webhook-Signature', createHmac('sha256', secret).update(body).digest('hex'));
  },
});

const event: components['schemas']['ShopUpdated'] = {
  event: 'shop.updated',
  data: { shop_id: 'shop-of-a-typescript-client', updated_fields: ['name'] },
  timestamp: new Date().toISOString(),
};
const { data, error, response } = await client.POST('/api/v1/webhooks/partner', {
  params: { header: { 'X-Webhook-Signature': '' } },
  body: event,
});
if (error !== undefined) throw new Error(`${response.status} ${JSON.stringify(error)}`);
console.log(response.status, data.status);
