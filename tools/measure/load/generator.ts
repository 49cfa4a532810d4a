import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { GATEWAY_TIMEOUT_SECONDS } from '../../../lambda/limits.ts';
import { SIGNATURE_LENGTH, type SignedDeliveries, type SignedSecond } from './deliveries.ts';
import type { Measurements } from './measurements.ts';

/** Milliseconds after which no answer can come: an HTTP API waits longer than a REST API, and cannot wait longer still. */
export const NO_ANSWER_AFTER = (GATEWAY_TIMEOUT_SECONDS.http + 1) * 1000;

/** Late deliveries that are sent before answers are read again. */
const MAX_AT_ONCE = 64;

/**
 * Milliseconds after the write. A reset within this time means that the connection had been closed while it was idle:
 * the reset comes with the next round trip, which is shorter within a continent. A receiver that dies at once looks the
 * same, so these deliveries are counted.
 */
export const STALE_WITHIN = 100;

/** The ending of a delivery that timed out. */
const NO_ANSWER = 'no answer';

/** A delivery that has not ended. */
interface UnderWay {
  readonly number: number;
  readonly due: number;
  readonly abandon: () => void;
}

/**
 * An open-loop generator: it sends deliveries by the clock, regardless of how long answers take. So if the receiver
 * stalls, all deliveries of that time show the delay, not only those in progress.
 *
 * It is our own, because autocannon's connections wait for their answers, and Artillery (MPL), k6 (AGPL) and vegeta (a Go
 * binary) do not see the effect of a delivery.
 */
export class Generator implements Disposable {
  readonly #agent: HttpAgent;
  readonly #request: typeof httpRequest;
  readonly #options: RequestOptions;
  readonly #measurements: Measurements;
  /** In the order of their due times. */
  readonly #underWay = new Set<UnderWay>();
  #begunAt = performance.now();
  /** When the next delivery is due, in milliseconds since the run began. Undefined after the last. */
  #nextDue: number | undefined;

  constructor(url: URL, connections: number, measurements: Measurements) {
    const isSecure = url.protocol === 'https:';
    const Agent = isSecure ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections });
    this.#request = isSecure ? httpsRequest : httpRequest;
    this.#options = {
      method: 'POST',
      protocol: url.protocol,
      // A WHATWG URL has brackets around an IPv6 address.
      hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port,
      path: `${url.pathname}${url.search}`,
      agent: this.#agent,
    };
    this.#measurements = measurements;
  }

  /** Milliseconds since the run began. */
  get elapsed(): number {
    return performance.now() - this.#begunAt;
  }

  /** Milliseconds by which the next delivery is late. */
  get lateBy(): number {
    return this.#nextDue === undefined ? 0 : Math.max(0, this.elapsed - this.#nextDue);
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Sends all deliveries. @param begin epoch milliseconds. @returns when the last is sent, or the signal is aborted */
  async send(seconds: SignedDeliveries, begin: number, signal: AbortSignal): Promise<void> {
    // A monotonic clock.
    this.#begunAt = performance.now() + (begin - Date.now());
    for (let second = 0; !signal.aborted; second += 1) {
      this.#nextDue = second * 1_000;
      const deliveries = await seconds.next();
      if (deliveries === undefined) break;
      await this.#sendSecond(deliveries, second * 1_000, signal);
    }
    this.#nextDue = undefined;
  }

  /** Waits for the remaining answers. */
  async settle(signal: AbortSignal): Promise<void> {
    while (this.#underWay.size > 0 && !signal.aborted) {
      await sleep(20, undefined, { signal }).catch(() => {});
    }
  }

  /** Ends deliveries that have waited too long for an answer. */
  sweep(): void {
    const oldest = this.elapsed - NO_ANSWER_AFTER;
    for (const delivery of this.#underWay) {
      if (delivery.due > oldest) return;
      delivery.abandon();
    }
  }

  async #sendSecond(
    { first, offsets, bytes, ends, signatures }: SignedSecond,
    begin: number,
    signal: AbortSignal,
  ): Promise<void> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    let index = 0;
    while (index < offsets.length && !signal.aborted) {
      const now = this.elapsed - begin;
      const until = Math.min(offsets.length, index + MAX_AT_ONCE);
      while (index < until && (offsets[index] ?? 0) <= now) {
        const body = buffer.subarray(ends[index - 1] ?? 0, ends[index]);
        const signature = signatures.slice(index * SIGNATURE_LENGTH, (index + 1) * SIGNATURE_LENGTH);
        this.#post(first + index, begin + (offsets[index] ?? 0), body, signature);
        index += 1;
      }
      if (index === offsets.length) return;
      this.#nextDue = begin + (offsets[index] ?? 0);
      const wait = this.#nextDue - this.elapsed;
      if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => {});
      else await nextTurn();
    }
  }

  #post(number: number, due: number, body: Buffer, signature: string): void {
    this.#measurements.begin(due, this.elapsed);
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-webhook-signature': signature,
    };
    const end = (came: number | string) => {
      // A request may still fail after its delivery has ended.
      if (this.#underWay.delete(delivery)) this.#measurements.end({ number, due, at: this.elapsed, came });
    };
    const attempt = (isRepeated: boolean) => {
      let writtenAt = 0;
      const request = this.#request({ ...this.#options, headers }, (response) => {
        response.resume();
        response.once('end', () => end(response.statusCode ?? 0));
        response.once('error', (error) => end(codeOf(error)));
      });
      // The request may wait long for a connection.
      request.once('socket', () => {
        writtenAt = this.elapsed;
      });
      request.once('error', (error) => {
        const isStale =
          !isRepeated &&
          request.reusedSocket &&
          codeOf(error) === 'ECONNRESET' &&
          this.elapsed - writtenAt < STALE_WITHIN &&
          this.#underWay.has(delivery);
        if (isStale) {
          this.#measurements.sentAgain += 1;
          post = attempt(true);
        } else end(codeOf(error));
      });
      request.end(body);
      return request;
    };
    let post: ReturnType<typeof attempt> | undefined;
    const delivery: UnderWay = {
      number,
      due,
      abandon: () => {
        end(NO_ANSWER);
        post?.destroy();
      },
    };
    this.#underWay.add(delivery);
    post = attempt(false);
  }

  /** Deliveries without an answer so far get no ending. */
  [Symbol.dispose](): void {
    const left = [...this.#underWay];
    this.#underWay.clear();
    for (const delivery of left) delivery.abandon();
    this.#agent.destroy();
  }
}

/** If a name has two addresses, Node.js reports both errors together, with the code of the first. */
function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
