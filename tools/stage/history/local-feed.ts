import type { Exchange, ItemChange, LocalStack, PublishedNotification, StackObserver } from 'local-aws';
import type { FunctionLogLine } from 'local-aws/functions';
import { pascalCase } from '../../../lambda/events/event-names.ts';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { attribute } from '../../../lambda/queue/message.ts';
import { eventAndShop } from '../payload-filter.ts';
import { plainItem } from './effects.ts';
import type { CrashFact, ExchangeFact, ItemEffect } from './facts.ts';
import { isObject, jsonOf, textOf } from './json.ts';
import { lineFact } from './log-line.ts';
import { HistoryStore } from './store.ts';

/** Characters stored per line: a function may log anything it receives. */
const LINE_CHARACTERS = 32 * 1024;

/**
 * Milliseconds between two readings of the dead-letter queues, while a message that crashed its consumer is still being
 * retried.
 */
const POLL_INTERVAL = 1_000;

/** A version ends with the id of the event that wrote it (decision D8). */
const WRITTEN_BY = /#([0-9a-f]{64})$/;

/**
 * Reports facts about deliveries as the local stack observes them, at once. This includes facts that AWS does not keep:
 * requests, items before and after, notifications, and which messages a crash affected. Create the feed before the
 * stack, so that it misses nothing.
 */
export class LocalFeed implements StackObserver, Disposable {
  readonly store = new HistoryStore();
  /**
   * Messages that crashed their consumer, by message id. SQS may move them to the dead-letter queue without a log line.
   */
  readonly #crashed = new Map<string, CrashFact>();
  #stack: Pick<LocalStack, 'outputs' | 'inspectQueue'> | undefined;
  #polling: NodeJS.Timeout | undefined;

  /** Starts to poll the queues of a running stack. */
  attach(stack: Pick<LocalStack, 'outputs' | 'inspectQueue'>): void {
    this.#stack = stack;
  }

  onExchange(exchange: Exchange): void {
    const fact = exchangeFact(exchange);
    if (fact === undefined) return;
    this.store.add(fact);
    if (exchange.body !== undefined) this.store.addPayload(exchange.requestId, exchange.body);
  }

  onItemChange(change: ItemChange): void {
    const at = change.at.getTime();
    for (const eventId of writersOf(change)) {
      this.store.add({ kind: 'effect', at, eventId, effect: itemEffect(change) });
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
    const at = line?.at ?? Date.now();
    if (crash === undefined) return;
    const { invocationId, error } = crash;
    for (const { messageId, attempt, attributes } of crash.messages) {
      const { event, eventId, requestId } = subjectOf(attributes);
      if (event === undefined || eventId === undefined) continue;
      const ids = { event, eventId, requestId, messageId };
      const fact: CrashFact = { kind: 'crash', at, ...ids, attempt, invocationId, error };
      this.store.add(fact);
      this.#crashed.set(messageId, fact);
      this.#polling ??= setInterval(() => void this.#pollDeadLetters(), POLL_INTERVAL);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#polling);
    this.store.close();
  }

  /** SQS moves a message that has crashed its consumer too often, and does not report it. */
  async #pollDeadLetters(): Promise<void> {
    if (this.#stack === undefined) return;
    const events = new Set([...this.#crashed.values()].map(({ event }) => event));
    for (const event of events) {
      const url = this.#stack.outputs[`${pascalCase(event)}DeadLetterQueueUrl`];
      const messages = url === undefined ? [] : await this.#stack.inspectQueue(url).catch(() => []);
      for (const { id, sentAt } of messages) {
        const crash = this.#crashed.get(id);
        if (crash === undefined) continue;
        const { eventId, requestId } = crash;
        const ids = { event, eventId, requestId, messageId: id };
        this.store.add({ kind: 'dead-letter', at: sentAt.getTime(), ...ids });
        this.#crashed.delete(id);
      }
    }
    this.#forgetSettled();
  }

  #forgetSettled(): void {
    for (const [messageId, { requestId }] of this.#crashed) {
      const state = requestId === undefined ? undefined : this.store.get(requestId)?.state;
      if (state !== 'retrying' && state !== 'queued') this.#crashed.delete(messageId);
    }
    if (this.#crashed.size > 0) return;
    clearInterval(this.#polling);
    this.#polling = undefined;
  }
}

/** The ids of the delivery that brought a message. A message that was sent by hand may lack attributes. */
const subjectOf = (attributes: Readonly<Record<string, string>>) => ({
  event: attributes[attribute.event],
  eventId: attributes[attribute.eventId],
  requestId: attributes[attribute.requestId],
});

/** @returns undefined for a request that is not a delivery, such as a browser opening the address */
export function exchangeFact(exchange: Exchange): ExchangeFact | undefined {
  const { requestId, receivedAt, method, path, query, headers, sourceIp, status, body } = exchange;
  if ((method === 'GET' || method === 'HEAD') && path !== WEBHOOK_PATH) return undefined;
  const parsed = jsonOf(exchange.responseBody.toString());
  const answer = isObject(parsed) ? parsed : undefined;
  const isRead = body !== undefined && (status === 200 || status === 400);
  return {
    kind: 'exchange',
    at: receivedAt.getTime(),
    requestId,
    eventId: textOf(answer?.eventId),
    ...(isRead && eventAndShop(body)),
    status,
    // API Gateway's own answers contain only a message.
    byReceiver: status === 200 || typeof answer?.type === 'string',
    parked: answer?.status === 'parked',
    error:
      status === 200 ? undefined : (textOf(answer?.detail) ?? textOf(answer?.message) ?? `HTTP ${status}`),
    bytes: body?.length,
    method,
    path: query === '' ? path : `${path}?${query}`,
    headers,
    sourceIp,
    responseHeaders: exchange.responseHeaders,
    responseBody: exchange.responseBody.toString(),
    durationMs: exchange.durationMilliseconds,
  };
}

function itemEffect({ table, key, before, after, at }: ItemChange): ItemEffect {
  return {
    kind: 'item',
    table,
    key: String(Object.values(plainItem(key))[0]),
    at: at.toISOString(),
    before: before === undefined ? null : plainItem(before),
    after: after === undefined ? null : plainItem(after),
  };
}

/** The ids of the events whose versions a change has set. */
function writersOf({ before = {}, after = {} }: ItemChange): Set<string> {
  const writers = Object.entries(after).flatMap(([name, { S: text }]) => {
    const isNew = typeof text === 'string' && text !== before[name]?.S;
    return isNew ? (WRITTEN_BY.exec(text)?.[1] ?? []) : [];
  });
  return new Set(writers);
}
