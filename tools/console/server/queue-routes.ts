import { deadLetters } from './dead-letters.ts';
import { knownOnly, readNumber } from './delivery-query.ts';
import { inspectedAge, queuesOf } from './queue-depths.ts';
import { queueMessages } from './queue-messages.ts';
import { type Call, type ConsoleContext, json, type Route } from './route.ts';

/** Messages of a look, where nothing is said of it, and at most. */
const LIMIT = { minimum: 1, otherwise: 50, maximum: 500 };

export const queueRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/queues',
    handler: async ({ query }, { source, acting: { inspect, ages } }) => {
      knownOnly(query, []);
      const oldestAt = inspect ? inspectedAge(inspect) : ages.oldestAt;
      return json(await queuesOf(source.stage, oldestAt));
    },
  },
  {
    method: 'GET',
    path: '/api/queues/:name/messages',
    handler: async (call, context) => {
      knownOnly(call.query, ['limit']);
      const limit = readNumber(call.query, 'limit', LIMIT);
      return json(await queueMessages(lookOf(call, context), call.params.name ?? '', limit));
    },
  },
  {
    method: 'GET',
    path: '/api/dead-letters',
    handler: async (call, context) => {
      knownOnly(call.query, []);
      return json(await deadLetters(lookOf(call, context)));
    },
  },
];

function lookOf({ signal }: Call, { source, readOnly, acting: { inspect, use } }: ConsoleContext) {
  return { stack: source.stage, inspect, use, signal, readOnly };
}
