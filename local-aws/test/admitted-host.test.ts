import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { originOf } from '../admitted-host.ts';
import { httpApi } from '../gateway/http-api.ts';
import { apiId, serve } from './gateway/support.ts';

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

test('an API with a tunnel answers its name, refuses others, and reports them once', async () => {
  const answered: number[] = [];
  let foreign = 0;
  const invoke = async () => ({ ok: true as const, payload: 'of the function' });
  const gateway = await serve(httpApi({ apiId, routes: [{ routeKey: 'POST /hook', invoke }] }), {
    publicHosts: [PUBLIC],
    onExchange: ({ status }) => answered.push(status),
    onForeign: () => {
      foreign += 1;
    },
  });
  /** Sends a request as a tunnel passes it on. */
  async function ask(host: string) {
    const headers = { host, 'x-forwarded-proto': 'https' };
    const sent = request(`${gateway.url}/hook`, { method: 'POST', headers });
    const [answer] = (await once(sent.end('{}'), 'response')) as [IncomingMessage];
    return [answer.statusCode, await text(answer)];
  }
  expect(await ask(PUBLIC)).toEqual([200, '"of the function"']);
  for (const host of ['one.trycloudflare.com', 'two.trycloudflare.com']) {
    expect(await ask(host)).toEqual([421, expect.stringMatching(/^This API only answers its own machine/)]);
  }
  expect([answered, foreign]).toEqual([[200], 1]);
});
