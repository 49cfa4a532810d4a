import * as z from 'zod/mini';
import type { KeptState } from './aws/kept/kept-state.ts';
import { keptLine } from './aws/logs.ts';
import type { StackObserver } from './observation.ts';

/** What is kept of all that an observer is told, the newest; and how much JSON that may be, in characters. */
const OBSERVATIONS = 10_000;
const CHARACTERS = 64 * 1024 * 1024;

const header = z.readonly(z.tuple([z.string(), z.string()]));
const item = z.record(z.string(), z.record(z.string(), z.unknown()));
const texts = z.record(z.string(), z.string());

/** As it is stored: bytes in base64, times in ISO 8601. */
const observation = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('exchange'),
    requestId: z.string(),
    receivedAt: z.string(),
    method: z.string(),
    path: z.string(),
    query: z.string(),
    headers: z.array(header),
    sourceIp: z.string(),
    body: z.optional(z.string()),
    status: z.number(),
    responseHeaders: z.array(header),
    responseBody: z.string(),
    durationMilliseconds: z.number(),
  }),
  z.object({
    kind: z.literal('row'),
    table: z.string(),
    key: item,
    before: z.optional(item),
    after: z.optional(item),
    at: z.string(),
  }),
  z.object({
    kind: z.literal('notification'),
    topicArn: z.string(),
    subject: z.string(),
    texts,
    attributes: texts,
    at: z.string(),
  }),
]);

type Observation = z.infer<typeof observation>;

/**
 * Tells an observer what it was told in an earlier run, and keeps what it is told from now on. It is kept a moment
 * later than what it is about: of the very last requests before a kill there may be the effect alone.
 */
export function keepObservations(kept: KeptState, observer: StackObserver): StackObserver {
  const shelf = kept.shelf('observation', observation);
  /** Characters by key, the oldest first. */
  const sizes = new Map<string, number>();
  let characters = 0;

  function note(key: string, size: number): void {
    sizes.set(key, size);
    characters += size;
    for (const [oldest, oldestSize] of sizes) {
      if (sizes.size <= OBSERVATIONS && characters <= CHARACTERS) break;
      sizes.delete(oldest);
      characters -= oldestSize;
      shelf.delete(oldest);
    }
  }

  const earlier = shelf.entries().sort(([a], [b]) => Number(a) - Number(b));
  let count = Number(earlier.at(-1)?.[0] ?? -1);
  for (const [key, one] of earlier) {
    note(key, JSON.stringify(one).length);
    tell(observer, one);
  }
  for (const [, { message }] of kept.shelf('log line', keptLine).entries()) observer.onEarlierLine?.(message);

  function keep(one: Observation): void {
    count += 1;
    shelf.put(String(count), one);
    note(String(count), JSON.stringify(one).length);
  }

  return {
    onExchange(exchange) {
      const { body, responseBody, receivedAt, headers, responseHeaders, ...plain } = exchange;
      keep({
        kind: 'exchange',
        ...plain,
        receivedAt: receivedAt.toISOString(),
        headers: [...headers],
        body: body?.toString('base64'),
        responseHeaders: [...responseHeaders],
        responseBody: responseBody.toString('base64'),
      });
      observer.onExchange(exchange);
    },
    onRow(change) {
      keep({ kind: 'row', ...change, at: change.at.toISOString() });
      observer.onRow(change);
    },
    onNotification(notification) {
      keep({ kind: 'notification', ...notification, at: notification.at.toISOString() });
      observer.onNotification(notification);
    },
  };
}

function tell(observer: StackObserver, one: Observation): void {
  switch (one.kind) {
    case 'exchange':
      observer.onExchange({
        ...one,
        receivedAt: new Date(one.receivedAt),
        body: one.body === undefined ? undefined : Buffer.from(one.body, 'base64'),
        responseBody: Buffer.from(one.responseBody, 'base64'),
      });
      return;
    case 'row':
      observer.onRow({ ...one, before: one.before, after: one.after, at: new Date(one.at) });
      return;
    case 'notification':
      observer.onNotification({ ...one, at: new Date(one.at) });
  }
}
