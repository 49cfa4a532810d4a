import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const SECOND = 1_000;

/**
 * Stands before an AWS endpoint and lets FilterLogEvents through as AWS does: some requests a second, the others are
 * throttled. Bytes pass as they are.
 */
export class QuotaGate {
  /** Requests that were let through, and that were not. */
  readonly counts = { passed: 0, throttled: 0 };
  /** Requests a second; 0 lets none through. */
  quota: number;
  readonly #server: Server;
  #passedAt: number[] = [];

  /** @param target such as `http://localhost:4566` */
  static async open(target: string, quota = Number.POSITIVE_INFINITY): Promise<QuotaGate> {
    const gate = new QuotaGate(target, quota);
    await once(gate.#server.listen(0, '127.0.0.1'), 'listening');
    return gate;
  }

  private constructor(target: string, quota: number) {
    this.quota = quota;
    this.#server = createServer(async (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      if (!this.#admits()) {
        outgoing.writeHead(400, { 'content-type': 'application/x-amz-json-1.1' });
        outgoing.end(JSON.stringify({ __type: 'ThrottlingException', message: 'Rate exceeded' }));
        return;
      }
      const { method, url = '/', headers } = incoming;
      const onward = request(new URL(url, target), { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      onward.end(Buffer.concat(chunks));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }

  #admits(): boolean {
    const now = performance.now();
    this.#passedAt = this.#passedAt.filter((at) => now - at < SECOND);
    const admits = this.#passedAt.length < this.quota;
    if (admits) this.#passedAt.push(now);
    this.counts[admits ? 'passed' : 'throttled'] += 1;
    return admits;
  }
}
