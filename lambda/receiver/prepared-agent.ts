import { once } from 'node:events';
import { Agent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';

/**
 * How long a connection may have waited for its first request, in milliseconds. A start on demand has a request waiting; of one
 * ahead of time the function is frozen for minutes, in which a peer or a gateway drops what is idle without a word.
 */
const USABLE = 10_000;

/**
 * Keeps connections alive, and can open the first one before there is a request for it. Nothing is sent for that: AWS answers
 * what is no call of its API with an error, and may close the connection with it.
 */
export class PreparedAgent extends Agent {
  #prepared:
    | { readonly socket: TLSSocket; readonly host: string; readonly port: number; readonly at: number }
    | undefined;

  constructor() {
    super({ keepAlive: true });
  }

  /**
   * Opens a connection to where a URL leads; none for `http:`, which this agent is not asked for.
   * @throws Error where that fails, or is aborted
   */
  async prepare(url: string, signal: AbortSignal): Promise<void> {
    const { protocol, hostname: host, port: stated } = new URL(url);
    if (protocol !== 'https:') return;
    const port = Number(stated || 443);
    const socket = connect({ host, port, servername: host, ALPNProtocols: ['http/1.1'] });
    try {
      await once(socket, 'secureConnect', { signal });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    // A peer may reset what is idle; a request then finds the connection closed.
    socket.on('error', () => {}).unref();
    this.#prepared = { socket, host, port, at: Date.now() };
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const { socket, host, port, at = 0 } = this.#prepared ?? {};
    this.#prepared = undefined;
    const isOpen = socket?.readyState === 'open' && Date.now() - at <= USABLE;
    if (isOpen && options.host === host && Number(options.port) === port) return socket.ref();
    socket?.destroy();
    return super.createConnection(options, callback);
  }
}
