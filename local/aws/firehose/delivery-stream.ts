import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
import * as z from 'zod/mini';
import type { Shelf } from '../kept/kept-state.ts';
import { evaluatedPrefix, objectName } from './firehose-prefix.ts';

const gzip = promisify(gzipWithCallback);

/** Nobody here waits for the minutes that Firehose collects records, nor pays for objects. */
const BUFFER_MS = 250;

/** Until what could not be written is tried again. */
const RETRY_MS = 1_000;

/** Where a stream's objects go, and how. */
export interface Destination {
  readonly bucket: string;
  readonly prefix: string;
  readonly fileExtension: string;
  readonly isCompressed: boolean;
}

/** Records that were taken in together, in base64. */
export const keptRecords = z.object({
  stream: z.string(),
  /** Epoch milliseconds. */
  arrived: z.number(),
  records: z.array(z.string()),
});

type KeptRecords = z.infer<typeof keptRecords>;

/** Writes an object. @throws where it is not written */
export type WriteObject = (bucket: string, key: string, body: Buffer, isGzip: boolean) => Promise<void>;

interface DeliveryStreamOptions {
  readonly name: string;
  readonly version: string;
  readonly destination: Destination;
  readonly write: WriteObject;
  /** Where records are until they are delivered. @default in memory alone */
  readonly kept?: Shelf<KeptRecords> | undefined;
  /** Told once of each reason why records are not delivered. */
  readonly onProblem: (message: string) => void;
}

/** Collects records for a moment and writes them as one object, again and again until it is written. */
export class DeliveryStream {
  readonly #options: DeliveryStreamOptions;
  readonly #problems = new Set<string>();
  readonly #deliveries = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #records: Buffer[] = [];
  /** Under which keys they are kept. */
  #keys: string[] = [];
  #firstArrival = new Date(0);
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DeliveryStreamOptions) {
    this.#options = options;
    for (const [key, { stream, arrived, records }] of options.kept?.entries() ?? []) {
      if (stream !== options.name) continue;
      this.#collect(
        key,
        records.map((record) => Buffer.from(record, 'base64')),
        arrived,
      );
    }
  }

  /** Takes records in, which are in the bucket a moment later. */
  add(records: readonly Buffer[]): void {
    const { name, kept } = this.#options;
    const key = randomUUID();
    const arrived = Date.now();
    kept?.put(key, { stream: name, arrived, records: records.map((record) => record.toString('base64')) });
    this.#collect(key, records, arrived);
  }

  #collect(key: string, records: readonly Buffer[], arrived: number): void {
    if (this.#records.length === 0) {
      this.#firstArrival = new Date(arrived);
      this.#timer = setTimeout(() => this.#flush(), BUFFER_MS);
    }
    this.#records.push(...records);
    this.#keys.push(key);
  }

  /** Writes what is left. What fails now is not tried again. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    this.#flush();
    await Promise.all(this.#deliveries);
  }

  #flush(): void {
    if (this.#records.length === 0) return;
    const delivery = this.#deliver(this.#records, this.#keys, this.#firstArrival);
    this.#records = [];
    this.#keys = [];
    this.#deliveries.add(delivery);
    delivery.finally(() => this.#deliveries.delete(delivery));
  }

  async #deliver(records: readonly Buffer[], keys: readonly string[], arrived: Date): Promise<void> {
    const { name, version, destination, write, kept, onProblem } = this.#options;
    const { bucket, prefix, fileExtension, isCompressed } = destination;
    const file = objectName(name, version, arrived, randomUUID()) + fileExtension;
    const key = evaluatedPrefix(prefix, arrived) + file;
    const text = Buffer.concat(records);
    const body = isCompressed ? await gzip(text) : text;
    while (!(await this.#isWritten(() => write(bucket, key, body, isCompressed)))) {
      const { signal } = this.#closing;
      const isOver = await sleep(RETRY_MS, signal.aborted, { signal }).catch(() => true);
      if (isOver) {
        const outcome = kept ? 'are kept, and not yet' : 'were never';
        onProblem(`${name}: ${records.length} records ${outcome} delivered to ${bucket}`);
        return;
      }
    }
    for (const one of keys) kept?.delete(one);
  }

  async #isWritten(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.#problems.has(reason)) this.#options.onProblem(`${this.#options.name}: ${reason}`);
      this.#problems.add(reason);
      return false;
    }
  }
}
