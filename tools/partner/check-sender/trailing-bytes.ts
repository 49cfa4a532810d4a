import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsePayload } from '../../../lambda/events/envelope.ts';

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
