import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { originOf } from '../admitted-host.ts';
import { KEEP_ALIVE_MS, listen, readBody } from '../http-server.ts';
import type { Exchange } from '../observation.ts';
import { type Api, BODY_LIMIT_BYTES, createThrottle } from './api.ts';
import { type Header, type HttpResponse, requestOf } from './http-message.ts';

/** Maximum time for a client to send a request. */
const REQUEST_LIMIT_MILLISECONDS = 60_000;

const CLOSE_LIMIT_MILLISECONDS = 5_000;

export interface GatewayOptions {
  port: number;
  /** Called after each response of the API, also for requests that no route matches. */
  onExchange?: (exchange: Exchange) => void;
  /**
   * Host names of tunnels to this port, in lower case and without ports. @default none: only this machine gets answers
   */
  publicHosts?: readonly string[];
  /** Called when a request for an unknown host was rejected, at most once a minute. @default none */
  onForeign?: (() => void) | undefined;
}

/** Limit of the calls of `onForeign`, per second: one a minute. */
const FOREIGN_REPORTS = { ThrottlingRateLimit: 1 / 60, ThrottlingBurstLimit: 1 };

const FOREIGN = Buffer.from(
  'This API only answers its own machine, and the host names that it was started with\n',
);

export type RunningGateway = Awaited<ReturnType<typeof startGateway>>;

/**
 * Serves an API as API Gateway does, for this machine and for requests through the given tunnels.
 * @throws Error EADDRINUSE if the port is in use
 */
export async function startGateway(api: Api, options: GatewayOptions) {
  const inFlight = new Set<Promise<unknown>>();
  let closing = false;
  const mayReportForeign = createThrottle(FOREIGN_REPORTS);

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const origin = originOf(message.headers, options.publicHosts ?? []);
    if (origin === 'foreign') {
      if (mayReportForeign()) options.onForeign?.();
      response.writeHead(421, { 'content-type': 'text/plain', connection: 'close' }).end(FOREIGN);
      return;
    }
    const start = performance.now();
    const request = requestOf(message, options.port);
    let body: Buffer | undefined;
    try {
      const answer = await api.answer(request, async () => {
        body = await readBody(message, BODY_LIMIT_BYTES);
        return body;
      });
      const responseHeaders = headersOf(answer.response);
      if (closing) responseHeaders.push(['connection', 'close']);
      response.writeHead(answer.response.status, responseHeaders.flat());
      response.end(answer.response.body);
      options.onExchange?.({
        ...request,
        body,
        requestId: answer.requestId,
        status: answer.response.status,
        responseHeaders,
        responseBody: answer.response.body,
        durationMilliseconds: performance.now() - start,
      });
    } catch {
      response.destroy();
    }
  }

  const { servers, port } = await listen(
    { requestTimeout: REQUEST_LIMIT_MILLISECONDS, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => {
      const answered = once(response, 'close').finally(() => inFlight.delete(answered));
      inFlight.add(answered);
      void serve(request, response);
    },
    options,
  );
  return {
    url: `http://localhost:${port}`,
    port,
    /** Closes idle connections at once, and the others after their response, 5 s at most. */
    async close(): Promise<void> {
      closing = true;
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      const limit = sleep(CLOSE_LIMIT_MILLISECONDS, undefined, { ref: false });
      await Promise.race([Promise.allSettled(inFlight), limit]);
      for (const server of servers) server.closeAllConnections();
      await Promise.all(closed);
    },
  };
}

function headersOf({ status, headers, body }: HttpResponse): Header[] {
  const bodyless = status === 204 || status === 304;
  const all = { ...headers, ...(!bodyless && { 'content-length': String(body.length) }) };
  return Object.entries(all).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value] as const),
  );
}
