import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Only this machine may debug: a debugger can run code. */
const HOST = '127.0.0.1';

/**
 * The port at which debuggers find a function. Each execution environment has an inspector with a port of its own, and this
 * one forwards to the newest. So it stays the same when an environment is replaced. An environment at a breakpoint can be
 * ended, too: Node.js would wait for its debugger to disconnect.
 */
export class InspectorPort {
  readonly #server: Server;
  /** By the port of their environment's inspector. */
  readonly #connections = new Map<Socket, number>();
  #target: number | undefined;

  /**
   * @param port 0 for any free one
   * @throws Error EADDRINUSE as Node.js gives it
   */
  static async open(port: number): Promise<InspectorPort> {
    const opened = new InspectorPort();
    await once(opened.#server.listen(port, HOST), 'listening');
    return opened;
  }

  private constructor() {
    this.#server = createServer((client) => this.#connect(client));
  }

  get address(): string {
    return `${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Forwards to an environment from now on. @param target port of its inspector */
  forwardTo(target: number): void {
    this.#target = target;
  }

  /** Disconnects the debuggers of an environment, which continues. */
  disconnect(target: number): void {
    if (this.#target === target) this.#target = undefined;
    for (const [connection, its] of this.#connections) if (its === target) connection.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server.close(), 'close');
    for (const connection of this.#connections.keys()) connection.destroy();
    await closed;
  }

  #connect(client: Socket): void {
    // A debugger that disconnects abruptly is no problem of the stack.
    client.on('error', () => {});
    if (this.#target === undefined) {
      client.destroy();
      return;
    }
    const environment = connect(this.#target, HOST).on('error', () => {});
    this.#connections.set(environment, this.#target);
    environment.once('close', () => {
      this.#connections.delete(environment);
      client.destroy();
    });
    client.once('close', () => environment.destroy());
    client.pipe(environment).pipe(client);
  }
}
