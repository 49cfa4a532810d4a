import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Sample } from '../../../events/samples.ts';
import { signatureOf } from '../../../events/signing.ts';
import type { LoadPlan } from './plan.ts';

/** Characters of a signature in hex. */
export const SIGNATURE_LENGTH = 64;

/** The deliveries of one second, in buffers that one thread transfers to another without a copy. */
export interface SignedSecond {
  /** Number of the first delivery, from 0. */
  readonly first: number;
  /** Send times, in milliseconds since the second began, in order. */
  readonly offsets: Float64Array<ArrayBuffer>;
  /** The bodies, concatenated. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** End position of each body. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** The signatures, concatenated. */
  readonly signatures: string;
}

export interface DeliveriesOptions {
  readonly plan: Pick<LoadPlan, 'mix' | 'shops' | 'run'>;
  readonly samples: readonly Sample[];
  readonly secret: string;
  /** @default Math.random */
  readonly random?: () => number;
}

/**
 * Creates and signs the deliveries of a run. Each has its own `webhookId`, made of the run and its number, so each is a
 * different event.
 */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #random: () => number;
  /** For each event, the number of deliveries that it is behind its share. */
  readonly #owed: { readonly sample: Sample; readonly share: number; owed: number }[];
  #made = 0;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    const { mix } = options.plan;
    this.#owed = Object.entries(mix)
      .filter(([, share]) => share > 0)
      .map(([event, share]) => {
        const sample = options.samples.find((candidate) => candidate.event === event);
        if (sample === undefined) throw new Error(`events/ has no sample of ${event}`);
        return { sample, share, owed: 0 };
      });
  }

  /**
   * Creates the deliveries of the next second.
   * @param rate number of deliveries
   * @param begin of the second, epoch milliseconds
   */
  next(rate: number, begin: number): SignedSecond {
    const first = this.#made;
    // Sorted random times are the arrivals of a Poisson process with a fixed count in the second.
    const offsets = Float64Array.from({ length: rate }, () => this.#random() * 1_000).sort();
    const bodies = Array.from(offsets, (offset) => this.#body(new Date(begin + offset)));
    const ends = new Uint32Array(rate);
    let end = 0;
    for (const [index, body] of bodies.entries()) {
      end += body.length;
      ends[index] = end;
    }
    const { secret } = this.#options;
    const signatures = bodies.map((body) => signatureOf({ body, secret })).join('');
    return { first, offsets, bytes: new Uint8Array(Buffer.concat(bodies)), ends, signatures };
  }

  #body(timestamp: Date): Buffer {
    const { run, shops } = this.#options.plan;
    const number = this.#made;
    this.#made += 1;
    const { payload } = this.#nextSample();
    const shop = `load-${run}-shop-${Math.floor(this.#random() * shops)}`;
    const data = Object.fromEntries(
      Object.entries(payload.data as Record<string, unknown>).map(([field, value]) => {
        if (field === 'shop_id') return [field, shop];
        return [field, field.endsWith('_id') ? `load-${run}-${number}` : value];
      }),
    );
    return Buffer.from(
      JSON.stringify({
        ...payload,
        data,
        timestamp: timestamp.toISOString(),
        webhookId: webhookIdOf(run, number),
      }),
    );
  }

  /** The event that is furthest behind its share. This keeps the mix in every part of the run. */
  #nextSample(): Sample {
    for (const one of this.#owed) one.owed += one.share;
    const most = this.#owed.reduce((first, one) => (one.owed > first.owed ? one : first));
    most.owed -= 1;
    return most.sample;
  }
}

const webhookIdOf = (run: string, number: number) => `load-${run}-${number}`;

/** Reads a delivery's number from its body. @returns undefined for a delivery of another run */
export function numberReader(run: string): (body: string) => number | undefined {
  const pattern = new RegExp(`"webhookId":"load-${run}-(\\d+)"`);
  return (body) => {
    const number = pattern.exec(body)?.[1];
    return number === undefined ? undefined : Number(number);
  };
}

/** A message to the signing thread: the parameters of {@link Deliveries.next}. */
export interface SecondAsked {
  readonly rate: number;
  readonly begin: number;
}

/** Seconds that are signed ahead: enough to survive a busy moment, and memory stays flat. */
const SECONDS_AHEAD = 3;

/** The deliveries of a run, second by second. Another thread signs them ahead of time. */
export class SignedDeliveries implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #rates: readonly number[];
  readonly #begin: number;
  readonly #ready: Promise<SignedSecond>[] = [];
  #asked = 0;

  /**
   * @param rates deliveries of each second
   * @param begin of the first second, epoch milliseconds
   */
  constructor(options: DeliveriesOptions, rates: readonly number[], begin: number) {
    this.#worker = new Worker(new URL('signer.ts', import.meta.url), { workerData: options });
    this.#worker.setMaxListeners(2 * SECONDS_AHEAD + 1);
    this.#rates = rates;
    this.#begin = begin;
    for (let second = 0; second < SECONDS_AHEAD; second += 1) this.#ask();
  }

  /** Waits until the first second can be sent. @throws Error if it cannot be created */
  async ready(): Promise<void> {
    await this.#ready[0];
  }

  /** @returns the deliveries of the next second; undefined after the last. @throws Error if they cannot be created */
  async next(): Promise<SignedSecond | undefined> {
    const second = await this.#ready[0];
    this.#ready.shift();
    this.#ask();
    return second;
  }

  #ask(): void {
    const rate = this.#rates[this.#asked];
    if (rate === undefined) return;
    const begin = this.#begin + this.#asked * 1_000;
    this.#asked += 1;
    const before = this.#ready.at(-1) ?? Promise.resolve();
    const answer = before.then(async () => {
      this.#worker.postMessage({ rate, begin } satisfies SecondAsked);
      const [second] = (await once(this.#worker, 'message')) as [SignedSecond];
      return second;
    });
    // next() reports the error. Until then it must not count as unhandled.
    answer.catch(() => {});
    this.#ready.push(answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
