import type { Trace } from '../../stage/history/timeline.ts';
import { traceDelivery } from '../../stage/history/trace.ts';
import type { Delivery, DeliveryDetail, DeliveryList, DeliveryState } from '../api.ts';
import { MAXIMUM_DELIVERIES } from '../deliveries.ts';
import type { Source } from '../source.ts';
import { knownOnly, readFilter, readNumber } from './delivery-query.ts';
import { notFound } from './problem.ts';
import { type Call, type ConsoleContext, json, type Route } from './route.ts';

/** Deliveries of a list where nothing is said of it. */
const LIST_LIMIT = 500;

/** Seconds that a client may wait for a delivery to settle: below the 300 s in which Node.js' fetch wants an answer. */
const TIMEOUT = { otherwise: 30, maximum: 240 };

/** States from which nothing leads on by itself. */
const OPEN: readonly DeliveryState[] = ['received', 'queued', 'retrying'];

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
  const { search, since, until } = filter;
  const searched = search === undefined ? undefined : await source.search(search, { since, until, signal });
  const found = source.deliveries.list(filter, (id, text) => source.contains(id, text));
  return json({
    deliveries: found.slice(0, limit),
    total: found.length,
    ...(searched && { searched }),
  } satisfies DeliveryList);
}

/** Whoever has just sent it may ask before it is known here. */
async function settled({ params: { id = '' }, query, signal }: Call, { source }: ConsoleContext) {
  knownOnly(query, ['timeout']);
  const seconds = readNumber(query, 'timeout', { minimum: 0, ...TIMEOUT });
  const enough = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
  const isSettledNow = () => {
    const delivery = source.deliveries.get(id);
    return delivery !== undefined && isSettled(delivery);
  };
  if (!isSettledNow() && !enough.aborted) {
    await new Promise<void>((resolve) => {
      const end = () => {
        unsubscribe();
        enough.removeEventListener('abort', end);
        resolve();
      };
      const unsubscribe = source.deliveries.subscribe((changed) => {
        if (changed === id && isSettledNow()) end();
      });
      enough.addEventListener('abort', end);
    });
  }
  return json(await detailOf(known(source, id), source, signal));
}

function known({ deliveries }: Source, id: string): Delivery {
  const delivery = deliveries.get(id);
  if (delivery === undefined) {
    throw notFound(
      `No delivery of this id is known: the newest ${MAXIMUM_DELIVERIES.toLocaleString('en')} are kept`,
    );
  }
  return delivery;
}

const isSettled = ({ state }: Delivery) => !OPEN.includes(state);

async function detailOf(delivery: Delivery, source: Source, signal: AbortSignal): Promise<DeliveryDetail> {
  const [{ trace, problem }, request, answer] = await Promise.all([
    traceOf(delivery, source, signal),
    source.request(delivery),
    source.answer(delivery),
  ]);
  const effects = await source.effects(delivery, trace);
  // What came in meanwhile is in the trace already.
  const now = source.deliveries.get(delivery.id) ?? delivery;
  return {
    ...now,
    settled: isSettled(now),
    ...(request && { request }),
    ...(answer && { answer }),
    ...(trace && { trace }),
    ...(problem !== undefined && { traceProblem: problem }),
    effects,
    logs: source.logs(delivery),
  };
}

async function traceOf(
  { id, eventId }: Delivery,
  { stack }: Source,
  signal: AbortSignal,
): Promise<{ trace?: Trace | undefined; problem?: string }> {
  if (eventId === undefined) return { problem: 'API Gateway has answered it by itself: no function saw it' };
  try {
    return { trace: await traceDelivery(stack, id, { signal }) };
  } catch (error) {
    if (!(error instanceof Error) || signal.aborted) throw error;
    // Without a timeline there is all the rest of it.
    return { problem: error.name === 'CommandError' ? error.message : `${error.name}: ${error.message}` };
  }
}
