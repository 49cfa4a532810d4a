import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { en } from 'zod/locales';
import * as z from 'zod/mini';
import { GATEWAY_BODY_MEGABYTES } from '../../../lambda/limits.ts';
import { readBody } from '../../../local/aws/http-server.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import type { RunOperation } from '../../stage/operation.ts';
import type { Notice, Task } from '../api.ts';
import type { Source } from '../source.ts';
import { badRequest, Problem } from './problem.ts';
import type { QueueLocks } from './queue-locks.ts';

/** The stack behind the console, if it runs in the same process. */
export interface LocalParts {
  readonly stack: LocalStack;
  /** Signs deliveries. */
  readonly secret: string;
}

/** Commands that the page may run. The caller gives them, because commands import the console. */
export type PageCommands = Readonly<
  Record<'send' | 'dlq' | 'pause' | 'resume' | 'replay', (runOperation: RunOperation) => CommandUnknownOpts>
>;

/** Maximum number of finished tasks stored. One action of the page may start 100. */
export const MAX_TASKS = 150;

/** Maximum bytes of a request: a body that API Gateway accepts. Each byte may become six in JSON (`\u0000`). */
const MAX_BYTES = 6 * GATEWAY_BODY_MEGABYTES * 1024 * 1024;

export interface ConsoleContext {
  readonly source: Source;
  /** Nothing may be changed. The server rejects changes before they reach a route. */
  readonly readOnly: boolean;
  /** Undefined for a deployed stage. */
  readonly local: LocalParts | undefined;
  readonly queueLocks: QueueLocks;
  readonly commands: PageCommands;
  /** Sends tasks and notices to every open page. */
  readonly news: News;
  /** Reports a bug of the console itself. */
  readonly report: (error: unknown) => void;
  /** Aborted when the console closes. */
  readonly closing: AbortSignal;
}

/** Hono's environment: the request and response of Node.js. */
export interface ConsoleEnv {
  Bindings: HttpBindings;
}

/** Aborted when the client disconnects or the console closes. */
export function endOf(
  { env }: Context<ConsoleEnv>,
  { closing }: Pick<ConsoleContext, 'closing'>,
): AbortSignal {
  const gone = new AbortController();
  if (env.outgoing.closed) gone.abort();
  env.outgoing.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, closing]);
}

/** The small build of the library contains no messages. */
const messages = en();

/** Parses the query. An empty value counts as absent. @throws Problem that names the error */
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

/** Parses a JSON body. @throws Problem that names the first invalid field, but not its value */
export async function readJson<Value>(
  { env }: Context<ConsoleEnv>,
  schema: z.ZodMiniType<Value>,
): Promise<Value> {
  const body = await readBody(env.incoming, MAX_BYTES);
  if (body === undefined) {
    throw new Problem('too-large', 413, 'Too large', `A request has at most ${MAX_BYTES} bytes`);
  }
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    throw badRequest('The body is not JSON');
  }
  return parse(schema, value);
}

function parse<Value>(schema: z.ZodMiniType<Value>, value: unknown): Value {
  const parsed = schema.safeParse(value, { error: messages.localeError });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw badRequest(`${issue?.path.join('.') || 'The body'}: ${issue?.message}`);
}

type NewsItem =
  | { readonly event: 'task'; readonly data: Task }
  | { readonly event: 'notice'; readonly data: Notice };

/** Tasks and notices, which every open page gets besides deliveries. */
export class News {
  /** By subject: a newer notice replaces an older one. */
  readonly #notices = new Map<string, NewsItem>();
  readonly #tasks = new Map<string, NewsItem>();
  readonly #listeners = new Set<(subject: string, item: NewsItem) => void>();

  task(data: Task): void {
    this.#tell(this.#tasks, data.id, { event: 'task', data });
    for (const [id, item] of this.#tasks) {
      if (this.#tasks.size <= MAX_TASKS) break;
      if (item.event === 'task' && item.data.state !== 'running') this.#tasks.delete(id);
    }
  }

  notice(data: Notice): void {
    this.#tell(this.#notices, data.about, { event: 'notice', data });
  }

  /** The newest item of each subject, for a page that opens. */
  current(): Map<string, NewsItem> {
    return new Map([...this.#notices, ...this.#tasks]);
  }

  /** @returns a function that unsubscribes */
  subscribe(listener: (subject: string, item: NewsItem) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(known: Map<string, NewsItem>, subject: string, item: NewsItem): void {
    known.set(subject, item);
    for (const listener of this.#listeners) listener(subject, item);
  }
}
