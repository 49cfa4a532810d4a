import { Hono } from 'hono';
import { explainSignature } from '../../check-sender/explain-signature.ts';
import type { Delivery } from '../../stage/history/history.ts';
import { MAX_DELIVERIES } from '../../stage/history/store.ts';
import type { DeliveryDetail, SignatureMistake } from '../api.ts';
import { ApiProblem } from './api-problem.ts';
import { bytesAnswer, type ConsoleContext, endOf } from './console-context.ts';

export function deliveryRoutes(console: ConsoleContext) {
  const { source, local } = console;

  return new Hono()
    .get('/:id', async (c) => {
      const detail = await source.detail(known(c.req.param('id')), endOf(c, console));
      return c.json({ ...detail, mistakes: await mistakesOf(detail) } satisfies DeliveryDetail);
    })
    .get('/:id/body', async (c) => {
      const body = await source.body(known(c.req.param('id')));
      if (body === undefined) throw new ApiProblem(404, 'The body of this delivery is not stored');
      return bytesAnswer(c, body);
    });

  function known(id: string): Delivery {
    const delivery = source.store.get(id);
    if (delivery !== undefined) return delivery;
    const kept = MAX_DELIVERIES.toLocaleString('en');
    throw new ApiProblem(404, `No delivery has this id. The console keeps the newest ${kept}`);
  }

  async function mistakesOf(delivery: DeliveryDetail): Promise<readonly SignatureMistake[] | undefined> {
    const { headers, path } = delivery.request;
    if (local === undefined || delivery.state !== 'rejected') return undefined;
    const body = await source.body(delivery);
    if (body === undefined) return undefined;
    const [, query = ''] = path.split('?', 2);
    const findings = explainSignature({ headers, query, body: Buffer.from(body) }, [local.secret]);
    return findings.map(({ what, remedy }): SignatureMistake => ({ what, remedy }));
  }
}
