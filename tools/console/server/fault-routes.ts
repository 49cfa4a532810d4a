import { Hono } from 'hono';
import type { LocalStack } from 'local-aws';
import * as z from 'zod/mini';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { MAX_FUNCTION_SECONDS } from '../../../lambda/limits.ts';
import type { FaultsInfo } from '../api.ts';
import { ApiProblem, badRequest, notFound } from './api-problem.ts';
import { type ConsoleContext, type ConsoleEnv, readJson, readQuery } from './console-context.ts';

/** Maximum milliseconds of the fault `slow`. No function runs longer. */
const MAX_DELAY_MS = MAX_FUNCTION_SECONDS * 1000;

const settingsSchema = z.strictObject({
  service: z.enum(['dynamodb', 'firehose', 's3', 'secretsmanager', 'sns', 'sqs']),
  kind: z.enum(['down', 'throttled', 'slow', 'response-lost', 'response-stalled', 'records-refused']),
  milliseconds: z.exactOptional(z.int().check(z.gte(1), z.lte(MAX_DELAY_MS))),
  share: z.exactOptional(z.number().check(z.gt(0), z.lte(1))),
});

/** Request to kill a function: while it runs, as a crash of its machine would, or at its next invocation. */
const killSchema = z.strictObject({ next: z.boolean() });

export function faultRoutes({ local, watch }: Pick<ConsoleContext, 'local' | 'watch'>) {
  return new Hono<ConsoleEnv>()
    .get('/faults', (c) => {
      readQuery(c, {});
      return c.json(faultsOf(localStack()));
    })
    .post('/faults', async (c) => {
      const stack = localStack();
      const settings = await readJson(c, settingsSchema);
      try {
        stack.faults.inject(settings);
      } catch (error) {
        if (error instanceof RangeError) throw badRequest(error.message);
        throw error;
      }
      watch.sendFaults();
      return c.json(stack.faults.active.at(-1), 201);
    })
    .delete('/faults', (c) => {
      localStack().faults.clear();
      watch.sendFaults();
      return c.body(null, 204);
    })
    .delete('/faults/:id', (c) => {
      const id = c.req.param('id');
      if (!localStack().faults.end(id)) throw notFound(`There is no fault ${id}: it may have ended`);
      watch.sendFaults();
      return c.body(null, 204);
    })
    .post('/functions/:name/kill', async (c) => {
      const name = c.req.param('name');
      const functions = killable(localStack());
      const target = functions.get(name)?.function;
      if (target === undefined) {
        throw notFound(`There is no function '${name}'. One of: ${[...functions.keys()].join(', ')}`);
      }
      const { next } = await readJson(c, killSchema);
      // 0 ms: the invocation is killed at its start, before it has an effect.
      if (next) void target.killDuringNext(0);
      else await target.kill();
      return c.body(null, 204);
    });

  function localStack(): LocalStack {
    if (local !== undefined) return local.stack;
    throw new ApiProblem(
      'local-only',
      409,
      'Local stack only',
      'Faults are available on the local stack only',
    );
  }
}

export const faultsOf = (stack: LocalStack): FaultsInfo => ({
  active: stack.faults.active,
  functions: [...killable(stack).keys()],
});

function killable({ functions }: LocalStack) {
  const names = [['receiver', 'receiver'], ...eventNames.map((event) => [event, kebabCase(event)])] as const;
  return new Map(
    names.flatMap(([name = '', service = '']) => {
      const found = functions.get(service);
      return found === undefined ? [] : [[name, found] as const];
    }),
  );
}
