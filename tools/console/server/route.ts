import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LocalStack } from '../../../local/local-stack.ts';
import type { Source } from '../source.ts';
import type { Acting } from './acting.ts';
import type { News } from './news.ts';

/** The stack behind the console, where it runs in the same process. */
export interface LocalParts {
  readonly stack: LocalStack;
  /** By which deliveries are signed. */
  readonly secret: string;
}

/** What every route works with. */
export interface ConsoleContext {
  readonly source: Source;
  /** Nothing may be changed; the server refuses it before any route sees it. */
  readonly readOnly: boolean;
  /** Undefined for a deployed stage. */
  readonly local: LocalParts | undefined;
  /** Tells tasks and notices to every page that is open. */
  readonly news: News;
  /** What is remembered of queues and tasks. */
  readonly acting: Acting;
  /** Aborted when the console closes. */
  readonly closing: AbortSignal;
}

/** One request, as a route sees it. */
export interface Call {
  /** What stands for `:name` in the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Reads the body. @throws Problem where it is no JSON, or too large */
  json(): Promise<unknown>;
  /** Aborted when the client is gone or the console closes. */
  readonly signal: AbortSignal;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface Answer {
  /** @default 200 */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/**
 * One method of one path below `/api`. Its handler answers, or throws a Problem, or writes its response itself and
 * gives undefined.
 *
 * @example
 * { method: 'GET', path: '/api/queues/:name/messages', handler: async ({ params }, { source }) => json(…) }
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Its parts that begin with a colon stand for any one part. */
  readonly path: `/api/${string}`;
  readonly handler: (call: Call, context: ConsoleContext) => Answer | undefined | Promise<Answer | undefined>;
}

/** An answer of the API. @param status @default 200 */
export function json(value: unknown, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

/** Without content. */
export const noContent: Answer = { status: 204, body: '' };

/** The values of the colons in a route's path. @returns undefined where the path is another */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const expected = pattern.split('/');
  const parts = path.split('/');
  if (expected.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const given = parts[index] ?? '';
    if (!part.startsWith(':')) {
      if (part !== given) return undefined;
      continue;
    }
    const value = decode(given);
    if (value === undefined || value === '') return undefined;
    params[part.slice(1)] = value;
  }
  return params;
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
