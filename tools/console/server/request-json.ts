import type { IncomingMessage } from 'node:http';
import { badRequest, Problem } from './problem.ts';

/** Bytes of a request: a body of API Gateway's 10 MB, of which each byte may be six as JSON (`\u0000`). */
const LIMIT = 60 * 1024 * 1024;

/** Reads the body of a request. @throws Problem where it is no JSON, or too large */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LIMIT)
      throw new Problem('too-large', 413, 'Too large', `A request has at most ${LIMIT} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw badRequest('The body is no JSON');
  }
}
