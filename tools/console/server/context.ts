import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { en } from 'zod/locales';
import type * as z from 'zod/mini';
import type { LocalStack } from '../../../local/local-stack.ts';
import type { Source } from '../source.ts';
import type { News } from './news.ts';
import { badRequest } from './problem.ts';
import type { Inspect } from './queue-messages.ts';
import type { QueueUse } from './queue-use.ts';

/** The stack behind the console, if it runs in the same process. */
export interface LocalParts {
  readonly stack: LocalStack;
  /** Signs deliveries. */
  readonly secret: string;
}

/** What every route works with. */
export interface ConsoleContext {
  readonly source: Source;
  readonly readOnly: boolean;
  /** Undefined for a deployed stage. */
  readonly local: LocalParts | undefined;
  readonly news: News;
  readonly use: QueueUse;
  /** Undefined if a look receives what it sees. */
  readonly inspect: Inspect | undefined;
  readonly closing: AbortSignal;
}

export interface ConsoleEnv {
  Bindings: HttpBindings;
}

const messages = en();

/** Reads a JSON body. @throws Problem that names the first field that is wrong, and not its value */
export async function readJson<Value>(
  { req }: Pick<Context, 'req'>,
  schema: z.ZodMiniType<Value>,
): Promise<Value> {
  let value: unknown;
  try {
    value = JSON.parse(await req.text());
  } catch {
    throw badRequest('The body is not JSON');
  }
  const parsed = schema.safeParse(value, { error: messages.localeError });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw badRequest(`${issue?.path.join('.') || 'The body'}: ${issue?.message}`);
}
