import type { IncomingMessage } from 'node:http';
import { readBody } from '../../../local/gateway/request-body.ts';
import { badRequest, Problem } from './problem.ts';

/** Bytes of a request: a body of API Gateway's 10 MB, of which each byte may be six as JSON (`\u0000`). */
const LIMIT = 60 * 1024 * 1024;

/** Reads the body of a request. @throws Problem where it is no JSON, or too large */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request, LIMIT);
  if (body === undefined) {
    throw new Problem('too-large', 413, 'Too large', `A request has at most ${LIMIT} bytes`);
  }
  try {
    return JSON.parse(body.toString());
  } catch {
    throw badRequest('The body is no JSON');
  }
}
