import { isEventName } from '../../lambda/contract/catalogue.ts';
import type { LogLine as FunctionLogLine } from '../../local/functions/invocation.ts';
import type { Exchange, PublishedNotification, RowChange, StackObserver } from '../../local/observation.ts';
import { parseLogLine } from '../stage/history/log-line.ts';
import type { FunctionLine } from './api.ts';
import { Deliveries } from './deliveries.ts';

/** Bytes of bodies that are kept together: some 60 of the largest that API Gateway and Lambda admit. */
export const BODIES_BYTES = 256 * 1024 * 1024;

/** Requests of which the bodies are kept. */
export const BODIES = 10_000;

/** Events of which rows and notifications are kept, and ids of which lines are. */
const EVENTS = 20_000;

/** Lines, rows or notifications of one event: one that fails to the end has some thirty lines. */
const OF_EVENT = 200;

/** Characters of lines that are kept together, and of one: a function may log whatever it is given. */
const LINES_CHARACTERS = 64 * 1024 * 1024;
const LINE_CHARACTERS = 32 * 1024;

/** How a version ends: with the id of the event that wrote it (decision D8). */
const WRITTEN_BY = /#([0-9a-f]{64})$/;

/** A request without its body, which may not be kept any more. */
export type KeptExchange = Omit<Exchange, 'body'> & { readonly bytes: number | undefined };

/**
 * Keeps what the local stack tells of its deliveries, in memory. It is there before the stack is, so that nothing is
 * missed.
 */
export class LocalRecorder implements StackObserver {
  readonly deliveries = new Deliveries();
  readonly #exchanges = new Map<string, KeptExchange>();
  /** In the order in which they came. */
  readonly #bodies = new Map<string, Buffer>();
  #bodiesBytes = 0;
  readonly #rows = new Kept<RowChange>();
  readonly #notifications = new Kept<PublishedNotification>();
  readonly #lines = new Kept<FunctionLine>(LINES_CHARACTERS, ({ text }) => text.length);

  constructor() {
    this.deliveries.onGone = (id) => {
      this.#exchanges.delete(id);
      this.#forgetBody(id);
      this.#lines.delete(id);
    };
  }

  onExchange(exchange: Exchange): void {
    const { body, ...rest } = exchange;
    const { requestId } = exchange;
    this.#exchanges.set(requestId, { ...rest, bytes: body?.length });
    if (body !== undefined) this.#keepBody(requestId, body);
    // Searches look at the body.
    this.deliveries.addExchange(exchange);
    if (this.deliveries.get(requestId) === undefined) {
      this.#exchanges.delete(requestId);
      this.#forgetBody(requestId);
    }
  }

  onRow(change: RowChange): void {
    for (const eventId of writersOf(change)) this.#rows.add(eventId, change);
  }

  onNotification(notification: PublishedNotification): void {
    const { eventId } = notification.attributes;
    if (eventId !== undefined) this.#notifications.add(eventId, notification);
  }

  /** Of a function's line, whatever it is. */
  onLog({ text }: FunctionLogLine): void {
    this.#addLine(text);
  }

  #addLine(text: string): void {
    const facts = factsOf(text);
    if (facts === undefined) return;
    // One of a message that nobody's request brought is found by its event.
    this.#lines.add(facts.id, { at: facts.at, function: facts.function, text: shortened(text) });
    const line = parseLogLine(text);
    if (line !== undefined) this.deliveries.addLine(line);
  }

  onEarlierLine(text: string): void {
    this.#addLine(text);
  }

  exchange(id: string): KeptExchange | undefined {
    return this.#exchanges.get(id);
  }

  body(id: string): Buffer | undefined {
    return this.#bodies.get(id);
  }

  rows(eventId: string): readonly RowChange[] {
    return this.#rows.get(eventId);
  }

  notifications(eventId: string): readonly PublishedNotification[] {
    return this.#notifications.get(eventId);
  }

  /** @param id of a request, or of an event for lines that name no request */
  lines(id: string): readonly FunctionLine[] {
    return this.#lines.get(id);
  }

  #keepBody(id: string, body: Buffer): void {
    this.#bodies.set(id, body);
    this.#bodiesBytes += body.length;
    for (const oldest of this.#bodies.keys()) {
      if (this.#bodiesBytes <= BODIES_BYTES && this.#bodies.size <= BODIES) break;
      this.#forgetBody(oldest);
    }
  }

  #forgetBody(id: string): void {
    this.#bodiesBytes -= this.#bodies.get(id)?.length ?? 0;
    this.#bodies.delete(id);
  }
}

/** What is told of ids, the newest ids of it. */
class Kept<Item> {
  readonly #items = new Map<string, Item[]>();
  readonly #limit: number;
  readonly #weigh: (item: Item) => number;
  #weight = 0;

  /** @param limit of the weight of all items together. @default they are only counted */
  constructor(limit = Number.POSITIVE_INFINITY, weigh: (item: Item) => number = () => 0) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  add(id: string, item: Item): void {
    const items = this.#items.get(id) ?? [];
    items.push(item);
    this.#weight += this.#weigh(item);
    if (items.length > OF_EVENT) this.#lighten(items.splice(0, 1));
    this.#items.delete(id);
    this.#items.set(id, items);
    for (const oldest of this.#items.keys()) {
      if (this.#items.size <= EVENTS && this.#weight <= this.#limit) break;
      this.delete(oldest);
    }
  }

  get(id: string): readonly Item[] {
    return this.#items.get(id) ?? [];
  }

  delete(id: string): void {
    this.#lighten(this.get(id));
    this.#items.delete(id);
  }

  #lighten(items: readonly Item[]): void {
    for (const item of items) this.#weight -= this.#weigh(item);
  }
}

const shortened = (text: string) =>
  text.length <= LINE_CHARACTERS ? text : `${text.slice(0, LINE_CHARACTERS)}…`;

/** The events whose versions a change has set. */
function writersOf({ before = {}, after = {} }: RowChange): Set<string> {
  const writers = Object.entries(after).flatMap(([name, { S: text }]) => {
    const [, eventId] =
      typeof text === 'string' && text !== before[name]?.S ? (WRITTEN_BY.exec(text) ?? []) : [];
    return eventId ?? [];
  });
  return new Set(writers);
}

/** What a line is about; undefined where that is no delivery: a metric, or what the runtime says. */
function factsOf(text: string): { id: string; at: string; function: string } | undefined {
  const line = objectOf(text);
  if (line === undefined || '_aws' in line) return undefined;
  const { requestId, eventId, timestamp, event, messageId, service } = line;
  const id = requestId ?? eventId;
  if (typeof id !== 'string') return undefined;
  // Consumers say which message they work on; what the receiver says of an event is about the request.
  const isConsumer = typeof event === 'string' && isEventName(event) && messageId !== undefined;
  return {
    id,
    at: typeof timestamp === 'string' ? timestamp : new Date().toISOString(),
    function: isConsumer ? event : String(service ?? 'receiver'),
  };
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
