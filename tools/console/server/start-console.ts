import { randomBytes } from 'node:crypto';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { listen } from 'local-aws/gateway';
import { readSamples } from '../../../events/samples.ts';
import { catalogue, eventNames } from '../../../lambda/events/catalogue.ts';
import type { EventInfo, StackInfo } from '../api.ts';
import type { Source } from '../source.ts';
import { ApiProblem, notFound, problemOf, problemResponse } from './api-problem.ts';
import { Commands, commandRoutes } from './commands.ts';
import {
  type ConsoleContext,
  type ConsoleEnv,
  type LocalParts,
  type PageCommands,
  readQuery,
} from './console-context.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { faultRoutes, faultsOf } from './fault-routes.ts';
import { guard, type SecurityRules, securityHeaders } from './guard.ts';
import { pageRoutes } from './page-routes.ts';
import { PageUpdates } from './page-updates.ts';
import { QueueLocks } from './queue-locks.ts';
import { queueRoutes, queuesReader } from './queue-routes.ts';
import { QueueWatch } from './queue-watch.ts';
import { streamRoutes } from './stream-routes.ts';

/** Bytes of a token: too many to guess. */
const TOKEN_BYTES = 24;

const newToken = () => randomBytes(TOKEN_BYTES).toString('base64url');

/** Milliseconds that `close()` waits for open requests. */
const CLOSE_LIMIT = 2_000;

/**
 * Starts the console's server, for this computer only.
 * @throws Error EADDRINUSE if the port is in use
 */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { source, token = newToken(), readOnly, local, commands } = options;
  const closing = new AbortController();
  const updates = new PageUpdates();
  const report = (error: unknown) =>
    console.error('The console:', error instanceof Error ? error.stack : String(error));
  const watch = new QueueWatch({
    updates,
    store: source.store,
    readQueues: queuesReader(source.stage, local),
    readFaults: local && (() => faultsOf(local.stack)),
    onError: (error) => closing.signal.aborted || report(error),
  });
  const context: ConsoleContext = {
    source,
    readOnly,
    local,
    updates,
    watch,
    queueLocks: new QueueLocks(),
    commands,
    report,
    closing: closing.signal,
  };
  const runs = new Commands(source.stage, () => watch.change());
  const rules = { port: options.port, token, readOnly, local: local !== undefined };
  const app = consoleApp(context, runs, rules);
  const listener = getRequestListener(app.fetch, {
    // Hono must not replace global objects: functions of the local stack share this process and need those of Node.js.
    overrideGlobalObjects: false,
    errorHandler: () =>
      problemResponse(new ApiProblem('bad-request', 400, 'Bad request', 'The request is invalid')),
  });
  const { servers, port } = await listen({}, listener, options);
  rules.port = port;
  const origin = `http://localhost:${port}/`;
  return {
    url: local === undefined ? `${origin}?token=${token}` : origin,
    port,
    token,
    updates,
    close: async () => {
      await runs.close();
      closing.abort();
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      const timer = setTimeout(() => {
        for (const server of servers) server.closeAllConnections();
      }, CLOSE_LIMIT);
      await Promise.all(closed);
      clearTimeout(timer);
    },
  };
}

export interface ConsoleOptions {
  /** The deliveries to show. The caller must close this source after the console. */
  readonly source: Source;
  readonly port: number;
  /** Token of the page's cookie. @default a random one */
  readonly token?: string;
  readonly readOnly: boolean;
  /** The local stack in this process. Undefined for a stage. */
  readonly local: LocalParts | undefined;
  readonly commands: PageCommands;
}

export interface Console {
  /** Address for a browser. For a stage, it contains the token. */
  readonly url: string;
  readonly port: number;
  /** Value of the page's cookie. */
  readonly token: string;
  readonly updates: PageUpdates;
  /**
   * Interrupts commands and waits for them. Ends streams at once, and other requests when they are answered,
   * after 2 s at most.
   */
  close(): Promise<void>;
}

function consoleApp(console: ConsoleContext, runs: Commands, rules: SecurityRules) {
  const startedAt = new Date().toISOString();
  const app = new Hono<ConsoleEnv>();
  app.use(
    securityHeaders(),
    async (c, next) => {
      // Answers of the API must never be cached.
      c.header('cache-control', 'no-store');
      await next();
    },
    compress({ encoding: 'gzip' }),
    guard(rules),
    methodNotAllowed({
      app,
      onMethodNotAllowed: (_c, methods) => {
        const allowed = methods.join(', ');
        const problem = new ApiProblem(
          'method-not-allowed',
          405,
          'Method not allowed',
          `Allowed: ${allowed}`,
        );
        return problemResponse(problem, { allow: allowed });
      },
    }),
  );
  app.onError((error) => {
    const known = problemOf(error);
    if (known !== undefined) return problemResponse(known);
    if (!console.closing.aborted) console.report(error);
    const detail = 'The terminal that runs the console shows the error';
    return problemResponse(new ApiProblem('fault', 500, 'Error in the console', detail));
  });
  app.notFound(() =>
    problemResponse(notFound('There is no such path. The page is at /, its API is below /api')),
  );
  return app
    .get('/api/stack', (c) => {
      readQuery(c, {});
      return c.json(stackInfo(console, startedAt));
    })
    .route('/api/deliveries', deliveryRoutes(console))
    .route('/api/stream', streamRoutes(console))
    .route('/api/commands', commandRoutes(console, runs))
    .route('/api', queueRoutes(console))
    .route('/api', faultRoutes(console))
    .route('/', pageRoutes());
}

function stackInfo(
  { source: { stage, since }, readOnly, local }: ConsoleContext,
  startedAt: string,
): StackInfo {
  const samples = new Map(readSamples().map(({ event, payload }) => [event, payload]));
  const events: EventInfo[] = eventNames.map((name) => {
    const { meaning, processing } = catalogue[name];
    return { name, meaning, processing, sample: JSON.stringify(samples.get(name) ?? {}) };
  });
  return {
    title: stage.title,
    local: local !== undefined,
    readOnly,
    startedAt,
    ...(since && { since: since.toISOString() }),
    webhookUrl: stage.webhookUrl,
    commandSuffix: stage.commandSuffix,
    ...(local && { secret: local.secret }),
    events,
  };
}
