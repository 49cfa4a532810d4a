import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A server as it looks from far away. */
export interface Distant extends AsyncDisposable {
  readonly port: number;
}

/**
 * Puts a distance before a server of this machine: whatever is sent takes its time, each way, and so does the opening of a
 * connection, which the system alone would do at once.
 * @param delay each way, in milliseconds
 */
export async function at(distance: { readonly delay: number; readonly port: number }): Promise<Distant> {
  const { delay, port } = distance;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true });
    // SYN there and SYN-ACK back, before the client can send anything.
    const opened = performance.now() + 2 * delay;
    late(near, far, delay, opened);
    late(far, near, delay, opened);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}

/** Hands on what one socket receives to the other, later. Timers of one length fire in their order. */
function late(from: Socket, to: Socket, delay: number, opened: number): void {
  const later = (hand: () => void) => setTimeout(hand, Math.max(0, opened - performance.now()) + delay);
  from.on('data', (bytes) => later(() => to.write(bytes)));
  from.on('close', () => later(() => to.destroy()));
}
