import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Invocation {
  readonly id: string;
  readonly event: unknown;
  succeed(response: unknown): void;
  fail(reason: Error): void;
}

const PREFIX = '/2018-06-01/runtime';

/**
 * Lambda's Runtime API for one execution environment: gives it invocations one after the other, and receives their
 * results. Source: Lambda developer guide, "Using the Lambda runtime API for custom runtimes".
 */
export class RuntimeApi {
  readonly #functionArn: string;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: Error) => response.destroy(error));
  });
  /** The runtime's request, which waits for an invocation. */
  #idle: ServerResponse | undefined;
  #waiting: Invocation | undefined;
  #running: Invocation | undefined;

  constructor(functionArn: string) {
    this.#functionArn = functionArn;
  }

  /** @returns the server's address: `<host>:<port>` */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /**
   * Call it only if no other invocation is running.
   * @returns the handler's result
   * @throws Error if the handler failed
   */
  invoke(event: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting = { id: randomUUID(), event, succeed: resolve, fail: reject };
      this.#handOut();
    });
  }

  /** Fails the waiting or running invocation. */
  fail(reason: Error): void {
    (this.#running ?? this.#waiting)?.fail(reason);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = `${request.method} ${request.url?.replace(`${PREFIX}/`, '')}`;
    const body = await text(request);
    switch (call) {
      case 'GET invocation/next':
        this.#idle = response;
        this.#handOut();
        return;
      case `POST invocation/${this.#running?.id}/response`:
        this.#running?.succeed(JSON.parse(body));
        break;
      case `POST invocation/${this.#running?.id}/error`:
      case 'POST init/error':
        this.fail(new Error(body));
        break;
      default:
        this.fail(new Error(`The runtime called ${call}, which has no sense here`));
    }
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}');
  }

  /** Sends the invocation if there is one, and the runtime waits for it. */
  #handOut(): void {
    if (this.#idle === undefined || this.#waiting === undefined) return;
    const response = this.#idle;
    const { id, event } = this.#waiting;
    this.#running = this.#waiting;
    this.#idle = undefined;
    this.#waiting = undefined;
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': id,
        'lambda-runtime-deadline-ms': String(Date.now() + 30_000),
        'lambda-runtime-invoked-function-arn': this.#functionArn,
        'lambda-runtime-trace-id': 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0',
      })
      .end(JSON.stringify(event));
  }
}
