import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { originOf } from '../../../local/gateway/admitted-host.ts';
import { httpApi } from '../../../local/gateway/http-api.ts';
import { type Gateway, startGateway } from '../../../local/gateway/server.ts';
import type { Exchange } from '../../../local/observation.ts';

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
