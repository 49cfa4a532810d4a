import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** What each service answers where all goes well, by the first part of `X-Amz-Target`. */
const ANSWERS: Readonly<Record<string, (request: { readonly Records?: readonly unknown[] }) => object>> = {
  DynamoDB_20120810: () => ({}),
  Firehose_20150804: ({ Records = [] }) => ({
    FailedPutCount: 0,
    RequestResponses: Records.map((_, index) => ({ RecordId: String(index) })),
  }),
};

/** DynamoDB and Firehose, no slower than told: what is measured is who calls them. */
export interface Effects extends AsyncDisposable {
  readonly url: string;
}

/** @param delay of DynamoDB's answers, in milliseconds */
export async function startEffects(delay: number): Promise<Effects> {
  const server = createServer(async (request, response) => {
    const [service = ''] = String(request.headers['x-amz-target']).split('.');
    const body = (await json(request)) as { readonly Records?: readonly unknown[] };
    const answer = ANSWERS[service]?.(body);
    if (delay > 0 && service.startsWith('DynamoDB')) await sleep(delay);
    response.writeHead(answer === undefined ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(answer ?? {}));
  });
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
