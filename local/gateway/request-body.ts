import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/**
 * Reads a request's body.
 * @returns undefined as soon as it is known to exceed `limitBytes`; the rest is read and dropped, so
 * that the client, still sending, gets to see the answer instead of a reset connection
 * @throws where the client breaks off
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = () => {
      chunks.length = 0;
      request.off('data', collect);
      request.resume();
      resolve(undefined);
    };
    const collect = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) return refuse();
      chunks.push(chunk);
    };
    request.on('error', reject);
    request.on('end', () => resolve(Buffer.concat(chunks)));
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) return refuse();
    request.on('data', collect);
  });
}
