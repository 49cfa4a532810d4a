import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Context } from 'hono';
import type { LocalStack } from 'local-aws';
import type * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import type { RunOperation } from '../../stage/operation.ts';
import type { Source } from '../source.ts';
import { ApiProblem } from './api-problem.ts';

/** Commands that the page may run. The commands are injected, because they import the console. */
export type PageCommands = Readonly<
  Record<'send' | 'dlq' | 'pause' | 'resume' | 'fault', (runOperation: RunOperation) => CommandUnknownOpts>
>;

/** Parts of the local stack that runs in the console's process. */
export interface LocalParts {
  readonly stack: LocalStack;
  /** Webhook secret that the stack verifies signatures with. */
  readonly secret: string;
}

export interface ConsoleContext {
  readonly source: Source;
  /** Whether changes are forbidden. The server rejects them before they reach a route. */
  readonly readOnly: boolean;
  /** Undefined if the console shows a deployed stage. */
  readonly local: LocalParts | undefined;
  readonly commands: PageCommands;
  /** Reports a bug of the console to the terminal. */
  readonly report: (error: unknown) => void;
  /** Aborted when the console closes. */
  readonly closing: AbortSignal;
}

/** A signal that is aborted when the client disconnects or the console closes. */
export const endOf = ({ req }: Context, { closing }: Pick<ConsoleContext, 'closing'>): AbortSignal =>
  AbortSignal.any([req.raw.signal, closing]);

const { localeError } = en();

/** @throws ApiProblem that names the first invalid field, but not its value */
export function parsed<Value>(schema: z.ZodMiniType<Value>, value: unknown): Value {
  const result = schema.safeParse(value, { error: localeError });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ApiProblem(400, `${issue?.path.join('.') || 'The request'}: ${issue?.message}`);
}
