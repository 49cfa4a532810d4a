import type { LocalStack } from 'local-aws';
import type { FunctionLogLine } from 'local-aws/invocation';
import type { Exchange, ItemChange, PublishedNotification, StackObserver } from 'local-aws/observation';
import { WEBHOOK_PATH } from '../../../lambda/receiver/request.ts';
import { isObject, jsonOf, textOf } from '../json.ts';
import { eventAndShop } from '../payload-filter.ts';
import { waitingQueues } from '../queues/queue.ts';
import { Stage } from '../stage.ts';
import { deadLetterFact } from './dead-letters.ts';
import { plainItem, writersOf } from './effects.ts';
import { CRASHED, type ExchangeFact, isoTime, lineFact } from './facts.ts';
import { HistoryStore } from './store.ts';

/** Characters stored per line: a function may log anything it receives. */
const LINE_CHARACTERS = 32 * 1024;

/** Milliseconds between two readings of the queues, and the share of the time that readings may take. */
const POLL_INTERVAL = 1_000;
const POLL_SHARE = 0.1;

/**
 * Reports facts about deliveries as the local stack observes them, at once. This includes facts that AWS does not keep:
 * requests, items before and after, notifications, and which messages a crash affected. Create the feed before the
 * stack, so that it misses nothing.
 */
export class LocalFeed implements StackObserver, Disposable {
  readonly store = new HistoryStore();
  #polling: NodeJS.Timeout | undefined;

  attach(stack: ObservedStack): void {
    const stage = new Stage('the local stack', stack.outputs);
    const poll = async () => {
      const begun = performance.now();
      await readQueues(stage, stack, this.store).catch(() => {});
      const pause = Math.max(POLL_INTERVAL, (performance.now() - begun) / POLL_SHARE);
      if (this.#polling !== undefined) this.#polling = setTimeout(poll, pause);
    };
    this.#polling = setTimeout(poll, POLL_INTERVAL);
  }

  onExchange(exchange: Exchange): void {
    const fact = exchangeFact(exchange);
    if (fact === undefined) return;
    this.store.add(fact);
    if (exchange.body !== undefined) this.store.addPayload(exchange.requestId, exchange.body);
  }

  onItemChange({ table, at, ...change }: ItemChange): void {
    const before = change.before ? plainItem(change.before) : null;
    const after = change.after ? plainItem(change.after) : null;
    const key = String(Object.values(plainItem(change.key))[0]);
    const effect = { kind: 'item' as const, table, key, at: at.toISOString(), before, after };
    for (const eventId of writersOf(after).difference(writersOf(before))) {
      this.store.add({ kind: 'effect', at: at.getTime(), eventId, effect });
    }
  }

  onNotification({ topicArn, subject, texts, attributes, at }: PublishedNotification): void {
    const { eventId } = attributes;
    if (eventId === undefined) return;
    const effect = { kind: 'notification' as const, topic: topicArn, at: at.toISOString(), subject, texts };
    this.store.add({ kind: 'effect', at: at.getTime(), eventId, effect });
  }

  onLog({ text, crash }: Pick<FunctionLogLine, 'text' | 'crash'>): void {
    const line = lineFact(text);
    const isLong = text.length > LINE_CHARACTERS;
    const shortened = isLong ? `${text.slice(0, LINE_CHARACTERS)}…` : text;
    if (line !== undefined) this.store.add({ ...line, text: shortened });
    const timestamp = isoTime(line?.at ?? Date.now());
    for (const { messageId, attempt, attributes } of crash?.messages ?? []) {
      const { event, eventId, requestId } = attributes;
      const about = { event, eventId, requestId, messageId, attempt, error: crash?.error };
      this.onLog({ text: JSON.stringify({ timestamp, level: 'ERROR', message: CRASHED, ...about }) });
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#polling);
    this.#polling = undefined;
  }
}

type ObservedStack = Pick<LocalStack, 'outputs' | 'inspectQueue'>;

/** Reads the queues that nothing consumes. No log says that SQS moved a message, or that somebody deleted it. */
async function readQueues(stage: Stage, { inspectQueue }: ObservedStack, store: HistoryStore): Promise<void> {
  for (const queue of waitingQueues(stage)) {
    const at = Date.now();
    const messages = await inspectQueue(queue.url);
    const facts = messages.map((message) => deadLetterFact({ queue, ...message }, at));
    const left = store.readQueue(queue.name, facts, at);
    if (left.length === 0) continue;
    const urls = stage.events.map((event) => stage.ofEvent(event, 'QueueUrl'));
    const consumed = (await Promise.all(urls.map(inspectQueue))).flat();
    const redriven = new Set(consumed.map(({ attributes }) => attributes.requestId));
    for (const { id: requestId } of left) {
      if (redriven.has(requestId)) store.add({ kind: 'redrive', at: Date.now(), requestId });
    }
  }
}

/** @returns undefined for a request that is not a delivery, such as a browser opening the address */
export function exchangeFact(exchange: Exchange): ExchangeFact | undefined {
  const { receivedAt, query, body, responseBody: bytes, durationMilliseconds, ...same } = exchange;
  const { method, path, status } = same;
  if ((method === 'GET' || method === 'HEAD') && path !== WEBHOOK_PATH) return undefined;
  const responseBody = bytes.toString();
  const parsed = jsonOf(responseBody);
  const answer = isObject(parsed) ? parsed : undefined;
  const isVerified = status === 200 || status === 400;
  return {
    ...same,
    kind: 'exchange',
    at: receivedAt.getTime(),
    eventId: textOf(answer?.eventId),
    ...(body !== undefined && eventAndShop(body)),
    ...(!isVerified && { claimed: true }),
    error:
      status === 200 ? undefined : (textOf(answer?.detail) ?? textOf(answer?.message) ?? `HTTP ${status}`),
    bytes: body?.length,
    path: query === '' ? path : `${path}?${query}`,
    responseBody,
    durationMs: durationMilliseconds,
  };
}
