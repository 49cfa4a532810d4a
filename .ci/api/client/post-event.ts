import { createHmac } from 'node:crypto';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated.ts';

/** What a partner knows of us beside the description. */
export interface Account {
  /** `http://127.0.0.1:3000` */
  readonly baseUrl: string;
  readonly secret: string;
}

/**
 * Posts one event, as a partner does who has nothing but the types of docs/api/openapi.json.
 * @returns what it became: queued
 * @throws Error where it was refused
 */
export async function postShopUpdated({ baseUrl, secret }: Account): Promise<string> {
  const event: components['schemas']['ShopUpdated'] = {
    event: 'shop.updated',
    data: { shop_id: 'shop-of-a-generated-client', updated_fields: ['name'] },
    timestamp: new Date().toISOString(),
  };
  const signature = createHmac('sha256', secret).update(JSON.stringify(event)).digest('hex');
  const { data, error } = await createClient<paths>({ baseUrl }).POST('/api/v1/webhooks/partner', {
    params: { header: { 'X-Webhook-Signature': signature } },
    body: event,
    bodySerializer: JSON.stringify,
  });
  if (error !== undefined) throw new Error(`Refused: ${JSON.stringify(error)}`);
  return data.status;
}
