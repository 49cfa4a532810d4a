import { afterEach } from '@jest/globals';
import { type HttpRequest, type HttpResponse, pairs, splitTarget } from '../../gateway/http-message.ts';
import { type Api, type GatewayOptions, type RunningGateway, startGateway } from '../../gateway/server.ts';

export const MEBIBYTE = 1024 * 1024;

export const apiId = 'a1b2c3d4e5';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** Calls a function when the current test has ended. */
export const afterThis = (cleanUp: () => Promise<unknown>) => cleanUps.push(cleanUp);

/** Serves an API until the current test ends. */
export async function serve(api: Api, options: Partial<GatewayOptions> = {}): Promise<RunningGateway> {
  const gateway = await startGateway(api, { port: 0, ...options });
  afterThis(() => gateway.close());
  return gateway;
}

export const postTo = (
  url: string,
  body?: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
) => fetch(url, { method: 'POST', headers, ...(body !== undefined && { body }) });

/** A request in the form in which the gateway passes it to an API. */
export const received = (target: string, rawHeaders: readonly string[] = []): HttpRequest => ({
  method: 'POST',
  ...splitTarget(target),
  httpVersion: '1.1',
  headers: pairs(rawHeaders),
  sourceIp: '127.0.0.1',
  port: 3000,
  receivedAt: new Date('2020-03-02T19:03:58.390Z'),
});

export const withText = (response: HttpResponse | undefined) =>
  response && { ...response, body: response.body.toString() };
