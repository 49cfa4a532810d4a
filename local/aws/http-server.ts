import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AwsResponse } from './response.ts';

/** DynamoDB's limit in bytes, and more than any other service takes in one request but S3. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Longer than clients keep an idle connection, so that none finds its connection closed under it. */
export const KEEP_ALIVE_MS = 120_000;

/** @returns undefined where the body is larger than any that is taken */
export async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

export function write(outgoing: ServerResponse, { status, headers, body }: AwsResponse): void {
  outgoing.statusCode = status;
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  if (!outgoing.hasHeader('x-amzn-RequestId')) outgoing.setHeader('x-amzn-RequestId', randomUUID());
  // The answer to HEAD has no body, but the length of the object that it would have had.
  if (!(outgoing.req.method === 'HEAD' && outgoing.hasHeader('content-length'))) {
    outgoing.setHeader('content-length', Buffer.byteLength(body));
  }
  outgoing.end(body);
}
