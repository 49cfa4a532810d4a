import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { parentPort } from 'node:worker_threads';

/** A call of DynamoDB for this thread, and its answer. */
export interface DynaliteCall {
  readonly id: number;
  readonly operation: string;
  /** JSON. */
  readonly body: string;
}
export interface DynaliteAnswer {
  readonly id: number;
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

// dynalite keeps a buffer for each item. A buffer from a pool would keep the whole pool in memory.
Buffer.poolSize = 0;
const dynalite: (options: object) => Server = createRequire(import.meta.url)('dynalite');
const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });

/** dynalite requires a signature, but does not check it. */
const HEADERS = {
  'content-type': 'application/x-amz-json-1.0',
  'x-amz-date': '20260101T000000Z',
  authorization: 'AWS4-HMAC-SHA256 Credential=any, SignedHeaders=any, Signature=any',
};

// The server does not listen: it would answer web pages of any origin.
parentPort?.on('message', ({ id, operation, body }: DynaliteCall) => {
  const headers = { ...HEADERS, 'x-amz-target': `DynamoDB_20120810.${operation}` };
  const request = Object.assign(Readable.from([Buffer.from(body)]), { method: 'POST', url: '/', headers });
  const response = {
    statusCode: 200,
    setHeader() {},
    end(text: string) {
      parentPort?.postMessage({ id, status: response.statusCode, body: text } satisfies DynaliteAnswer);
    },
  };
  server.emit('request', request, response);
});
