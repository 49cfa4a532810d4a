import { createHmac, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error('WEBHOOK_SECRET is not set');

/** Deliveries of one shop are slower: they change the same item. */
const SHOPS = 100;

const folder = new URL('../../events/', import.meta.url);
const samples = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')))
  .filter((sample) => typeof sample.event === 'string');

const run = randomUUID().slice(0, 8);
let sent = 0;

/** Makes the next delivery: a sample with ids of its own, and the time of now. Artillery calls it before each request. */
export async function signDelivery(request) {
  const number = sent++;
  const sample = samples[number % samples.length];
  const ids = Object.keys(sample.data).filter((field) => field.endsWith('_id'));
  const data = { ...sample.data };
  for (const field of ids) {
    data[field] = field === 'shop_id' ? `load-${run}-shop-${number % SHOPS}` : `load-${run}-${number}`;
  }
  const webhookId = `load-${run}-${number}`;
  request.body = JSON.stringify({ ...sample, data, timestamp: new Date().toISOString(), webhookId });
  const signature = createHmac('sha256', secret).update(request.body).digest('hex');
  request.headers = {
    ...request.headers,
    'Content-Type': 'application/json',
    'X-Webhook-Signature': signature,
  };
}
