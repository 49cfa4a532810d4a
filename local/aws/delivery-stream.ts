import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
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

/** Writes an object. @throws where it is not written */
export type WriteObject = (bucket: string, key: string, body: Buffer, isGzip: boolean) => Promise<void>;

interface DeliveryStreamOptions {
  readonly name: string;
  readonly version: string;
  readonly destination: Destination;
  readonly write: WriteObject;
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
  #firstArrival = new Date(0);
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DeliveryStreamOptions) {
    this.#options = options;
  }

  /** Takes records in, which are in the bucket a moment later. */
  add(records: readonly Buffer[]): void {
    if (this.#records.length === 0) {
      this.#firstArrival = new Date();
      this.#timer = setTimeout(() => this.#flush(), BUFFER_MS);
    }
    this.#records.push(...records);
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
    const delivery = this.#deliver(this.#records, this.#firstArrival);
    this.#records = [];
    this.#deliveries.add(delivery);
    delivery.finally(() => this.#deliveries.delete(delivery));
  }

  async #deliver(records: readonly Buffer[], arrived: Date): Promise<void> {
    const { name, version, destination, write, onProblem } = this.#options;
    const { bucket, prefix, fileExtension, isCompressed } = destination;
    const file = objectName(name, version, arrived, randomUUID()) + fileExtension;
    const key = evaluatedPrefix(prefix, arrived) + file;
    const text = Buffer.concat(records);
    const body = isCompressed ? await gzip(text) : text;
    while (!(await this.#isWritten(() => write(bucket, key, body, isCompressed)))) {
      const { signal } = this.#closing;
      const isOver = await sleep(RETRY_MS, signal.aborted, { signal }).catch(() => true);
      if (isOver) {
        onProblem(`${name}: ${records.length} records were never delivered to ${bucket}`);
        return;
      }
    }
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
