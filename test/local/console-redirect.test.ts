import { afterEach, describe, expect, test } from '@jest/globals';
import { startAwsEndpoint } from '../../local/aws/endpoint.ts';
import type { ConsoleUrl } from '../../local/console-redirect.ts';
import type { InvocationResult } from '../../local/functions/invocation.ts';
import { httpApi } from '../../local/gateway/http-api.ts';
import { restApi } from '../../local/gateway/rest-api.ts';
import { type Api, startGateway } from '../../local/gateway/server.ts';
import type { Exchange } from '../../local/observation.ts';
import { signedFor } from './aws/support.ts';

interface Started {
  readonly url: string;
  close(): Promise<void>;
}

const running: Started[] = [];
const exchanges: Exchange[] = [];
afterEach(async () => {
  exchanges.length = 0;
  for (const one of running.splice(0)) await one.close();
});

const owner = { apiId: 'localapi', accountId: '000000000000', region: 'eu-central-1' } as const;
const invoke = async (): Promise<InvocationResult> => ({ ok: true, payload: 'of the function' });
const gateway = (api: Api) => (consoleUrl?: ConsoleUrl) =>
  startGateway(api, {
    port: 0,
    onExchange: (exchange) => exchanges.push(exchange),
    ...(consoleUrl && { consoleUrl }),
  });

const ports: Record<string, (consoleUrl?: ConsoleUrl) => Promise<Started>> = {
  'an HTTP API': gateway(httpApi({ ...owner, routes: [{ routeKey: 'GET /hook', invoke }] })),
  'a REST API': gateway(restApi({ ...owner, stage: 'api', methods: [], gatewayResponses: [] })),
  'the AWS endpoint': (consoleUrl) =>
    startAwsEndpoint({
      port: 0,
      region: owner.region,
      ...(consoleUrl && { consoleUrl }),
    }),
};

async function start(port: string, consoleUrl?: ConsoleUrl): Promise<string> {
  const started = await ports[port]?.(consoleUrl);
  if (started === undefined) throw new Error(`No port ${port}`);
  running.push(started);
  return started.url;
}

const CONSOLE = 'http://localhost:3001/';
/** As Chromium sends it. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

/** Asks without following, and tells what is the same each time. */
async function ask(url: string, init: RequestInit = { headers: BROWSER }) {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const body = (await response.text()).replace(/<RequestId>.*<\/RequestId>/, '');
  return { status: response.status, location: response.headers.get('location'), body };
}

describe.each(Object.keys(ports))('the port of %s', (port) => {
  test('leads a browser to the console', async () => {
    expect(await ask(await start(port, () => CONSOLE))).toEqual({ status: 302, location: CONSOLE, body: '' });
  });

  test.each<[string, string, RequestInit]>([
    ['does not want a page', '/', { headers: { accept: '*/*' } }],
    ['asks for another path', '/hook', { headers: BROWSER }],
    ['asks with a query', '/?Action=ListQueues', { headers: BROWSER }],
    ['posts', '/', { method: 'POST', headers: BROWSER, body: 'a=1' }],
    ['has signed for AWS', '/', { headers: { ...BROWSER, authorization: signedFor('s3') } }],
  ])('answers whoever %s as without a console', async (_, path, init) => {
    const [withConsole, without] = [await start(port, () => CONSOLE), await start(port)];
    const answer = await ask(`${withConsole}${path}`, init);
    expect(answer.location).toBeNull();
    expect(answer).toEqual(await ask(`${without}${path}`, init));
  });

  test('has no page for a browser while there is no console', async () => {
    let consoleUrl: string | undefined;
    const url = await start(port, () => consoleUrl);
    expect(await ask(url)).toEqual(await ask(await start(port)));
    consoleUrl = CONSOLE;
    expect(await ask(url)).toMatchObject({ location: CONSOLE });
  });
});

test.each(['an HTTP API', 'a REST API'])('%s has not answered whoever is led away', async (port) => {
  const url = await start(port, () => CONSOLE);
  await ask(url);
  expect(exchanges).toEqual([]);
  await ask(`${url}/hook`);
  expect(exchanges).toMatchObject([{ path: '/hook' }]);
});
