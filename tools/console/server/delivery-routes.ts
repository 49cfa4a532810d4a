import { Hono } from 'hono';
import * as z from 'zod/mini';
import { explainSignature } from '../../check-sender/explain-signature.ts';
import { type Delivery, isSettled } from '../../stage/history/history.ts';
import { MAX_DELIVERIES } from '../../stage/history/store.ts';
import type { DeliveryDetail, DeliveryList, RequestDetail, SignatureMistake } from '../api.ts';
import { ApiProblem } from './api-problem.ts';
import {
  bytesAnswer,
  type ConsoleContext,
  endOf,
  parsed,
  searchSchema,
  wholeNumber,
} from './console-context.ts';

const listSchema = z.strictObject({ search: searchSchema, limit: wholeNumber(1, MAX_DELIVERIES, 500) });

/**
 * Seconds to wait for a delivery to settle. The maximum is below the 300 s that `fetch` of Node.js waits for
 * an answer.
 */
const settledSchema = z.strictObject({ timeout: wholeNumber(0, 240, 30) });

export function deliveryRoutes(console: ConsoleContext) {
  const { source, local } = console;
  const { store } = source;

  return new Hono()
    .get('/', async (c) => {
      const { limit, search } = parsed(listSchema, c.req.query());
      const searched = await source.search(search, endOf(c, console));
      return c.json({
        ...store.list({ search }, limit),
        ...(searched && { searched }),
      } satisfies DeliveryList);
    })
    .get('/:id', async (c) => c.json(await detailOf(known(c.req.param('id')), endOf(c, console))))
    .get('/:id/body', async (c) => {
      const body = await source.body(known(c.req.param('id')));
      if (body === undefined) throw new ApiProblem(404, 'The body of this delivery is not stored');
      return bytesAnswer(c, body);
    })
    .get('/:id/settled', async (c) => {
      const { timeout } = parsed(settledSchema, c.req.query());
      const id = c.req.param('id');
      const end = endOf(c, console);
      await settled(id, AbortSignal.any([end, AbortSignal.timeout(timeout * 1000)]));
      return c.json(await detailOf(known(id), end));
    });

  /**
   * Waits until the delivery is known, because a client may ask just after sending it, and until it has
   * settled.
   */
  async function settled(id: string, enough: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      const state = store.get(id)?.state;
      if (enough.aborted || (state !== undefined && isSettled(state))) resolve();
    };
    const unsubscribe = store.subscribe((changed) => changed === id && check());
    enough.addEventListener('abort', check);
    check();
    await promise.finally(unsubscribe);
  }

  function known(id: string): Delivery {
    const delivery = store.get(id);
    if (delivery !== undefined) return delivery;
    const kept = MAX_DELIVERIES.toLocaleString('en');
    throw new ApiProblem(404, `No delivery has this id. The console keeps the newest ${kept}`);
  }

  async function detailOf(delivery: Delivery, end: AbortSignal): Promise<DeliveryDetail> {
    const detail = await source.detail(delivery, end);
    return { ...detail, mistakes: await mistakesOf(detail, detail.request) };
  }

  async function mistakesOf(delivery: Delivery, { headers, path }: RequestDetail) {
    if (local === undefined || delivery.state !== 'rejected') return undefined;
    const body = await source.body(delivery);
    if (body === undefined) return undefined;
    const [, query = ''] = path.split('?', 2);
    const findings = explainSignature({ headers, query, body: Buffer.from(body) }, [local.secret]);
    return findings.map(({ what, remedy }): SignatureMistake => ({ what, remedy }));
  }
}
