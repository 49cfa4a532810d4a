import type { IncomingMessage } from 'node:http';

/** Bytes of bodies that are held at a time, of all requests together: a thousand large ones must not fill the memory. */
const MOST_BYTES_HELD = 256 * 1024 * 1024;

/** A body that is not held, and why. */
export type NotHeld = 'too large' | 'too many';

/** Reads bodies up to a limit; of the rest it counts the bytes, so that the sender gets to see an answer. */
export class BodyReader {
  readonly #limitBytes: number;
  readonly #mostHeld: number;
  #held = 0;

  constructor(limitBytes: number, mostHeld = MOST_BYTES_HELD) {
    this.#limitBytes = limitBytes;
    this.#mostHeld = mostHeld;
  }

  /**
   * @param onBytes told how many there have been
   * @throws where the sender breaks off
   */
  read(message: IncomingMessage, onBytes: (count: number) => void): Promise<Buffer | NotHeld> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let held = 0;
      let count = 0;
      let refusal: NotHeld | undefined;
      const release = () => {
        this.#held -= held;
        held = 0;
        chunks.length = 0;
      };
      message.on('data', (chunk: Buffer) => {
        count += chunk.length;
        onBytes(count);
        if (refusal !== undefined) return;
        if (count > this.#limitBytes) refusal = 'too large';
        else if (this.#held + chunk.length > this.#mostHeld) refusal = 'too many';
        if (refusal !== undefined) {
          release();
          resolve(refusal);
          return;
        }
        held += chunk.length;
        this.#held += chunk.length;
        chunks.push(chunk);
      });
      message.on('end', () => {
        const body = Buffer.concat(chunks);
        release();
        resolve(body);
      });
      message.on('error', reject);
      message.on('close', () => {
        release();
        reject(new Error('broken off'));
      });
    });
  }
}
