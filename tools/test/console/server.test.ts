import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Hono } from 'hono';
import { ApiProblem, problemOf, problemResponse } from '../../console/server/api-problem.ts';
import { guard, type SecurityRules } from '../../console/server/guard.ts';
import { startConsoleAlone, TEST_TOKEN } from './support.ts';

const TOKEN = 'the-token';

type Headers = Readonly<Record<string, string | undefined>>;

interface AskOptions extends Partial<SecurityRules> {
  readonly path?: string;
  readonly method?: string;
}

const host = 'localhost:3001';
const cookie = `console-3001=${TOKEN}`;

/** Headers of the page's own requests that change something. */
const own = { host, 'content-type': 'application/json', cookie };

async function ask(headers: Headers, { path = '/api/stack', method = 'GET', ...given }: AskOptions = {}) {
  const rules = { port: 3001, token: TOKEN, local: true, readOnly: false, ...given };
  const app = new Hono()
    .use(guard(rules))
    .all('*', (c) => c.text('answered'))
    .onError((error) => problemResponse(problemOf(error) ?? new ApiProblem(500, error.message)));
  const set = Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined);
  return app.request(path, { method, headers: set });
}

/** What a refusal says, by the name that the tests give it. */
const REFUSALS: readonly (readonly [name: string, text: RegExp])[] = [
  ['own page only', /^The console only answers its own page$/],
  ['own host only', /^The console only answers localhost/],
  ['cookie', /^The cookie console-3001 is missing, or belongs to a console that is no longer running\./],
  ['read-only', /--read-only$/],
  ['not JSON', /content-type: application\/json$/],
];

/** Result of a request: `answered`, or the status and kind of the problem. */
async function outcome(headers: Headers, question?: AskOptions): Promise<string> {
  const response = await ask(headers, question);
  const text = await response.text();
  if (response.ok) return text;
  const { detail } = JSON.parse(text);
  return `${response.status} ${REFUSALS.find(([, said]) => said.test(detail))?.[0] ?? detail}`;
}

describe('a request', () => {
  test.each(['localhost:3001', 'LOCALHOST:3001', '127.0.0.1:3001', '[::1]:3001'])(
    'is answered under a name of this machine: Host %s',
    async (given) => {
      expect(await outcome({ host: given })).toBe('answered');
    },
  );

  test.each([undefined, 'localhost', 'localhost:30011', '127.0.0.2:3001', 'localhost.rebound.example:3001'])(
    'is refused under any other name or port: Host %s',
    async (given) => {
      expect(await outcome({ host: given })).toBe('421 own host only');
      expect(await outcome({ host: given }, { path: '/' })).toBe('421 own host only');
    },
  );

  test('from the page’s own origin is accepted', async () => {
    expect(await outcome({ ...own, origin: 'http://127.0.0.1:3001' }, { method: 'POST' })).toBe('answered');
  });

  test.each([
    'http://localhost:3000',
    'https://localhost:3001',
    'http://localhost:3001.example.com',
    'null',
    '',
  ])('from another origin is refused: %j', async (origin) => {
    expect(await outcome({ ...own, origin }, { method: 'POST' })).toBe('403 own page only');
    expect(await outcome({ ...own, origin })).toBe('403 own page only');
  });

  const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

  test.each([
    { what: 'the page’s own request', path: '/api/stack', site: 'same-origin' },
    { what: 'a typed address', path: '/', site: 'none', ...link },
    { what: 'a link from elsewhere', path: '/', site: 'cross-site', ...link },
  ])('is accepted if a browser marks it as $what: $path', async ({ path, site, what: _, ...headers }) => {
    expect(await outcome({ ...own, 'sec-fetch-site': site, ...headers }, { path })).toBe('answered');
  });

  test.each([
    { what: 'a typed address', path: '/api/stack', site: 'none', ...link },
    { what: 'a link from elsewhere', path: '/api/stack', site: 'cross-site', ...link },
    { what: 'a frame', path: '/', site: 'cross-site', ...link, 'sec-fetch-dest': 'iframe' },
    { what: 'a script element', path: '/console.js', site: 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { what: 'another port of localhost', path: '/api/stack', site: 'same-site' },
    { what: 'something that no browser sends yet', path: '/api/stack', site: 'new' },
  ])('is refused if a browser marks it as $what: $path', async ({ path, site, what: _, ...headers }) => {
    const refused = await outcome({ ...own, 'sec-fetch-site': site, ...headers }, { path });
    expect(refused).toBe('403 own page only');
  });
});

describe('a request that changes something', () => {
  test.each([
    { what: 'with the cookie, as JSON', headers: {}, expected: 'answered' },
    {
      what: 'with a character set, beside cookies of other ports',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        cookie: `console-3000=other; ${cookie}; a=b`,
      },
      expected: 'answered',
    },
    { what: 'without content-type', headers: { 'content-type': undefined }, expected: '415 not JSON' },
    { what: 'as a similar type', headers: { 'content-type': 'application/jsonp' }, expected: '415 not JSON' },
    { what: 'without the cookie', headers: { cookie: undefined }, expected: '403 cookie' },
    { what: 'with a part of the token', headers: { cookie: 'console-3001=the' }, expected: '403 cookie' },
    {
      what: 'with the cookie of another port',
      headers: { cookie: `console-3000=${TOKEN}` },
      expected: '403 cookie',
    },
  ])('$what: $expected', async ({ headers, expected }) => {
    for (const method of ['POST', 'DELETE']) {
      expect(await outcome({ ...own, ...headers }, { method })).toBe(expected);
    }
  });

  test('is refused with --read-only, with any credentials', async () => {
    expect(await outcome(own, { method: 'POST', readOnly: true })).toBe('403 read-only');
    expect(await outcome(own, { readOnly: true })).toBe('answered');
  });
});

describe('reading', () => {
  test.each([
    { of: 'the local stack', local: true, path: '/api/deliveries', expected: 'answered' },
    { of: 'a stage', local: false, path: '/api/deliveries', expected: '403 cookie' },
    { of: 'a stage', local: false, path: '/console.js', expected: 'answered' },
  ])('$path of $of without a cookie is answered: $expected', async ({ local, path, expected }) => {
    expect(await outcome({ host }, { path, local })).toBe(expected);
    expect(await outcome(own, { path, local })).toBe('answered');
  });
});

describe('the cookie', () => {
  const set = `console-3001=${TOKEN}; Path=/api; HttpOnly; SameSite=Strict`;

  test.each([
    { by: 'the page of the local stack', local: true, path: '/', status: 200, cookie: set },
    { by: 'the page of a stage', local: false, path: '/', status: 200, cookie: null },
    { by: 'the token in the address', local: false, path: `/?token=${TOKEN}`, status: 303, cookie: set },
    { by: 'another token', local: false, path: '/?token=old', status: 403, cookie: null },
    { by: 'a token elsewhere', local: false, path: `/api/stack?token=${TOKEN}`, status: 403, cookie: null },
  ])('after $by: $cookie', async ({ local, path, status, cookie: expected }) => {
    const response = await ask({ host }, { path, local });
    expect({ status: response.status, cookie: response.headers.get('set-cookie') }).toEqual({
      status,
      cookie: expected,
    });
    expect(response.headers.get('location')).toBe(status === 303 ? '/' : null);
  });
});

describe('the page', () => {
  let running: Awaited<ReturnType<typeof startConsoleAlone>>;

  beforeAll(async () => {
    running = await startConsoleAlone();
  });
  afterAll(() => running[Symbol.asyncDispose]());

  /** The text of a script and of its static imports. */
  async function loaded(file: string): Promise<string[]> {
    const { bytes } = await running.api.get(`/${file}`);
    const imports = [...bytes.toString().matchAll(/\b(?:import|from)\s*"\.\/([\w.-]+)"/g)];
    const others = await Promise.all(imports.map(([, name = '']) => loaded(name)));
    return [...new Set([file, ...others.flat()])];
  }

  test('may use only its own script, style, pictures and server', async () => {
    const { headers, bytes } = await running.api.get('/');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=UTF-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(headers).not.toHaveProperty('strict-transport-security');
    expect(bytes.toString()).toContain('<link rel="icon" href="/logo.svg">');
  });

  test('has below 60 KB of script and style, compressed, without parts loaded on demand', async () => {
    const files = ['console.css', ...(await loaded('console.js'))];
    const answers = await Promise.all(
      files.map((file) => running.api.get(`/${file}`, { 'accept-encoding': 'gzip' })),
    );
    for (const { headers } of answers) expect(headers['content-encoding']).toBe('gzip');
    expect(answers.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(60 * 1024);
  });

  test.each(['/index.html', '/%2e%2e/package.json', '/api'])('has nothing at %s', async (path) => {
    expect(await running.api.get(path)).toMatchObject({ status: 404, body: { status: 404 } });
  });

  test('of a stage is opened by its address, which has the token', async () => {
    const { console, api } = running;
    expect(console.url).toBe(`http://localhost:${console.port}/?token=${TEST_TOKEN}`);
    const { headers } = await api.get(`/?token=${TEST_TOKEN}`, { cookie: '' });
    const [set = ''] = headers['set-cookie'] ?? [];
    expect((await api.get('/api/deliveries', { cookie: '' })).status).toBe(403);
    expect((await api.get('/api/deliveries', { cookie: set.split(';')[0] ?? '' })).status).toBe(200);
  });
});
