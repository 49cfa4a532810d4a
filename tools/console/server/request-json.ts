import type { IncomingMessage } from 'node:http';
import { en } from 'zod/locales';
import type * as z from 'zod/mini';
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

/** What is wrong, in words: the small build of the library has none of its own. */
const words = en();

/** Reads what came in a request. @throws Problem that names the first field that is wrong, and not its value */
export function parse<Value>(schema: z.ZodMiniType<Value>, value: unknown): Value {
  const parsed = schema.safeParse(value, { error: words.localeError });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw badRequest(`${issue?.path.join('.') || 'The body'}: ${issue?.message}`);
}
