import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startAwsEndpoint } from '../../aws/endpoint.ts';
import { browserRedirect } from '../../browser-redirect.ts';
import { originOf } from '../../gateway/admitted-host.ts';
import { httpApi } from '../../gateway/http-api.ts';
import { type RunningGateway, startGateway } from '../../gateway/server.ts';
import type { Exchange } from '../../observation.ts';
import { apiId } from './support.ts';

const PUBLIC = 'abc.trycloudflare.com';
const CONSOLE = 'http://localhost:3001/';
/** Header of a browser, as Chromium sends it. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

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
  { host: undefined, origin: 'foreign' },
])('a request to $host is $origin', ({ host, origin }) => {
  expect(originOf(host === undefined ? {} : { host }, [PUBLIC, '203.0.113.5'])).toBe(origin);
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
      browserUrl: () => CONSOLE,
      onExchange: (exchange) => exchanges.push(exchange),
      onForeign: () => {
        foreign += 1;
      },
    });
  });
  afterAll(() => gateway.close());

  /** Sends a request as a tunnel passes it on. */
  async function ask(host: string, { method = 'POST', path = '/hook', headers = {} } = {}) {
    const sent = request(`${gateway.url}${path}`, {
      method,
      headers: { ...headers, host, 'x-forwarded-proto': 'https' },
    });
    sent.end(method === 'POST' ? '{}' : undefined);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
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

  test('shows the console to browsers of this machine only', async () => {
    const headers = { accept: 'text/html' };
    const direct = await fetch(gateway.url, { headers, redirect: 'manual' });
    expect([direct.status, direct.headers.get('location')]).toEqual([302, CONSOLE]);
    for (const host of [PUBLIC, 'localhost:3000']) {
      const answer = await ask(host, { path: '/', method: 'GET', headers });
      expect(answer).toMatchObject({ status: 404, body: '{"message":"Not Found"}' });
      expect(answer.headers).not.toHaveProperty('location');
    }
    expect(exchanges.filter(({ status }) => status === 302)).toEqual([]);
  });
});

test('a browser at the AWS endpoint is redirected to the console', async () => {
  const endpoint = await startAwsEndpoint({ port: 0, browserUrl: () => CONSOLE });
  const answer = await fetch(endpoint.url, { headers: BROWSER, redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([302, CONSOLE]);
  await endpoint.close();
});

const opened = { method: 'GET', url: '/', headers: BROWSER };

test.each<{ given: string; asked: object; to: string | undefined }>([
  { given: 'opens the port', asked: opened, to: CONSOLE },
  { given: 'wants no page', asked: { ...opened, headers: { accept: '*/*' } }, to: undefined },
  { given: 'asks for another path', asked: { ...opened, url: '/hook' }, to: undefined },
  { given: 'asks with a query', asked: { ...opened, url: '/?Action=ListQueues' }, to: undefined },
  { given: 'posts', asked: { ...opened, method: 'POST' }, to: undefined },
  {
    given: 'has signed for AWS',
    asked: { ...opened, headers: { ...BROWSER, authorization: 'AWS4' } },
    to: undefined,
  },
])('a browser that $given is redirected to $to', ({ asked, to }) => {
  expect(browserRedirect(asked as IncomingMessage, () => CONSOLE)).toBe(to);
  expect(browserRedirect(asked as IncomingMessage, () => undefined)).toBeUndefined();
});
