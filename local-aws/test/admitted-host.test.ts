import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { originOf } from '../admitted-host.ts';
import { httpApi } from '../gateway/http-api.ts';
import { type RunningGateway, startGateway } from '../gateway/server.ts';
import type { Exchange } from '../observation.ts';
import { apiId } from './gateway/support.ts';

const PUBLIC = 'abc.trycloudflare.com';

test.each([
  { host: 'localhost:3000', origin: 'here' },
  { host: '127.0.0.1:3000', origin: 'here' },
  { host: '[::1]:3000', origin: 'here' },
  { host: 'host.docker.internal:3000', origin: 'here' },
  { host: 'bucket.s3.localhost', origin: 'here' },
  { host: 'ABC.trycloudflare.com:443', origin: 'public' },
  { host: '203.0.113.5:8080', origin: 'public' },
  { host: '', origin: 'foreign' },
  { host: 'x.abc.trycloudflare.com', origin: 'foreign' },
  { host: 'abc.trycloudflare.com.', origin: 'foreign' },
  { host: 'localhost.evil.example', origin: 'foreign' },
  { host: '127.0.0.1.nip.io', origin: 'foreign' },
  { host: '192.168.1.7:3000', origin: 'foreign' },
  { host: '[::2]:3000', origin: 'foreign' },
  { host: '127.0.0.1@evil.example', origin: 'foreign' },
  { host: undefined, origin: 'foreign' },
])('a request to $host is $origin', ({ host, origin }) => {
  expect(originOf(host === undefined ? {} : { host }, [PUBLIC, '203.0.113.5'])).toBe(origin);
});

test.each([
  'x-forwarded-for',
  'forwarded',
  'via',
  'x-real-ip',
  'x-original-host',
  'true-client-ip',
  'cdn-loop',
  'cf-connecting-ip',
  'tailscale-user-login',
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

describe('a webhook with a tunnel', () => {
  let gateway: RunningGateway;
  let invocations = 0;
  const exchanges: Exchange[] = [];
  let foreign = 0;
  beforeAll(async () => {
    const invoke = async () => {
      invocations += 1;
      return { ok: true as const, payload: 'of the function' };
    };
    const routes = [{ routeKey: 'POST /hook', invoke }];
    const api = httpApi({ apiId, routes });
    gateway = await startGateway(api, {
      port: 0,
      publicHosts: [PUBLIC],
      onExchange: (exchange) => exchanges.push(exchange),
      onForeign: () => {
        foreign += 1;
      },
    });
  });
  afterAll(() => gateway.close());

  /** Sends a request as a tunnel passes it on. */
  async function ask(host: string) {
    const sent = request(`${gateway.url}/hook`, {
      method: 'POST',
      headers: { host, 'x-forwarded-proto': 'https' },
    });
    sent.end('{}');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, body: await text(answer) };
  }

  test('answers a delivery to the name that the stack was started with', async () => {
    expect(await ask(PUBLIC)).toMatchObject({ status: 200, body: '"of the function"' });
  });

  test('refuses other names, and reports it once', async () => {
    const before = { invocations, exchanges: exchanges.length };
    for (const host of ['one.trycloudflare.com', 'two.trycloudflare.com']) {
      expect(await ask(host)).toMatchObject({
        status: 421,
        body: expect.stringMatching(/^This API only answers its own machine/),
      });
    }
    expect({ invocations, exchanges: exchanges.length }).toEqual(before);
    expect(foreign).toBe(1);
  });
});
