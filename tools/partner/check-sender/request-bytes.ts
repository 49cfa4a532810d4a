import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsePayload } from '../../../lambda/events/envelope.ts';
import { BODY_LIMIT_BYTES } from '../../../local/gateway/server.ts';
import { type Finding, wrong } from './finding.ts';

/** Maximum bytes of all bodies in memory together: a thousand large ones must not fill the memory. */
const MAX_BYTES_IN_MEMORY = 256 * 1024 * 1024;

/**
 * Reads bodies up to API Gateway's limit. Discards and counts further bytes, so that the sender still receives an
 * answer.
 */
export class BodyReader {
  #inMemory = 0;

  /**
   * @param onBytes called with the number of bytes so far, and the bytes that are kept
   * @returns why a body is not kept: it is too large, or there are too many at the same time
   * @throws if the sender disconnects
   */
  read(
    message: IncomingMessage,
    onBytes: (count: number, kept: readonly Buffer[]) => void,
  ): Promise<Buffer | 'too large' | 'too many'> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let count = 0;
      let kept = 0;
      let isRefused = false;
      const uncount = () => {
        this.#inMemory -= kept;
        kept = 0;
      };
      const release = () => {
        uncount();
        chunks.length = 0;
      };
      message.on('data', (chunk: Buffer) => {
        count += chunk.length;
        onBytes(count, chunks);
        if (isRefused) return;
        const isTooLarge = count > BODY_LIMIT_BYTES;
        isRefused = isTooLarge || this.#inMemory + chunk.length > MAX_BYTES_IN_MEMORY;
        if (isRefused) {
          release();
          resolve(isTooLarge ? 'too large' : 'too many');
          return;
        }
        kept += chunk.length;
        this.#inMemory += chunk.length;
        chunks.push(chunk);
      });
      message.on('end', () => {
        const body = Buffer.concat(chunks);
        release();
        resolve(body);
      });
      message.on('error', reject);
      message.on('close', () => {
        // The bytes that arrived explain why it broke off.
        uncount();
        reject(new Error('broken off'));
      });
    });
  }
}

/** The error that Node.js reports for bytes that are not a request. */
export type ParseError = NodeJS.ErrnoException & {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
};

/** Error codes of Node.js if the bytes where the next request should begin are not a method. */
const NO_METHOD = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_CONSTANT']);

/** Maximum bytes kept after a body. A wrong Content-Length omits one or two bytes for each character beyond ASCII. */
const MAX_TRAILING_BYTES = 1024 * 1024;

/** How long to wait for the rest of a truncated body, in milliseconds. A sender may write in two parts. */
const REST_WAIT_MILLISECONDS = 100;

/** Bytes at the end of a body that are used to find that end in the packet. */
const OVERLAP_BYTES = 64;

/** Whether a body is a JSON object, and so not truncated. */
export function isJson(body: Buffer): boolean {
  const parsed = parsePayload(body);
  return parsed.kind !== 'unusable' || parsed.problems[0].field !== 'body';
}

/** Bytes on a connection after the end of a request that are not another request. */
export class TrailingBytes {
  readonly #message: IncomingMessage;
  #packets = Buffer.alloc(0);
  /** Bytes of the first packet that were parsed without an error. */
  #parsed = 0;

  constructor(message: IncomingMessage) {
    this.#message = message;
  }

  /** @returns whether the error is about trailing bytes */
  add({ code = '', rawPacket, bytesParsed = 0 }: ParseError): boolean {
    if (!NO_METHOD.has(code) || rawPacket === undefined || !this.#message.complete) return false;
    if (this.#packets.length === 0) this.#parsed = bytesParsed;
    if (this.#packets.length + rawPacket.length <= MAX_TRAILING_BYTES) {
      this.#packets = Buffer.concat([this.#packets, rawPacket]);
    }
    return true;
  }

  /** Waits a moment if the body looks truncated. A body that is JSON is complete. */
  async settle(body: Buffer): Promise<void> {
    if (!isJson(body)) await sleep(REST_WAIT_MILLISECONDS);
  }

  /** The bytes after the body. If a packet begins before the body's end, only its rest. */
  behind(body: Buffer): Buffer {
    const packets = this.#packets;
    const end = body.length === 0 ? Buffer.from('\r\n\r\n') : body.subarray(-OVERLAP_BYTES);
    const at = packets.lastIndexOf(end, this.#parsed);
    if (at !== -1) return packets.subarray(at + end.length);
    for (let length = Math.min(this.#parsed, end.length); length > 0; length -= 1) {
      if (packets.subarray(0, length).equals(end.subarray(-length))) return packets.subarray(length);
    }
    return packets;
  }
}

/** @param hasLength whether there is a Content-Length */
export const trailingBytesFinding = (hasLength: boolean): Finding =>
  wrong({
    kind: 'content-length-small',
    what: hasLength
      ? 'Content-Length is smaller than the body. The service reads only this many bytes.'
      : 'Bytes follow the end of the request. Without Content-Length it has no body.',
    remedy: 'Let the HTTP client set Content-Length, or count bytes instead of characters: é has two.',
  });
