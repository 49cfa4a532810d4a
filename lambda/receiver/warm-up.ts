import { once } from 'node:events';
import { Agent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';

/**
 * By how much the warm-up may lengthen a start, in milliseconds. It is the timeout of a connection (`clientSettings`),
 * and leaves most of the 10 s that a start may take (Lambda developer guide, "Lambda execution environment lifecycle").
 */
export const WARM_UP_LIMIT = 1000;

/**
 * Does side by side, while the function starts, what the first request would have to wait for. What fails is left to
 * that request, which does it as if it had never been tried.
 *
 * The module must await it: Lambda freezes a function once its module has loaded, in the middle of a handshake.
 */
export async function warmUp(...tasks: readonly ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
  const signal = AbortSignal.timeout(WARM_UP_LIMIT);
  await Promise.allSettled(tasks.map((task) => task(signal)));
}

/**
 * How long a prepared connection may wait for its first request, in milliseconds. If a start was on demand, a request is
 * waiting. If it was ahead of time, the function is frozen for minutes, in which a peer or a gateway silently drops what
 * is idle.
 */
const MAX_IDLE = 10_000;

/**
 * Keeps connections alive, and can open the first one before there is a request for it. It sends nothing: AWS answers
 * what is no call of its API with an error, and may close the connection with it.
 *
 * It takes 11 to 13 % off a start to the first answer with AWS 5 ms away each way, as in `npm run bench -- first-request`
 * (four runs of 20 pairs with and without it), and about 3 % with 1 ms.
 */
export class PreparedAgent extends Agent {
  #prepared:
    | { readonly socket: TLSSocket; readonly host: string; readonly port: number; readonly at: number }
    | undefined;

  constructor() {
    super({ keepAlive: true });
  }

  /**
   * Opens a connection to the host of a URL; none for `http:`, which this agent is not used for.
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
    // A peer may reset an idle connection; a request then finds it closed.
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
