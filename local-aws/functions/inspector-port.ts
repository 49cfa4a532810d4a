import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Address of the port. Only this machine may connect, because a debugger can run any code. */
const HOST = '127.0.0.1';

/**
 * A port for debuggers of a function. Each execution environment has an inspector with a port of its own, and
 * connections are forwarded to the newest one. So the port stays the same when an environment is replaced.
 * The connections can also be closed to end an environment at a breakpoint, which would otherwise wait for
 * the debugger to disconnect.
 */
export class InspectorPort {
  readonly #server: Server;
  /** Open connections of debuggers, with the port of the environment's inspector. */
  readonly #connections = new Map<Socket, number>();
  #target: number | undefined;

  /**
   * @param port 0 for any free port
   * @throws Error EADDRINUSE of Node.js
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

  /**
   * Forwards new connections to another environment.
   * @param target port of that environment's inspector
   */
  forwardTo(target: number): void {
    this.#target = target;
  }

  /** Closes the connections of debuggers to an environment, which then continues. */
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
    // Ignored: a debugger may disconnect abruptly.
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
