import { Hono } from 'hono';
import * as z from 'zod/mini';
import { explainSignature } from '../../check-sender/explain-signature.ts';
import { type Delivery, isSettled } from '../../stage/history/history.ts';
import { MAX_DELIVERIES } from '../../stage/history/store.ts';
import type { DeliveryDetail, DeliveryList, RequestDetail, SignatureMistake } from '../api.ts';
import { notFound } from './api-problem.ts';
import {
  bytesAnswer,
  type ConsoleContext,
  type ConsoleEnv,
  endOf,
  readQuery,
  wholeNumber,
} from './console-context.ts';

export function deliveryRoutes(console: ConsoleContext) {
  const { source, local } = console;

  return new Hono<ConsoleEnv>()
    .get('/', async (c) => {
      const { limit, search } = readQuery(c, LIST);
      const searched = await source.search(search, endOf(c, console));
      const found = source.store.list({ search }, limit);
      return c.json({ ...found, ...(searched && { searched }) } satisfies DeliveryList);
    })
    .get('/:id', async (c) => {
      readQuery(c, {});
      return c.json(await detailOf(known(c.req.param('id')), endOf(c, console)));
    })
    .get('/:id/body', async (c) => {
      readQuery(c, {});
      const body = await source.body(known(c.req.param('id')));
      if (body === undefined) throw notFound('The body of this delivery is not stored');
      return bytesAnswer(c, body);
    })
    .get('/:id/settled', async (c) => {
      const { timeout } = readQuery(c, SETTLED);
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
    const isSettledNow = () => {
      const state = source.store.get(id)?.state;
      return state !== undefined && isSettled(state);
    };
    if (isSettledNow() || enough.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        unsubscribe();
        enough.removeEventListener('abort', end);
        resolve();
      };
      const unsubscribe = source.store.subscribe((changed) => {
        if (changed === id && isSettledNow()) end();
      });
      enough.addEventListener('abort', end);
    });
  }

  function known(id: string): Delivery {
    const delivery = source.store.get(id);
    if (delivery !== undefined) return delivery;
    const kept = MAX_DELIVERIES.toLocaleString('en');
    throw notFound(`No delivery has this id. The console keeps the newest ${kept}`);
  }

  async function detailOf(delivery: Delivery, end: AbortSignal): Promise<DeliveryDetail> {
    const { history, problem } = await source.history(delivery, end);
    const [request, { effects, problem: unread }] = await Promise.all([
      source.request(delivery),
      source.effects(delivery),
    ]);
    // Building the history may have changed the delivery's row, so the row is read again.
    const now = source.store.get(delivery.id) ?? delivery;
    return {
      ...now,
      settled: isSettled(now.state),
      request,
      mistakes: await mistakesOf(now, request),
      answer: source.answer(delivery),
      history,
      problems: [problem, unread].filter((line) => line !== undefined),
      effects,
      logs: source.logs(now),
    };
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

/** Maximum characters of a search text. */
const MAX_SEARCH_LENGTH = 1_000;

const LIST_LIMIT = 500;

/**
 * Seconds to wait for a delivery to settle. The maximum is below the 300 s that `fetch` of Node.js waits for
 * an answer.
 */
const TIMEOUT = { default: 30, maximum: 240 };

/** Text to find in payloads, ids, shops and errors. Ignores case. */
export const searchSchema = z.exactOptional(z.string().check(z.maxLength(MAX_SEARCH_LENGTH)));

const LIST = { search: searchSchema, limit: wholeNumber(1, MAX_DELIVERIES, LIST_LIMIT) };
const SETTLED = { timeout: wholeNumber(0, TIMEOUT.maximum, TIMEOUT.default) };
