import { en } from 'zod/locales';
import type * as z from 'zod/mini';
import { badRequest } from './problem.ts';

/** What is wrong, in words: the small build of the library has none of its own. */
const words = en();

/** Reads what came in a request. @throws Problem that names the first field that is wrong, and not its value */
export function parse<Value>(schema: z.ZodMiniType<Value>, value: unknown): Value {
  const parsed = schema.safeParse(value, { error: words.localeError });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw badRequest(`${issue?.path.join('.') || 'The body'}: ${issue?.message}`);
}
