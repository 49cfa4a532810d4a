import * as z from 'zod/mini';
import { eventNames } from '../../../lambda/contract/catalogue.ts';
import { kebabCase } from '../../../lambda/contract/event-names.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import type { ActiveFault, FaultSettings, Faults } from '../api.ts';
import { knownOnly } from './delivery-query.ts';
import { badRequest, notFound, Problem } from './problem.ts';
import { parse } from './request-json.ts';
import { type ConsoleContext, json, noContent, type Route } from './route.ts';

/** Milliseconds that a service may be slow by: no function runs longer. Source: Lambda quotas, 900 s. */
const SLOWEST = 900_000;

const settingsSchema = z.strictObject({
  service: z.enum(['dynamodb', 'firehose', 's3', 'secretsmanager', 'sns', 'sqs']),
  kind: z.enum(['down', 'throttled', 'slow', 'response-lost', 'records-refused']),
  milliseconds: z.optional(z.int().check(z.gte(1), z.lte(SLOWEST))),
  share: z.optional(z.number().check(z.gt(0), z.lte(1))),
});

/** Ends what runs, as a crash of its machine would; or the next invocation. */
const killSchema = z.strictObject({ next: z.boolean() });

/** Switches of the local stack. */
export const faultRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/faults',
    handler: ({ query }, context) => {
      knownOnly(query, []);
      return json(faultsOf(localStack(context)));
    },
  },
  {
    method: 'POST',
    path: '/api/faults',
    handler: async (call, context) => {
      const { faults } = localStack(context);
      const { service, kind, milliseconds, share } = parse(settingsSchema, await call.json());
      const settings: FaultSettings = {
        service,
        kind,
        ...(milliseconds !== undefined && { milliseconds }),
        ...(share !== undefined && { share }),
      };
      try {
        faults.inject(settings);
      } catch (error) {
        if (error instanceof RangeError) throw badRequest(error.message);
        throw error;
      }
      return json(activeFaults(localStack(context)).at(-1), 201);
    },
  },
  {
    method: 'DELETE',
    path: '/api/faults',
    handler: (_call, context) => {
      localStack(context).faults.clear();
      return noContent;
    },
  },
  {
    method: 'DELETE',
    path: '/api/faults/:id',
    handler: ({ params: { id = '' } }, context) => {
      if (!localStack(context).faults.end(id)) throw notFound(`There is no fault ${id}: it may have ended`);
      return noContent;
    },
  },
  {
    method: 'POST',
    path: '/api/functions/:name/kill',
    handler: async (call, context) => {
      const { name = '' } = call.params;
      const stack = localStack(context);
      const killed = killable(stack).get(name);
      if (killed === undefined) {
        const names = [...killable(stack).keys()].join(', ');
        throw notFound(`There is no function '${name}'. One of: ${names}`);
      }
      const { next } = parse(killSchema, await call.json());
      // At its beginning, so that whatever it does it has not done.
      if (next) void killed.function.killDuringNext(0);
      else await killed.function.kill();
      return noContent;
    },
  },
];

/** @throws Problem where it is a stage, to which nobody does such things */
function localStack({ local }: Pick<ConsoleContext, 'local'>): LocalStack {
  if (local !== undefined) return local.stack;
  throw new Problem('local-only', 409, 'Of the local stack only', 'Faults are for the local stack alone');
}

function faultsOf(stack: LocalStack): Faults {
  return { active: activeFaults(stack), functions: [...killable(stack).keys()] };
}

function activeFaults({ faults }: LocalStack): ActiveFault[] {
  return faults.active.map(({ id, hits, service, kind, milliseconds, share }) => ({
    id,
    hits,
    service,
    kind,
    ...(milliseconds !== undefined && { milliseconds }),
    ...(share !== undefined && { share }),
  }));
}

/** Functions that deliveries come to, by the names that people know them by. */
function killable({ functions }: LocalStack) {
  const names = [['receiver', 'receiver'], ...eventNames.map((event) => [event, kebabCase(event)])] as const;
  return new Map(
    names.flatMap(([name = '', service = '']) => {
      const found = functions.get(service);
      return found === undefined ? [] : [[name, found] as const];
    }),
  );
}
