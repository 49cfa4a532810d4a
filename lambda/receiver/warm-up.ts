import { once } from 'node:events';
import { Agent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';

/**
 * Maximum milliseconds that the warm-up adds to a start. It equals the timeout of a connection (`clientSettings`), and
 * leaves most of the 10 s that a start may take (Lambda developer guide, "Lambda execution environment lifecycle").
 */
export const WARM_UP_LIMIT = 1000;

/**
 * Does in parallel, while the function starts, what the first request would have to wait for. If a task fails, that
 * request does it itself. The module must await this: Lambda freezes a function when its module has loaded, even in the
 * middle of a handshake.
 */
export async function warmUp(...tasks: readonly ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
  const signal = AbortSignal.timeout(WARM_UP_LIMIT);
  await Promise.allSettled(tasks.map((task) => task(signal)));
}

/**
 * How long a prepared connection may wait for its first request, in milliseconds. After a start on demand, a request is
 * waiting. After a start ahead of time, the function is frozen for minutes, and a peer or a gateway silently drops the
 * idle connection.
 */
const MAX_IDLE = 10_000;

/**
 * Keeps connections alive, and can open the first one before the first request. It sends nothing, because AWS answers
 * anything but an API call with an error, and may close the connection. The time from start to first answer gets 11 to
 * 13 % shorter if AWS is 5 ms away (`npm run bench -- first-request`, four runs of 20 pairs on a quiet machine), and
 * about 3 % if it is 1 ms away.
 */
export class PreparedAgent extends Agent {
  #prepared:
    | { readonly socket: TLSSocket; readonly host: string; readonly port: number; readonly at: number }
    | undefined;

  constructor() {
    super({ keepAlive: true });
  }

  /**
   * Opens a connection to the host of a URL. Does nothing for `http:`, which does not use this agent.
   * @throws Error if that fails or is aborted
   */
  async prepare(url: string, signal: AbortSignal): Promise<void> {
    const { protocol, hostname: host, port: explicitPort } = new URL(url);
    if (protocol !== 'https:') return;
    const port = Number(explicitPort || 443);
    const socket = connect({ host, port, servername: host, ALPNProtocols: ['http/1.1'] });
    try {
      await once(socket, 'secureConnect', { signal });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    // A peer may reset an idle connection. A request then opens a new one.
    socket.on('error', () => {}).unref();
    this.#prepared = { socket, host, port, at: Date.now() };
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const { socket, host, port, at = 0 } = this.#prepared ?? {};
    this.#prepared = undefined;
    const isOpen = socket?.readyState === 'open' && Date.now() - at <= MAX_IDLE;
    if (isOpen && options.host === host && Number(options.port) === port) return socket.ref();
    socket?.destroy();
    return super.createConnection(options, callback);
  }
}
