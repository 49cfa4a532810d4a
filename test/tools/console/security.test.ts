import { describe, expect, test } from '@jest/globals';
import { Hono } from 'hono';
import { Problem, problemOf, problemResponse } from '../../../tools/console/server/problem.ts';
import { guard, type SecurityRules } from '../../../tools/console/server/security.ts';

const TOKEN = 'the-token';
const PORT = 3001;

const rules: SecurityRules = { port: PORT, token: TOKEN, local: true, readOnly: false };

type Headers = Readonly<Record<string, string | undefined>>;

const host = 'localhost:3001';
const cookie = `console-3001=${TOKEN}`;

/** What the page sends along with a change. */
const own = { host, 'content-type': 'application/json', cookie };

function ask(path: string, method: string, headers: Headers, given: Partial<SecurityRules> = {}) {
  const app = new Hono()
    .use(guard({ ...rules, ...given }))
    .all('*', (c) => c.text('answered'))
    .onError((error) => problemResponse(problemOf(error) ?? new Problem('fault', 500, '', error.message)));
  const set = Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined);
  return app.request(path, { method, headers: set });
}

async function outcome(
  headers: Headers,
  {
    path = '/api/stack',
    method = 'GET',
    ...given
  }: Partial<SecurityRules> & { path?: string; method?: string } = {},
) {
  const response = await ask(path, method, headers, given);
  const text = await response.text();
  return response.ok ? text : `${response.status} ${JSON.parse(text).type.split(':').at(-1)}`;
}

describe('a request is answered under a name of this machine and the console’s own port', () => {
  test.each<[host: string | undefined, outcome: string]>([
    ['localhost:3001', 'answered'],
    ['LOCALHOST:3001', 'answered'],
    ['127.0.0.1:3001', 'answered'],
    ['[::1]:3001', 'answered'],
    [undefined, '421 foreign-host'],
    ['', '421 foreign-host'],
    ['localhost', '421 foreign-host'],
    ['localhost:3000', '421 foreign-host'],
    ['localhost:30011', '421 foreign-host'],
    ['127.0.0.2:3001', '421 foreign-host'],
    ['::1:3001', '421 foreign-host'],
    ['rebound.example:3001', '421 foreign-host'],
    ['localhost.rebound.example:3001', '421 foreign-host'],
    ['localhost:3001@rebound.example', '421 foreign-host'],
  ])('%s: %s', async (given, expected) => {
    expect(await outcome({ host: given })).toBe(expected);
    expect(await outcome({ host: given }, { path: '/' })).toBe(expected);
  });

  test('without a port if that is HTTP’s own', async () => {
    expect(await outcome({ host: 'localhost' }, { port: 80 })).toBe('answered');
  });
});

describe('a request of another origin is refused', () => {
  test.each<[origin: string | undefined, outcome: string]>([
    [undefined, 'answered'],
    ['http://localhost:3001', 'answered'],
    ['http://127.0.0.1:3001', 'answered'],
    ['http://[::1]:3001', 'answered'],
    ['http://localhost:3000', '403 foreign-origin'],
    ['http://localhost', '403 foreign-origin'],
    ['https://localhost:3001', '403 foreign-origin'],
    ['http://example.com', '403 foreign-origin'],
    ['http://localhost:3001.example.com', '403 foreign-origin'],
    ['null', '403 foreign-origin'],
    ['', '403 foreign-origin'],
  ])('Origin %s: %s', async (origin, expected) => {
    expect(await outcome({ ...own, origin }, { method: 'POST' })).toBe(expected);
    expect(await outcome({ ...own, origin })).toBe(expected);
  });

  const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const script = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' };

  test.each<[what: string, path: string, site: string, headers: Headers, outcome: string]>([
    ['the page’s own request', '/api/stack', 'same-origin', {}, 'answered'],
    ['a typed address of the page', '/', 'none', link, 'answered'],
    ['a typed address of the API', '/api/stack', 'none', link, '403 foreign-site'],
    ['a typed address of the description', '/api-docs/webhook.html', 'none', link, 'answered'],
    ['a link elsewhere to the page', '/', 'cross-site', link, 'answered'],
    ['a link on another port to the page', '/', 'same-site', link, 'answered'],
    ['a link elsewhere to the API', '/api/stack', 'cross-site', link, '403 foreign-site'],
    ['a frame', '/', 'cross-site', { ...link, 'sec-fetch-dest': 'iframe' }, '403 foreign-site'],
    ['a script element', '/console.js', 'cross-site', script, '403 foreign-site'],
    ['another port of localhost', '/api/stack', 'same-site', {}, '403 foreign-site'],
    ['a value that no browser sends yet', '/api/stack', 'new', {}, '403 foreign-site'],
  ])('%s: %s %s %j: %s', async (_, path, site, headers, expected) => {
    expect(await outcome({ ...own, 'sec-fetch-site': site, ...headers }, { path })).toBe(expected);
  });
});

describe('a request that changes something', () => {
  test.each<[what: string, headers: Headers, outcome: string]>([
    ['with the cookie, as JSON', {}, 'answered'],
    ['with a character set', { 'content-type': 'application/json; charset=utf-8' }, 'answered'],
    ['beside cookies of other ports', { cookie: `console-3000=other; ${cookie}; a=b` }, 'answered'],
    ['without content-type', { 'content-type': undefined }, '415 not-json'],
    ['as a form', { 'content-type': 'application/x-www-form-urlencoded' }, '415 not-json'],
    ['as text that a page may send anywhere', { 'content-type': 'text/plain' }, '415 not-json'],
    ['as a similar type', { 'content-type': 'application/jsonp' }, '415 not-json'],
    ['without the cookie', { cookie: undefined }, '403 cookie'],
    ['with an empty cookie', { cookie: 'console-3001=' }, '403 cookie'],
    ['with another token', { cookie: 'console-3001=not-token' }, '403 cookie'],
    ['with the beginning of the token', { cookie: 'console-3001=the' }, '403 cookie'],
    ['with the cookie of another port', { cookie: `console-3000=${TOKEN}` }, '403 cookie'],
  ])('%s: %j: %s', async (_, headers, expected) => {
    for (const method of ['POST', 'DELETE', 'PUT']) {
      expect(await outcome({ ...own, ...headers }, { method })).toBe(expected);
    }
  });

  test('is refused with --read-only, whatever it has', async () => {
    expect(await outcome(own, { method: 'POST', readOnly: true })).toBe('403 read-only');
    expect(await outcome(own, { method: 'GET', readOnly: true })).toBe('answered');
  });
});

describe('reading', () => {
  test.each([
    ['the local stack needs no cookie', true, '/api/deliveries', 'answered'],
    ['a stage does', false, '/api/deliveries', '403 cookie'],
    ['the page of a stage does not', false, '/', 'answered'],
    ['the files of that page do not', false, '/console.js', 'answered'],
  ])('%s', async (_, local, path, expected) => {
    expect(await outcome({ host }, { path, local })).toBe(expected);
    expect(await outcome(own, { path, local })).toBe('answered');
  });

  test.each([
    [true, /Reload the page$/],
    [false, /Open the address that npm run console printed$/],
  ])('with the cookie of a console before a restart says what to do (local: %s)', async (local, advice) => {
    const old = { ...own, cookie: 'console-3001=old' };
    const response = await ask('/api/tasks', local ? 'POST' : 'GET', old, { local });
    expect(await response.json()).toMatchObject({ status: 403, detail: expect.stringMatching(advice) });
  });
});

describe('the cookie', () => {
  const set = `console-3001=${TOKEN}; Path=/api; HttpOnly; SameSite=Strict`;

  test.each([
    ['is set by the page of the local stack', true, '/', 200, set],
    ['is not set by the page of a stage', false, '/', 200, null],
    ['is set by the token in the address, which is left', false, `/?token=${TOKEN}`, 303, set],
    ['is not set by another token', false, '/?token=old', 403, null],
    ['is not set by a token that is empty', false, '/?token=', 403, null],
    ['is not set elsewhere', false, `/api/stack?token=${TOKEN}`, 403, null],
  ])('%s', async (_, local, path, status, expected) => {
    const response = await ask(path, 'GET', { host }, { local });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([status, expected]);
    expect(response.headers.get('location')).toBe(status === 303 ? '/' : null);
  });
});
