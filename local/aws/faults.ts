import { setTimeout as sleep } from 'node:timers/promises';
import { AwsError } from './aws-error.ts';
import type { AwsRequest, Service } from './request.ts';
import type { AwsResponse } from './response.ts';

/** Something that goes wrong at the AWS endpoint until it is ended. */
export interface Fault {
  readonly service: Exclude<Service, 'sts'>;
  /** Such as `SendMessage`. @default every operation */
  readonly operation?: string;
  /**
   * `down` breaks the connection, `throttled` answers with the service's own throttling error, `slow`
   * answers later, `response-lost` carries the operation out and then breaks the connection.
   */
  readonly kind: 'down' | 'throttled' | 'slow' | 'response-lost';
  /** How much later `slow` answers. */
  readonly milliseconds?: number;
  /** Share of the calls that are hit, from 0 to 1. @default 1 */
  readonly share?: number;
  /** Hits one call in so many, instead of a share. */
  readonly every?: number;
}

/** The connection ends without an answer. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

/** Errors that the SDK knows as throttling. */
const THROTTLING: Record<Fault['service'], { code: string; status: number }> = {
  dynamodb: { code: 'ProvisionedThroughputExceededException', status: 400 },
  s3: { code: 'SlowDown', status: 503 },
  secretsmanager: { code: 'ThrottlingException', status: 400 },
  sns: { code: 'Throttling', status: 400 },
  sqs: { code: 'RequestThrottled', status: 403 },
};

/**
 * Faults to inject at the AWS endpoint, for tests. They hit the functions' roles and the event sources,
 * which call as them, and spare operators: so a test can look and mend while everything fails.
 */
export class Faults {
  /** Calls that each kind of fault has hit. */
  readonly counts: Record<Fault['kind'], number> = { down: 0, throttled: 0, slow: 0, 'response-lost': 0 };
  readonly #active = new Map<Fault, { calls: number }>();
  readonly #random: () => number;

  /** @param seed with which a run draws the same lots again */
  constructor(seed = 0) {
    this.#random = mulberry32(seed);
  }

  /** @returns what ends the fault */
  inject(fault: Fault): () => void {
    // A copy, so that the same fault can be injected twice.
    const own = { ...fault };
    this.#active.set(own, { calls: 0 });
    return () => this.#active.delete(own);
  }

  /** Ends all faults. */
  clear(): void {
    this.#active.clear();
  }

  /**
   * Carries out a request of a role, under the faults that hit it.
   * @throws ConnectionLostError where no answer may be sent
   */
  async disturb(
    request: AwsRequest,
    carryOut: (request: AwsRequest) => AwsResponse | Promise<AwsResponse>,
  ): Promise<AwsResponse> {
    const fault = this.#draw(request);
    switch (fault?.kind) {
      case undefined:
        return carryOut(request);
      case 'down':
        throw new ConnectionLostError();
      case 'throttled': {
        const { code, status } = THROTTLING[fault.service];
        throw new AwsError(code, 'Injected by the local stack', { status });
      }
      case 'slow':
        await sleep(fault.milliseconds ?? 0, undefined, { ref: false });
        return carryOut(request);
      case 'response-lost':
        await carryOut(request);
        throw new ConnectionLostError();
    }
  }

  #draw({ service, operation }: AwsRequest): Fault | undefined {
    for (const [fault, state] of this.#active) {
      if (fault.service !== service || (fault.operation ?? operation) !== operation) continue;
      state.calls += 1;
      const hit =
        fault.every === undefined ? this.#random() < (fault.share ?? 1) : state.calls % fault.every === 0;
      if (!hit) continue;
      this.counts[fault.kind] += 1;
      return fault;
    }
    return undefined;
  }
}

/** The generator mulberry32: small, and good enough to draw lots. @returns numbers from 0 up to 1 */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
