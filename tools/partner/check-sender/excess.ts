import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsePayload } from '../../../lambda/events/envelope.ts';
import { type Finding, wrong } from './finding.ts';

/** How Node.js names what stands where a method should: the next request, as it takes it to be. */
const NO_METHOD = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_CONSTANT']);

/** Bytes that are kept: what Content-Length leaves out is one for each character beyond ASCII, or two. */
const MOST_BYTES = 1024 * 1024;

/** How long it is waited for what a body that is cut lacks, in milliseconds: a sender may write in two parts. */
const WAIT_MILLISECONDS = 100;

/** Bytes of a body's end by which its end is found in what was read. */
const OVERLAP_BYTES = 64;

/** What comes on a connection behind the end of a request, and is no other request. */
export class Excess {
  readonly #message: IncomingMessage;
  #packets = Buffer.alloc(0);
  /** Within the first packet: to there it was read without an error. */
  #parsed = 0;

  constructor(message: IncomingMessage) {
    this.#message = message;
  }

  /** @returns whether it is that: any other error is not of its concern */
  add(code: string, packet: Buffer | undefined, parsed = 0): boolean {
    if (!NO_METHOD.has(code) || packet === undefined || !this.#message.complete) return false;
    if (this.#packets.length === 0) this.#parsed = parsed;
    if (this.#packets.length + packet.length <= MOST_BYTES) {
      this.#packets = Buffer.concat([this.#packets, packet]);
    }
    return true;
  }

  /** Waits a moment where the body looks cut: one that is JSON is whole. */
  async settle(body: Buffer): Promise<void> {
    const parsed = parsePayload(body);
    if (parsed.kind !== 'unusable' || parsed.problems[0].field !== 'body') return;
    await sleep(WAIT_MILLISECONDS);
  }

  /** The bytes behind the body. Of a packet that begins before its end, only those. */
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
export function excessFinding(hasLength: boolean): Finding {
  return wrong({
    kind: 'content-length-small',
    what: hasLength
      ? 'Content-Length is smaller than what was sent: the service reads the body up to there, and no further.'
      : 'Bytes follow the end of the request: without Content-Length it has no body.',
    remedy: 'Let the HTTP client set Content-Length, or count bytes, not characters: é is two.',
  });
}
