import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { parentPort } from 'node:worker_threads';

// dynalite keeps a buffer for each item. A buffer from a pool would keep the whole pool in memory.
Buffer.poolSize = 0;
const server = createRequire(import.meta.url)('dynalite')({
  createTableMs: 0,
  deleteTableMs: 0,
  updateTableMs: 0,
});

/** dynalite requires a signature, but does not check it. */
const HEADERS = {
  'content-type': 'application/x-amz-json-1.0',
  'x-amz-date': '20260101T000000Z',
  authorization: 'AWS4-HMAC-SHA256 Credential=any, SignedHeaders=any, Signature=any',
};

// The server does not listen: it would answer web pages of any origin.
parentPort?.on('message', ({ id, operation, body }) => {
  const headers = { ...HEADERS, 'x-amz-target': `DynamoDB_20120810.${operation}` };
  const request = Object.assign(Readable.from([Buffer.from(body)]), { method: 'POST', url: '/', headers });
  const response = {
    statusCode: 200,
    setHeader() {},
    end(text) {
      parentPort?.postMessage({ id, status: response.statusCode, body: text });
    },
  };
  server.emit('request', request, response);
});
