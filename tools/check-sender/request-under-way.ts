import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { BODY_LIMIT_BYTES, type HttpResponse, requestOf } from 'local-aws/gateway';
import { parsePayload } from '../../lambda/events/envelope.ts';
import type { AnswerStep } from './answer-steps.ts';
import type { AttemptEnding } from './sent-deliveries.ts';
import type { SentRequest } from './signed-messages.ts';

/** Error codes of Node.js for bytes that are not the beginning of a request. */
const NO_METHOD = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_CONSTANT']);
/**
 * Maximum bytes to keep after a body. With a wrong Content-Length, one or two bytes are missing for each
 * character beyond ASCII.
 */
const MAX_REST_BYTES = 1024 * 1024;
/** Milliseconds to wait for the rest of a body that looks truncated: a sender may write it in two parts. */
const REST_WAIT_MILLISECONDS = 100;
/** Number of last bytes of a body by which its end is found in a packet. */
const OVERLAP_BYTES = 64;

/** A request that is being read or answered, and bytes after it that are not another request. */
export class RequestUnderWay {
  readonly number: number;
  readonly start = performance.now();
  /** Number of bytes of the body that have arrived. */
  bytes = 0;
  isRead = false;
  isReported = false;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly #chunks: Buffer[] = [];
  #packets = Buffer.alloc(0);
  /** Number of bytes of the first invalid packet that were valid. */
  #parsed = 0;

  constructor(number: number, message: IncomingMessage, response: ServerResponse) {
    this.number = number;
    this.message = message;
    this.response = response;
  }

  /**
   * Reads the body up to API Gateway's limit. Further bytes are counted and dropped, so that the sender still
   * gets an answer.
   * @throws Error if the sender disconnects
   */
  async read(): Promise<SentRequest> {
    const request = requestOf(this.message, 0);
    await new Promise<void>((resolve, reject) => {
      this.message.on('data', (chunk: Buffer) => {
        this.bytes += chunk.length;
        if (this.isTooLarge) {
          this.#chunks.length = 0;
          resolve();
        } else this.#chunks.push(chunk);
      });
      this.message.on('end', resolve);
      this.message.on('error', reject);
      this.message.on('close', () => reject(new Error('broken off')));
    });
    this.isRead = true;
    return { ...request, isTooLarge: this.isTooLarge, body: Buffer.concat(this.#chunks) };
  }

  get isTooLarge(): boolean {
    return this.bytes > BODY_LIMIT_BYTES;
  }

  /** Whether the body so far is a JSON object, and therefore not truncated. */
  get isWhole(): boolean {
    const parsed = parsePayload(Buffer.concat(this.#chunks));
    return parsed.kind !== 'unusable' || parsed.problems[0].field !== 'body';
  }

  /**
   * Stores bytes that Node.js could not parse.
   * @returns whether they came after this request
   */
  addRest({ code = '', rawPacket, bytesParsed = 0 }: ParseError): boolean {
    if (!NO_METHOD.has(code) || rawPacket === undefined || !this.message.complete) return false;
    if (this.#packets.length === 0) this.#parsed = bytesParsed;
    if (this.#packets.length + rawPacket.length <= MAX_REST_BYTES) {
      this.#packets = Buffer.concat([this.#packets, rawPacket]);
    }
    return true;
  }

  /** If the body looks truncated, waits a moment for its rest. */
  async waitForRest(): Promise<void> {
    if (!this.isWhole) await sleep(REST_WAIT_MILLISECONDS);
  }

  /** The bytes after the body. If they came in a packet with the body's end, the body's part is removed. */
  restBehind(body: Buffer): Buffer {
    const packets = this.#packets;
    const end = body.length === 0 ? Buffer.from('\r\n\r\n') : body.subarray(-OVERLAP_BYTES);
    const at = packets.lastIndexOf(end, this.#parsed);
    if (at !== -1) return packets.subarray(at + end.length);
    for (let length = Math.min(this.#parsed, end.length); length > 0; length -= 1) {
      if (packets.subarray(0, length).equals(end.subarray(-length))) return packets.subarray(length);
    }
    return packets;
  }

  /** @returns when the answer is sent, or the client has disconnected */
  async answer({ status, headers, body }: HttpResponse, { cut }: AnswerStep): Promise<AttemptEnding> {
    const { response } = this;
    const { socket } = this.message;
    if (response.destroyed || socket.destroyed) return 'gave up';
    const closed = once(response, 'close');
    if (cut === 'before') socket.destroy();
    else response.writeHead(status, { ...headers, 'content-length': body.length });
    if (cut === 'within')
      response.write(body.subarray(0, Math.ceil(body.length / 2)), () => socket.destroy());
    if (cut === undefined) response.end(body);
    await closed;
    if (cut !== undefined) return 'cut';
    return response.writableFinished ? status : 'gave up';
  }
}

/** Error of Node.js for bytes that are not a request. */
export type ParseError = NodeJS.ErrnoException & {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
};
