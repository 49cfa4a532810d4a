import { type Delivery, isSettled } from '../../stage/history/history.ts';
import { MAXIMUM_DELIVERIES } from '../../stage/history/store.ts';
import type { DeliveryDetail, DeliveryList } from '../api.ts';
import type { Source } from '../source.ts';
import { knownOnly, readFilter, readNumber } from './delivery-query.ts';
import { notFound } from './problem.ts';
import { type Call, type ConsoleContext, json, type Route } from './route.ts';

/** Deliveries of a list where nothing is said of it. */
const LIST_LIMIT = 500;

/** Seconds that a client may wait for a delivery to settle: below the 300 s in which Node.js' fetch wants an answer. */
const TIMEOUT = { otherwise: 30, maximum: 240 };

export const deliveryRoutes: readonly Route[] = [
  { method: 'GET', path: '/api/deliveries', handler: list },
  {
    method: 'GET',
    path: '/api/deliveries/:id',
    handler: async ({ params: { id = '' }, query, signal }, { source }) => {
      knownOnly(query, []);
      return json(await detailOf(known(source, id), source, signal));
    },
  },
  {
    method: 'GET',
    path: '/api/deliveries/:id/body',
    handler: async ({ params: { id = '' }, query }, { source }) => {
      knownOnly(query, []);
      const body = await source.body(known(source, id));
      if (body === undefined) throw notFound('The body of this delivery is not kept');
      // A browser never shows it by itself, whatever it is.
      const headers = { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' };
      return { headers, body };
    },
  },
  { method: 'GET', path: '/api/deliveries/:id/settled', handler: settled },
];

async function list({ query, signal }: Call, { source }: ConsoleContext) {
  const filter = readFilter(query, ['limit']);
  const limit = readNumber(query, 'limit', {
    minimum: 1,
    maximum: MAXIMUM_DELIVERIES,
    otherwise: LIST_LIMIT,
  });
  const searched = await source.search(filter, signal);
  const found = source.store.list(filter, limit);
  return json({ ...found, ...(searched && { searched }) } satisfies DeliveryList);
}

/** Whoever has just sent it may ask before it is known here. */
async function settled({ params: { id = '' }, query, signal }: Call, { source }: ConsoleContext) {
  knownOnly(query, ['timeout']);
  const seconds = readNumber(query, 'timeout', { minimum: 0, ...TIMEOUT });
  const enough = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
  const isSettledNow = () => {
    const state = source.store.get(id)?.state;
    return state !== undefined && isSettled(state);
  };
  if (!isSettledNow() && !enough.aborted) {
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
  return json(await detailOf(known(source, id), source, signal));
}

function known({ store }: Source, id: string): Delivery {
  const delivery = store.get(id);
  if (delivery === undefined) {
    throw notFound(
      `No delivery of this id is known: the newest ${MAXIMUM_DELIVERIES.toLocaleString('en')} are kept`,
    );
  }
  return delivery;
}

async function detailOf(delivery: Delivery, source: Source, signal: AbortSignal): Promise<DeliveryDetail> {
  const { history, problem } = await source.history(delivery, signal);
  const [request, { effects, problem: unread }] = await Promise.all([
    source.request(delivery),
    source.effects(delivery),
  ]);
  // What came in meanwhile is in the history already.
  const now = source.store.get(delivery.id) ?? delivery;
  return {
    ...now,
    settled: isSettled(now.state),
    request,
    answer: source.answer(delivery),
    history,
    problems: [problem, unread].filter((text) => text !== undefined),
    effects,
    logs: source.logs(now),
  };
}
