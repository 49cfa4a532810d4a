import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startAwsEndpoint } from '../../../local/aws/endpoint.ts';
import type { ConsoleUrl } from '../../../local/console-redirect.ts';
import type { InvocationResult } from '../../../local/functions/invocation.ts';
import { originOf } from '../../../local/gateway/admitted-host.ts';
import { httpApi } from '../../../local/gateway/http-api.ts';
import { restApi } from '../../../local/gateway/rest-api.ts';
import { type Api, type Gateway, startGateway } from '../../../local/gateway/server.ts';
import type { Exchange } from '../../../local/observation.ts';
import { signedFor } from '../aws/support.ts';

const PUBLIC = 'abc.trycloudflare.com';

test.each([
  ['localhost:3000', 'here'],
  ['LOCALHOST', 'here'],
  ['127.0.0.1:3000', 'here'],
  ['[::1]:3000', 'here'],
  ['host.docker.internal:3000', 'here'],
  ['abc.trycloudflare.com', 'public'],
  ['ABC.trycloudflare.com:443', 'public'],
  ['203.0.113.5:8080', 'public'],
  [undefined, 'foreign'],
  ['', 'foreign'],
  ['other.trycloudflare.com', 'foreign'],
  ['x.abc.trycloudflare.com', 'foreign'],
  ['abc.trycloudflare.com.', 'foreign'],
  ['localhost.evil.example', 'foreign'],
  ['127.0.0.1.nip.io', 'foreign'],
  ['192.168.1.7:3000', 'foreign'],
  ['0.0.0.0:3000', 'foreign'],
  ['[::2]:3000', 'foreign'],
  ['127.0.0.1@evil.example', 'foreign'],
])('a request to %j is from %s', (host, origin) => {
  expect(originOf({ ...(host !== undefined && { host }) }, [PUBLIC, '203.0.113.5'])).toBe(origin);
});

test.each([
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
  'via',
  'x-real-ip',
  'x-original-host',
  'true-client-ip',
  'cdn-loop',
  'cf-connecting-ip',
  'cf-ray',
  'tailscale-user-login',
  'tailscale-funnel-request',
])('a request with %s is not from here, whatever it calls this machine', (name) => {
  for (const host of ['localhost:3000', '127.0.0.1', '[::1]:3000', 'host.docker.internal']) {
    const headers = { host, [name]: '' };
    expect([originOf(headers, []), originOf(headers, [PUBLIC])]).toEqual(['foreign', 'public']);
  }
});

test.each(['x-webhook-signature', 'x-amzn-trace-id', 'x-forwarded', 'ngrok-skip-browser-warning', 'origin'])(
  'a request with %s is from here',
  (name) => {
    expect(originOf({ host: 'localhost', [name]: 'any' }, [])).toBe('here');
  },
);

test('a request through a proxy to another name is let in by that name alone', () => {
  const headers = { host: 'other.trycloudflare.com', 'x-forwarded-for': '192.0.2.1' };
  expect(originOf(headers, [PUBLIC])).toBe('foreign');
});

describe('through a tunnel', () => {
  const exchanges: Exchange[] = [];
  let gateway: Gateway;
  /** Of a stack that was started without `--public-host`. */
  let closedGateway: Gateway;
  let invocations = 0;
  let saidForeign = 0;
  beforeAll(async () => {
    const consoleUrl = () => 'http://localhost:3001/';
    const api = httpApi({
      apiId: 'localapi',
      accountId: '000000000000',
      region: 'eu-central-1',
      routes: [
        {
          routeKey: 'POST /hook',
          invoke: async () => {
            invocations += 1;
            return { ok: true, payload: 'of the function' };
          },
        },
      ],
    });
    gateway = await startGateway(api, {
      port: 0,
      publicHosts: [PUBLIC],
      consoleUrl,
      onExchange: (exchange) => exchanges.push(exchange),
      onForeign: () => {
        saidForeign += 1;
      },
    });
    closedGateway = await startGateway(api, { port: 0, consoleUrl });
  });
  afterAll(() => Promise.all([gateway.close(), closedGateway.close()]));

  interface Asked {
    readonly path?: string;
    readonly method?: string;
    readonly headers?: Record<string, string>;
  }

  /**
   * Asks a reverse proxy at the far end, which leads here as tunnels do.
   * @param host as the far end is asked for
   * @param hostHeader what the proxy makes of it. @default it stays, as cloudflared, ngrok and Funnel have it
   * @param to where it leads
   */
  async function ask(
    host: string,
    { path = '/hook', method = 'POST', headers = {} }: Asked = {},
    hostHeader?: string,
    to = gateway,
  ) {
    const proxy = createServer((incoming, outgoing) => {
      const forwarded = {
        ...incoming.headers,
        ...(hostHeader !== undefined && { host: hostHeader }),
        'x-forwarded-host': incoming.headers.host,
        'x-forwarded-proto': 'https',
      };
      const onward = request(
        {
          port: to.port,
          host: '127.0.0.1',
          method: incoming.method,
          path: incoming.url,
          headers: forwarded,
        },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(outgoing);
        },
      );
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = proxy.address() as AddressInfo;
      return await new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }>(
        (resolve, reject) => {
          request(
            { port, host: '127.0.0.1', method, path, headers: { ...headers, host }, agent: false },
            async (answer) => {
              const chunks: Buffer[] = [];
              for await (const chunk of answer) chunks.push(chunk);
              const body = Buffer.concat(chunks).toString();
              resolve({ status: answer.statusCode, headers: answer.headers, body });
            },
          )
            .on('error', reject)
            .end(method === 'POST' ? '{}' : undefined);
        },
      );
    } finally {
      proxy.close();
    }
  }

  test('of the name that the stack was started with, a delivery is answered', async () => {
    expect(await ask(PUBLIC)).toMatchObject({ status: 200, body: '"of the function"' });
  });

  test('of another name, nobody is, and is told what lets it in', async () => {
    const before = { invocations, exchanges: exchanges.length };
    expect(await ask('other.trycloudflare.com')).toMatchObject({
      status: 421,
      body: expect.stringMatching(
        /^The webhook answers to its own machine\..*npm start -- --public-host <name>\n$/,
      ),
    });
    expect({ invocations, exchanges: exchanges.length }).toEqual(before);
  });

  test('of other names, it is said here once, and not for each request', async () => {
    await ask('one.trycloudflare.com');
    await ask('two.trycloudflare.com');
    expect(saidForeign).toBe(1);
  });

  test('a browser is not told of the console, and finds nothing but the webhook', async () => {
    const page = { path: '/', method: 'GET', headers: { accept: 'text/html' } };
    const direct = await fetch(gateway.url, { headers: page.headers, redirect: 'manual' });
    expect(direct.status).toBe(302);
    for (const host of [PUBLIC, 'localhost:3000']) {
      const answer = await ask(host, page);
      expect(answer).toMatchObject({ status: 404, body: '{"message":"Not Found"}' });
      expect(answer.headers).not.toHaveProperty('location');
    }
  });

  test.each([
    ['the stranger', 'localhost:3000', undefined],
    ['the tunnel', 'other.trycloudflare.com', 'localhost:3000'],
  ])(
    'that is called localhost by %s, only a stack that lets strangers in answers',
    async (_, host, named) => {
      expect(await ask(host, {}, named)).toMatchObject({ status: 200 });
      expect(await ask(host, {}, named, closedGateway)).toMatchObject({ status: 421 });
    },
  );
});

describe('a browser at a port', () => {
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
      expect(await ask(await start(port, () => CONSOLE))).toEqual({
        status: 302,
        location: CONSOLE,
        body: '',
      });
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
});
