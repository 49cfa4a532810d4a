import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startAwsEndpoint } from '../../../local/aws/endpoint.ts';
import type { ConsoleUrl } from '../../../local/console-redirect.ts';
import type { InvocationResult } from '../../../local/functions/invocation.ts';
import { originOf } from '../../../local/gateway/admitted-host.ts';
import { httpApi } from '../../../local/gateway/http-api.ts';
import { restApi } from '../../../local/gateway/rest-api.ts';
import { type Api, type RunningGateway, startGateway } from '../../../local/gateway/server.ts';
import type { Exchange } from '../../../local/observation.ts';
import { signedFor } from '../aws/support.ts';

const PUBLIC = 'abc.trycloudflare.com';
const CONSOLE = 'http://localhost:3001/';

test.each([
  { host: 'localhost:3000', origin: 'here' },
  { host: 'LOCALHOST', origin: 'here' },
  { host: '127.0.0.1:3000', origin: 'here' },
  { host: '[::1]:3000', origin: 'here' },
  { host: 'host.docker.internal:3000', origin: 'here' },
  { host: 'ABC.trycloudflare.com:443', origin: 'public' },
  { host: '203.0.113.5:8080', origin: 'public' },
  { host: '', origin: 'foreign' },
  { host: 'other.trycloudflare.com', origin: 'foreign' },
  { host: 'x.abc.trycloudflare.com', origin: 'foreign' },
  { host: 'abc.trycloudflare.com.', origin: 'foreign' },
  { host: 'localhost.evil.example', origin: 'foreign' },
  { host: '127.0.0.1.nip.io', origin: 'foreign' },
  { host: '192.168.1.7:3000', origin: 'foreign' },
  { host: '0.0.0.0:3000', origin: 'foreign' },
  { host: '[::2]:3000', origin: 'foreign' },
  { host: '127.0.0.1@evil.example', origin: 'foreign' },
])('a request to $host is $origin', ({ host, origin }) => {
  expect(originOf({ host }, [PUBLIC, '203.0.113.5'])).toBe(origin);
});

test('a request without a host is foreign', () => {
  expect(originOf({}, [PUBLIC])).toBe('foreign');
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
])('a request with %s is foreign, whatever host name it uses', (name) => {
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

test('a request through a proxy to another name is accepted for that name only', () => {
  const headers = { host: 'other.trycloudflare.com', 'x-forwarded-for': '192.0.2.1' };
  expect(originOf(headers, [PUBLIC])).toBe('foreign');
});

describe('through a tunnel', () => {
  const exchanges: Exchange[] = [];
  let gateway: RunningGateway;
  /** Gateway of a stack that was started without `--public-host`. */
  let closedGateway: RunningGateway;
  let invocations = 0;
  let saidForeign = 0;
  beforeAll(async () => {
    const consoleUrl = () => CONSOLE;
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
    /** Host header that the proxy sends. @default the host, as cloudflared, ngrok and Funnel do */
    readonly hostHeader?: string | undefined;
    readonly to?: RunningGateway;
  }

  /** Sends a request to a host, through a simulated reverse proxy of a tunnel to a local gateway. */
  async function ask(host: string, asked: Asked = {}) {
    const { path = '/hook', method = 'POST', headers = {}, hostHeader, to = gateway } = asked;
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

  test('to the name that the stack was started with, a delivery is answered', async () => {
    expect(await ask(PUBLIC)).toMatchObject({ status: 200, body: '"of the function"' });
  });

  test('to another name, everybody is refused, and told which option to use', async () => {
    const before = { invocations, exchanges: exchanges.length };
    expect(await ask('other.trycloudflare.com')).toMatchObject({
      status: 421,
      body: expect.stringMatching(
        /^The webhook only answers its own machine\..*npm start -- --public-host <name>\n$/,
      ),
    });
    expect({ invocations, exchanges: exchanges.length }).toEqual(before);
  });

  test('to other names, a request is reported here once', async () => {
    await ask('one.trycloudflare.com');
    await ask('two.trycloudflare.com');
    expect(saidForeign).toBe(1);
  });

  test('a browser does not learn of the console, and finds only the webhook', async () => {
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
    { by: 'the stranger', host: 'localhost:3000', hostHeader: undefined },
    { by: 'the tunnel', host: 'other.trycloudflare.com', hostHeader: 'localhost:3000' },
  ])(
    'a stack without a public host does not answer if $by calls it localhost',
    async ({ host, hostHeader }) => {
      expect(await ask(host, { hostHeader })).toMatchObject({ status: 200 });
      expect(await ask(host, { hostHeader, to: closedGateway })).toMatchObject({ status: 421 });
    },
  );
});

describe('a browser', () => {
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
  const gatewayOf = (api: Api) => (consoleUrl: ConsoleUrl) =>
    startGateway(api, { port: 0, consoleUrl, onExchange: (exchange) => exchanges.push(exchange) });
  const ports: { port: string; startPort: (consoleUrl: ConsoleUrl) => Promise<Started> }[] = [
    {
      port: 'an HTTP API',
      startPort: gatewayOf(httpApi({ ...owner, routes: [{ routeKey: 'GET /hook', invoke }] })),
    },
    {
      port: 'a REST API',
      startPort: gatewayOf(restApi({ ...owner, stage: 'api', methods: [], gatewayResponses: [] })),
    },
    {
      port: 'the AWS endpoint',
      startPort: (consoleUrl) => startAwsEndpoint({ port: 0, region: owner.region, consoleUrl }),
    },
  ];

  /** As Chromium sends it. */
  const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

  /** Sends a request without following redirects. @returns the parts that are the same each time */
  async function ask(url: string, init: RequestInit = { headers: BROWSER }) {
    const response = await fetch(url, { redirect: 'manual', ...init });
    const body = (await response.text()).replace(/<RequestId>.*<\/RequestId>/, '');
    return { status: response.status, location: response.headers.get('location'), body };
  }

  describe.each(ports)('at $port', ({ port, startPort }) => {
    async function start(consoleUrl: ConsoleUrl): Promise<string> {
      const started = await startPort(consoleUrl);
      running.push(started);
      return started.url;
    }

    test('is redirected to the console, if there is one, and is not counted as a delivery', async () => {
      let consoleUrl: string | undefined;
      const url = await start(() => consoleUrl);
      expect((await ask(url)).location).toBeNull();
      exchanges.length = 0;
      consoleUrl = CONSOLE;
      expect(await ask(url)).toEqual({ status: 302, location: CONSOLE, body: '' });
      expect(exchanges).toEqual([]);
      await ask(`${url}/hook`);
      expect(exchanges).toMatchObject(port === 'the AWS endpoint' ? [] : [{ path: '/hook' }]);
    });

    test.each<{ given: string; path: string; init: RequestInit }>([
      { given: 'wants no page', path: '/', init: { headers: { accept: '*/*' } } },
      { given: 'asks for another path', path: '/hook', init: { headers: BROWSER } },
      { given: 'asks with a query', path: '/?Action=ListQueues', init: { headers: BROWSER } },
      { given: 'posts', path: '/', init: { method: 'POST', headers: BROWSER, body: 'a=1' } },
      {
        given: 'has signed for AWS',
        path: '/',
        init: { headers: { ...BROWSER, authorization: signedFor('s3') } },
      },
    ])('is answered as without a console if it $given', async ({ path, init }) => {
      const [withConsole, without] = [await start(() => CONSOLE), await start(() => undefined)];
      const answer = await ask(`${withConsole}${path}`, init);
      expect(answer.location).toBeNull();
      expect(answer).toEqual(await ask(`${without}${path}`, init));
    });
  });
});
