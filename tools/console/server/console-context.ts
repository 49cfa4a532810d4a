import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { LocalStack } from 'local-aws';
import { readBody } from 'local-aws/gateway';
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { GATEWAY_BODY_MEGABYTES } from '../../../lambda/limits.ts';
import type { RunOperation } from '../../stage/operation.ts';
import type { Source } from '../source.ts';
import { ApiProblem, badRequest } from './api-problem.ts';
import type { PageUpdates } from './page-updates.ts';
import type { QueueLocks } from './queue-locks.ts';
import type { QueueWatch } from './queue-watch.ts';

/** Commands that the page may run. The commands are injected, because they import the console. */
export type PageCommands = Readonly<
  Record<'send' | 'dlq' | 'pause' | 'resume' | 'doctor', (runOperation: RunOperation) => CommandUnknownOpts>
>;

export interface ConsoleContext {
  readonly source: Source;
  /** Whether changes are forbidden. The server rejects them before they reach a route. */
  readonly readOnly: boolean;
  /** Undefined if the console shows a deployed stage. */
  readonly local: LocalParts | undefined;
  readonly queueLocks: QueueLocks;
  readonly commands: PageCommands;
  /** Sends notices, queues and faults to every open page. */
  readonly updates: PageUpdates;
  readonly watch: QueueWatch;
  /** Reports a bug of the console to the terminal. */
  readonly report: (error: unknown) => void;
  /** Aborted when the console closes. */
  readonly closing: AbortSignal;
}

/**
 * Maximum bytes of a request. It may contain the largest body that API Gateway accepts, and JSON may need six
 * bytes for one (`\u0000`).
 */
const MAX_BYTES = 6 * GATEWAY_BODY_MEGABYTES * 1024 * 1024;

/** Parts of the local stack that runs in the console's process. */
export interface LocalParts {
  readonly stack: LocalStack;
  /** Webhook secret that the stack verifies signatures with. */
  readonly secret: string;
}

/** Type of Hono's environment: the request and response objects of Node.js. */
export interface ConsoleEnv {
  Bindings: HttpBindings;
}

/** A signal that is aborted when the client disconnects or the console closes. */
export function endOf(
  { env }: Context<ConsoleEnv>,
  { closing }: Pick<ConsoleContext, 'closing'>,
): AbortSignal {
  const gone = new AbortController();
  if (env.outgoing.closed) gone.abort();
  env.outgoing.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, closing]);
}

/** Answer with bytes. Its headers make every browser save them and never display them. */
export const bytesAnswer = (c: Context<ConsoleEnv>, bytes: Uint8Array): Response =>
  c.body(new Uint8Array(bytes), 200, {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
  });

const messages = en();

/**
 * Parses the query string. An empty value counts as absent.
 * @throws ApiProblem that names the invalid parameter
 */
export function readQuery<Shape extends z.core.$ZodShape>(
  { req }: Pick<Context, 'req'>,
  shape: Shape,
): z.output<z.ZodMiniObject<Shape>> {
  const given = Object.entries(req.queries());
  const [repeated] = given.find(([, values]) => values.length > 1) ?? [];
  if (repeated !== undefined) throw badRequest(`${repeated} is given more than once`);
  const values = given.flatMap(([name, [value]]) => (value ? [[name, value] as const] : []));
  const unknown = values.find(([name]) => !Object.hasOwn(shape, name));
  if (unknown !== undefined) {
    const known = Object.keys(shape).join(', ');
    throw badRequest(`Unknown: ${JSON.stringify(unknown[0])}${known && `; known are ${known}`}`);
  }
  return parse(z.object(shape), Object.fromEntries(values));
}

/**
 * Parses a JSON body.
 * @throws ApiProblem that names the first invalid field, but not its value
 */
export async function readJson<Value>(
  { env }: Context<ConsoleEnv>,
  schema: z.ZodMiniType<Value>,
): Promise<Value> {
  const body = await readBody(env.incoming, MAX_BYTES);
  if (body === undefined) {
    throw new ApiProblem('too-large', 413, 'Too large', `A request has at most ${MAX_BYTES} bytes`);
  }
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    throw badRequest('The body is not JSON');
  }
  return parse(schema, value);
}

/** Schema of a whole number in a query string, with its default `value`. */
export const wholeNumber = (minimum: number, maximum: number, value: number) =>
  z._default(z.pipe(z.coerce.number(), z.int().check(z.gte(minimum), z.lte(maximum))), value);

function parse<Value>(schema: z.ZodMiniType<Value>, value: unknown): Value {
  const parsed = schema.safeParse(value, { error: messages.localeError });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw badRequest(`${issue?.path.join('.') || 'The body'}: ${issue?.message}`);
}
