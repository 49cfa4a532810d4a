import { type Context, Hono } from 'hono';
import { explainSignature } from '../../check-sender/explain-signature.ts';
import type { Delivery } from '../../stage/history/history.ts';
import { MAX_DELIVERIES } from '../../stage/history/store.ts';
import type { DeliveryDetail } from '../api.ts';
import { ApiProblem } from './api-problem.ts';
import { type ConsoleContext, endOf } from './console-context.ts';
import type { NeedsYou } from './needs-you.ts';
import type { QueueWatch } from './queue-watch.ts';

/** What the page loads, besides its stream. */
export function dataRoutes(console: ConsoleContext, watch: QueueWatch, needsYou: NeedsYou) {
  const { source, local } = console;

  return new Hono()
    .get('/deliveries/:id', async (c) => {
      const detail = await source.detail(known(c.req.param('id')), endOf(c, console));
      return c.json({ ...detail, mistakes: await mistakesOf(detail) } satisfies DeliveryDetail);
    })
    .get('/deliveries/:id/body', async (c) => {
      const body = await source.body(known(c.req.param('id')));
      if (body === undefined) throw new ApiProblem(404, 'The body of this delivery is not stored');
      return bytesAnswer(c, body);
    })
    .get('/queues', async (c) => c.json(await watch.read()))
    .get('/needs-you', async (c) => c.json(await needsYou.read()))
    .get('/needs-you/:id/body', async (c) => bytesAnswer(c, await needsYou.payload(c.req.param('id'))));

  function known(id: string): Delivery {
    const delivery = source.store.get(id);
    if (delivery !== undefined) return delivery;
    const kept = MAX_DELIVERIES.toLocaleString('en');
    throw new ApiProblem(404, `No delivery has this id. The console keeps the newest ${kept}`);
  }

  async function mistakesOf(delivery: DeliveryDetail): Promise<DeliveryDetail['mistakes']> {
    const { exchange } = delivery;
    if (local === undefined || exchange === undefined || delivery.state !== 'rejected') return undefined;
    const body = await source.body(delivery);
    if (body === undefined) return undefined;
    const [, query = ''] = exchange.path.split('?', 2);
    return explainSignature({ headers: exchange.headers, query, body: Buffer.from(body) }, [local.secret]);
  }
}

/** Answer with bytes. Its headers make every browser save them and never display them. */
const bytesAnswer = (c: Context, bytes: Uint8Array): Response =>
  c.body(new Uint8Array(bytes), 200, {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
  });
