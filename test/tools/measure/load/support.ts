import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defaultWorkload } from '../../../../tools/measure/cost/workload.ts';
import type { LoadPlan } from '../../../../tools/measure/load/plan.ts';
import type { LoadReport } from '../../../../tools/measure/load/report.ts';
import { type Run, type RunOptions, runLoad } from '../../../../tools/measure/load/run.ts';
import { TEST_SECRET } from '../../../support/test-stack.ts';

/** A plan, but for what is given: 100 a second for a second. */
export const planned = (given: Partial<LoadPlan> = {}): LoadPlan => ({
  rate: 100,
  seconds: 1,
  ramp: false,
  mix: defaultWorkload.mix,
  shops: 10,
  connections: 1_000,
  run: '0a1b2c3d',
  ...given,
});

/** A receiver that answers as it is told. */
export class Receiver implements AsyncDisposable {
  /** Milliseconds since the first, of each request. */
  readonly arrivals: number[] = [];
  readonly #server: Server;

  /** @param answer told how many milliseconds ago the first came */
  static async open(answer: (response: ServerResponse, sinceFirst: number) => void): Promise<Receiver> {
    const receiver = new Receiver(answer);
    await once(receiver.#server.listen(0, '127.0.0.1'), 'listening');
    return receiver;
  }

  private constructor(answer: (response: ServerResponse, sinceFirst: number) => void) {
    let first: number | undefined;
    this.#server = createServer((request: IncomingMessage, response: ServerResponse) => {
      first ??= performance.now();
      const sinceFirst = performance.now() - first;
      this.arrivals.push(sinceFirst);
      request.resume().once('end', () => answer(response, sinceFirst));
    });
  }

  get url(): URL {
    const { port } = this.#server.address() as AddressInfo;
    return new URL(`http://127.0.0.1:${port}/api/v1/webhooks/partner`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export const answering = (status: number) =>
  Receiver.open((response) => {
    response.writeHead(status).end();
  });

/** Carries a plan out, and says nothing. */
export function ran(
  plan: LoadPlan,
  url: URL,
  signal = new AbortController().signal,
  given: Pick<RunOptions, 'maxUnderWay'> = {},
): Promise<Run> {
  const progress = { show: () => {}, end: () => {} };
  return runLoad({ plan, url, secret: TEST_SECRET, signal, progress, warn: () => {}, ...given });
}

/** Whether this machine kept the rate: where others use it, it may be too slow for a moment. */
export const keptRate = ({ sender }: LoadReport) =>
  !sender.doubts.some((doubt) => /cannot keep the rate|were sent more than/.test(doubt));
