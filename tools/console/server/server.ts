import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { splitTarget } from '../../../local/gateway/http-message.ts';
import { listen } from '../../../local/listen.ts';
import type { Source } from '../source.ts';
import { Acting } from './acting.ts';
import { answerApiDocs, isApiDocs } from './api-docs.ts';
import { News } from './news.ts';
import { Page, shell } from './page.ts';
import { Problem, type ProblemDetails, problemOf } from './problem.ts';
import { readJson } from './request-json.ts';
import { type Answer, type ConsoleContext, type LocalParts, matchPath, type Route } from './route.ts';
import { routes } from './routes.ts';
import { judge, SECURITY_HEADERS } from './security.ts';

/** How long `close()` waits for requests that are being answered, in milliseconds. */
const CLOSE_LIMIT = 2_000;

/** Bytes of an answer from which on it is worth compressing. */
const SMALLEST_COMPRESSED = 1_024;

const compress = promisify(gzip);

export interface ConsoleOptions {
  /** Closed by whoever made it. */
  readonly source: Source;
  /** 0 for any free one. */
  readonly port: number;
  /** What a page has to show to change something; of a stage, to read, too. */
  readonly token: string;
  readonly readOnly: boolean;
  /** The stack, where it runs in this process; undefined for a stage. */
  readonly local: LocalParts | undefined;
  /** Told of faults of the console itself. @default console.error */
  readonly onProblem?: ((message: string) => void) | undefined;
}

export interface Console {
  /** For people, to be opened: of a stage with its token. */
  readonly url: string;
  readonly port: number;
  readonly news: News;
  /** Interrupts tasks and waits for them; ends streams at once and other requests with their answer, or after 2 s. */
  close(): Promise<void>;
}

/** Serves the console on this machine alone. @throws where the port is taken (EADDRINUSE) */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { source, token, readOnly, local, onProblem = console.error } = options;
  const closing = new AbortController();
  const news = new News();
  const acting = new Acting(source, local?.stack, news);
  const context: ConsoleContext = { source, readOnly, local, news, acting, closing: closing.signal };
  const page = new Page();
  let port = options.port;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path, query } = splitTarget(request.url ?? '');
    const isHead = request.method === 'HEAD';
    const method = isHead ? 'GET' : (request.method ?? '');
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    try {
      const rules = { port, token, local: local !== undefined, readOnly };
      const refusal = judge({ method, path, headers: request.headers }, rules);
      if (refusal !== undefined) throw refusal;
      const isApi = path === '/api' || path.startsWith('/api/');
      const answer = isApi
        ? await answerRoute(request, response, { method, path, query })
        : await answerPage(request, method, path);
      if (answer !== undefined) await send(request, response, answer);
    } catch (error) {
      if (closing.signal.aborted || response.headersSent || response.destroyed) {
        response.destroy();
        return;
      }
      await send(request, response, asAnswer(detailsOf(error)));
    }
  }

  function detailsOf(error: unknown): ProblemDetails {
    const known = problemOf(error);
    if (known !== undefined) return known;
    onProblem(`The console: ${error instanceof Error ? error.stack : String(error)}`);
    return new Problem('fault', 500, 'Fault of the console', 'The terminal that runs it says more').details;
  }

  async function answerRoute(
    request: IncomingMessage,
    response: ServerResponse,
    { method, path, query }: { method: string; path: string; query: string },
  ): Promise<Answer | undefined> {
    const { route, params } = findRoute(method, path);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    return route.handler(
      {
        params,
        query: new URLSearchParams(query),
        json: () => readJson(request),
        signal: AbortSignal.any([gone.signal, closing.signal]),
        request,
        response,
      },
      context,
    );
  }

  async function answerPage(request: IncomingMessage, method: string, path: string): Promise<Answer> {
    if (method !== 'GET') throw methodNotAllowed('GET');
    if (path === '/') {
      const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
      return { headers, body: shell(local && token) };
    }
    if (isApiDocs(path)) return answerApiDocs(path, request.headers['if-none-match']);
    const asset = await page.asset(path);
    if (asset === undefined) throw new Problem('not-found', 404, 'Not found', 'The page is at /');
    const headers = { 'cache-control': 'no-cache', etag: asset.etag };
    if (request.headers['if-none-match'] === asset.etag) return { status: 304, headers, body: '' };
    const type = { 'content-type': asset.type, vary: 'accept-encoding' };
    return takesGzip(request)
      ? { headers: { ...headers, ...type, 'content-encoding': 'gzip' }, body: asset.gzipped }
      : { headers: { ...headers, ...type }, body: asset.body };
  }

  const { servers, port: actual } = await listen(
    {},
    (request, response) => void serve(request, response).catch(() => response.destroy()),
    options,
  );
  port = actual;
  const origin = `http://localhost:${port}/`;
  return {
    url: local === undefined ? `${origin}#token=${token}` : origin,
    port,
    news,
    close: async () => {
      await acting.tasks.close();
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

function findRoute(method: string, path: string): { route: Route; params: Record<string, string> } {
  const matching = routes.flatMap((route) => {
    const params = matchPath(route.path, path);
    return params === undefined ? [] : [{ route, params }];
  });
  const found = matching.find(({ route }) => route.method === method);
  if (found !== undefined) return found;
  if (matching.length === 0) throw new Problem('not-found', 404, 'Not found', 'The API has no such path');
  throw methodNotAllowed(...new Set(matching.map(({ route }) => route.method)));
}

function methodNotAllowed(...allowed: string[]): Problem {
  const detail = `Here is only: ${allowed.filter((method) => METHODS.includes(method)).join(', ')}`;
  return new Problem('method-not-allowed', 405, 'Method not allowed', detail);
}

const asAnswer = (details: ProblemDetails): Answer => ({
  status: details.status,
  headers: { 'content-type': 'application/problem+json' },
  body: JSON.stringify(details),
});

const takesGzip = (request: IncomingMessage) =>
  /(^|,)\s*gzip\s*(,|;(?!\s*q=0(\.0*)?\s*(,|$))|$)/i.test(String(request.headers['accept-encoding'] ?? ''));

/** Nothing of the API is kept by the browser. */
async function send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const { status = 200, headers = {} } = answer;
  const plain = Buffer.from(answer.body);
  const all: Record<string, string> = { 'cache-control': 'no-store', ...headers };
  const isCompressible =
    plain.length >= SMALLEST_COMPRESSED &&
    all['content-encoding'] === undefined &&
    /json|html/.test(all['content-type'] ?? '') &&
    takesGzip(request);
  const body = isCompressible ? await compress(plain) : plain;
  if (isCompressible) Object.assign(all, { 'content-encoding': 'gzip', vary: 'accept-encoding' });
  const isBodyless = status === 204 || status === 304;
  response.writeHead(status, { ...all, ...(!isBodyless && { 'content-length': body.length }) });
  response.end(body);
}
