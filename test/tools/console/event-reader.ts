import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { cookieName } from '../../../tools/console/server/security.ts';
import type { Delivery } from '../../../tools/stage/history/history.ts';
import { eventually } from '../../support/eventually.ts';
import { TEST_TOKEN } from './support.ts';

export interface ReadEvent {
  readonly id: string | undefined;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test says of each event what it is to be
  readonly data: any;
}

/** A client of the stream, as the page is one. */
export class EventReader {
  readonly #request: ClientRequest;
  /** All that came so far, whole events only. */
  readonly events: ReadEvent[] = [];
  /** The beginning of an event. */
  #rest = '';
  #response: IncomingMessage | undefined;
  /** The connection is over, whoever ended it. */
  isOver = false;

  constructor(port: number, path = '/api/stream', lastEventId?: string) {
    this.#request = request(
      {
        host: '127.0.0.1',
        port,
        path,
        agent: false,
        headers: {
          host: `localhost:${port}`,
          cookie: `${cookieName(port)}=${TEST_TOKEN}`,
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        },
      },
      (response) => {
        this.#response = response;
        response.setEncoding('utf8').on('data', (text: string) => {
          const blocks = `${this.#rest}${text}`.split('\n\n');
          this.#rest = blocks.pop() ?? '';
          this.events.push(...blocks.flatMap(parseEvent));
        });
        response.on('error', () => {});
        response.on('close', () => {
          this.isOver = true;
        });
      },
    );
    this.#request.on('error', () => {
      this.isOver = true;
    });
    this.#request.end();
  }

  get status(): number | undefined {
    return this.#response?.statusCode;
  }

  get lastId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id;
  }

  /** Rows as a page would have them now, after those it had before. */
  rows(before: ReadonlyMap<string, Delivery> = new Map()): Map<string, Delivery> {
    const rows = new Map(before);
    for (const { event, data } of this.events) {
      if (event === 'reset') rows.clear();
      if (event !== 'deliveries') continue;
      for (const row of data.put) rows.set(row.id, row);
      for (const id of data.removed) rows.delete(id);
    }
    return rows;
  }

  async until(wanted: (reader: EventReader) => boolean): Promise<this> {
    await eventually(async () => (wanted(this) ? true : undefined));
    return this;
  }

  ready(): Promise<this> {
    return this.until(({ events }) => events.some(({ event }) => event === 'ready'));
  }

  /** Stops reading without ending the connection. */
  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  /** Cuts the connection. */
  cut(): void {
    this.#request.destroy();
  }
}

/** @returns nothing for a comment */
function parseEvent(block: string): ReadEvent[] {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
  const event = field('event');
  return event === undefined ? [] : [{ id: field('id'), event, data: JSON.parse(field('data') ?? '') }];
}
