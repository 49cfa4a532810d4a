import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { compress } from 'hono/compress';
import { listen } from 'local-aws/http-server';
import { readSamples } from '../../../events/samples.ts';
import { catalogue, eventNames } from '../../../lambda/events/catalogue.ts';
import { GATEWAY_BODY_MEGABYTES } from '../../../lambda/limits.ts';
import type { LocalFeed } from '../../stage/history/local-feed.ts';
import { Stage } from '../../stage/stage.ts';
import type { StackInfo } from '../api.ts';
import { Source } from '../source.ts';
import { ApiProblem, problemOf, problemResponse } from './api-problem.ts';
import { Commands, commandRoutes } from './commands.ts';
import type { ConsoleContext, LocalParts } from './console-context.ts';
import { dataRoutes } from './data-routes.ts';
import { guard, securityHeaders } from './guard.ts';
import { NeedsYou } from './needs-you.ts';
import { pageRoutes } from './page-routes.ts';
import { messagesOf } from './parse-command.ts';
import { QueueWatch, readQueues } from './queue-watch.ts';
import { PageUpdates, streamRoutes } from './stream-routes.ts';

/** Bytes of a token: too many to guess. */
const TOKEN_BYTES = 24;

/** Milliseconds that a closing console waits for open requests, and on a stage for queues that are being read. */
const CLOSE_LIMIT = 2_000;

/**
 * Maximum bytes of a request. It may contain the largest body that API Gateway accepts, and JSON may need six
 * bytes for one (`\u0000`).
 */
const MAX_BYTES = 6 * GATEWAY_BODY_MEGABYTES * 1024 * 1024;

export interface ConsoleOptions extends Omit<ConsoleContext, 'report' | 'closing'> {
  readonly port: number;
}

/**
 * A running console. Its disposal interrupts commands and waits for them. Streams end at once. Other requests have 2 s to
 * end, and on a stage the reading of queues.
 */
export interface Console extends AsyncDisposable {
  /** Address for a browser. For a stage, it contains the token. */
  readonly url: string;
  readonly port: number;
  /** Value of the page's cookie. */
  readonly token: string;
  readonly updates: PageUpdates;
}

/**
 * Starts the console's server, for this computer only.
 * @param options the console closes its source
 * @throws Error EADDRINUSE if the port is in use
 */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { source, readOnly, local } = options;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const closing = new AbortController();
  const updates = new PageUpdates();
  const report = (error: unknown) => {
    if (closing.signal.aborted) return;
    console.error('The console:', error instanceof Error ? error.stack : String(error));
  };
  const context: ConsoleContext = { ...options, report, closing: closing.signal };
  const watch = new QueueWatch({
    store: source.store,
    readQueues: () => readQueues(source.stage, local),
    onRead: (data) => updates.publish({ event: 'queues', data }),
    isLocal: local !== undefined,
    closing: closing.signal,
    onError: report,
  });
  const onChange = () => watch.read().catch(report);
  const runs: Commands = new Commands(context, { before: () => needsYou.idle(), onChange });
  const needsYou = new NeedsYou(context, (queue) => runs.isRunning(messagesOf(queue)));
  const rules = { port: options.port, token, readOnly, local: local !== undefined };

  const app = new Hono();
  app.use(
    securityHeaders(),
    async (c, next) => {
      // Answers of the API must never be cached.
      c.header('cache-control', 'no-store');
      await next();
    },
    compress({ encoding: 'gzip' }),
    guard(rules),
  );
  app.onError((error) => {
    const known = problemOf(error);
    if (known === undefined) report(error);
    return problemResponse(
      known ?? new ApiProblem(500, 'The terminal that runs the console shows the error'),
    );
  });
  app.notFound(() =>
    problemResponse(new ApiProblem(404, 'There is no such path. The page is at /, its API is below /api')),
  );
  const startedAt = new Date().toISOString();
  app
    .post('/api/commands', bodyLimit({ maxSize: MAX_BYTES, onError: tooLarge }))
    .get('/api/stack', (c) => c.json(stackInfo(context, startedAt)))
    .route('/api/stream', streamRoutes({ ...context, updates, watch }))
    .route('/api/commands', commandRoutes(runs))
    .route('/api', dataRoutes(context, watch, needsYou))
    .route('/', pageRoutes());

  const listener = getRequestListener(app.fetch, {
    // Hono must not replace global objects: functions of the local stack share this process and need those of Node.js.
    overrideGlobalObjects: false,
    errorHandler: () => problemResponse(new ApiProblem(400, 'The request is invalid')),
  });
  const { servers, port } = await listen({}, listener, options);
  rules.port = port;
  const origin = `http://localhost:${port}/`;
  return {
    url: local === undefined ? `${origin}?token=${token}` : origin,
    port,
    token,
    updates,
    async [Symbol.asyncDispose]() {
      await runs.close();
      closing.abort();
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      const limit = sleep(CLOSE_LIMIT, undefined, { ref: false });
      await Promise.race([Promise.all(closed), limit]);
      for (const server of servers) server.closeAllConnections();
      const idle = Promise.all([watch.idle(), needsYou.idle()]);
      // AWS may be out of reach. The local endpoint is not: it answers or refuses at once.
      await (source.stage.local ? idle : Promise.race([idle, limit]));
      await source.close();
    },
  };
}

/**
 * Starts the console of a local stack in the stack's own process.
 * @param feed must have observed the stack from its start
 */
export async function startLocalConsole(
  feed: LocalFeed,
  { stack, secret, ...options }: LocalParts & Pick<ConsoleOptions, 'port' | 'commands'>,
): Promise<Console> {
  const source = new Source(new Stage('the local stack', stack.outputs), feed.store);
  const console = await startConsole({ source, readOnly: false, local: { stack, secret }, ...options });
  source.follow((notice) => console.updates.notice(notice));
  return console;
}

function tooLarge(): never {
  throw new ApiProblem(413, `A request has at most ${MAX_BYTES} bytes`);
}

function stackInfo({ source, readOnly, local }: ConsoleContext, startedAt: string): StackInfo {
  const { stage, since } = source;
  return {
    title: stage.title,
    local: local !== undefined,
    readOnly,
    startedAt,
    ...(since && { since: since.toISOString() }),
    webhookUrl: stage.webhookUrl,
    commandSuffix: stage.commandSuffix,
    ...(local && { secret: local.secret }),
    events: eventNames.map((name) => ({ name, meaning: catalogue[name].meaning })),
    sample: JSON.stringify(readSamples()[0]?.payload),
  };
}
