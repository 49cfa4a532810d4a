import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Hono } from 'hono';
import { ApiProblem, problemOf, problemResponse } from '../../console/server/api-problem.ts';
import { guard, type SecurityRules } from '../../console/server/guard.ts';
import { startConsoleAlone } from './support.ts';

const TOKEN = 'the-token';
const host = 'localhost:3001';
const cookie = `console-3001=${TOKEN}`;

type Headers = Readonly<Record<string, string | undefined>>;

interface Question extends Partial<SecurityRules> {
  readonly path?: string;
  readonly method?: string;
}

/** Headers of the page's own requests that change something. */
const own: Headers = { host, 'content-type': 'application/json', cookie };

async function ask(headers: Headers, { path = '/api/stack', method = 'GET', ...given }: Question = {}) {
  const rules = { port: 3001, token: TOKEN, local: true, readOnly: false, ...given };
  const app = new Hono()
    .use(guard(rules))
    .all('*', (c) => c.text('answered'))
    .onError((error) => problemResponse(problemOf(error) ?? new ApiProblem(500, error.message)));
  const set = Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined);
  return app.request(path, { method, headers: set });
}

const POST = { method: 'POST' };
const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const from = (site: string, more: Headers = {}) => ({ ...own, 'sec-fetch-site': site, ...more });

const PAGE = { path: '/' };

test.each<[what: string, headers: Headers, question?: Question]>([
  ['under localhost', { host }],
  ['in capitals', { host: 'LOCALHOST:3001' }],
  ['under 127.0.0.1', { host: '127.0.0.1:3001' }],
  ['under ::1', { host: '[::1]:3001' }],
  ['without the default port', { host: 'localhost' }, { port: 80 }],
  ['from the page’s own origin', { ...own, origin: 'http://127.0.0.1:3001' }, POST],
  ['that a browser marks as the page’s own', from('same-origin')],
  ['for a typed address', from('none', link), PAGE],
  ['for a link from elsewhere', from('cross-site', link), PAGE],
  ['that changes something, with cookie and JSON', own, POST],
  ['with a character set', { ...own, 'content-type': 'application/json; charset=utf-8' }, POST],
  ['with cookies of other ports', { ...own, cookie: `console-3000=other; ${cookie}; a=b` }, POST],
  ['that reads, with --read-only', own, { readOnly: true }],
  ['that reads the local stack without a cookie', { host }],
  ['that reads a stage with its cookie', own, { local: false }],
  ['for the script of a stage', { host }, { local: false, path: '/console.js' }],
])('a request is answered %s', async (_what, headers, question = {}) => {
  const response = await ask(headers, question);
  expect(await response.text()).toBe('answered');
});

const OTHER_PAGE = [403, 'only answers its own page'] as const;
const OTHER_HOST = [421, 'only answers localhost'] as const;
const NO_COOKIE = [403, 'The cookie console-3001 is missing'] as const;
const NO_JSON = [415, 'content-type: application/json'] as const;
const frame = from('cross-site', { ...link, 'sec-fetch-dest': 'iframe' });

test.each<[what: string, refusal: readonly [number, string], headers: Headers, question?: Question]>([
  ['without Host', OTHER_HOST, {}],
  ['without the port', OTHER_HOST, { host: 'localhost' }],
  ['with another port', OTHER_HOST, { host: 'localhost:30011' }],
  ['under another address', OTHER_HOST, { host: '127.0.0.2:3001' }],
  ['after DNS rebinding', OTHER_HOST, { host: 'localhost.rebound.example:3001' }],
  ['for the page under another name', OTHER_HOST, { host: 'x' }, PAGE],
  ['from another port', OTHER_PAGE, { ...own, origin: 'http://localhost:3000' }, POST],
  ['from another scheme', OTHER_PAGE, { ...own, origin: 'https://localhost:3001' }, POST],
  ['from a longer name', OTHER_PAGE, { ...own, origin: 'http://localhost:3001.example.com' }, POST],
  ['from an opaque origin', OTHER_PAGE, { ...own, origin: 'null' }, POST],
  ['from an empty origin', OTHER_PAGE, { ...own, origin: '' }, POST],
  ['that reads, from another origin', OTHER_PAGE, { ...own, origin: 'null' }],
  ['for a typed address of the API', OTHER_PAGE, from('none', link)],
  ['for a link to the API', OTHER_PAGE, from('cross-site', link)],
  ['of a frame', OTHER_PAGE, frame, PAGE],
  ['of a script element', OTHER_PAGE, from('cross-site', { 'sec-fetch-mode': 'no-cors' }), { path: '/a.js' }],
  ['of another port of localhost', OTHER_PAGE, from('same-site')],
  ['of a kind that no browser sends yet', OTHER_PAGE, from('new')],
  ['without content-type', NO_JSON, { ...own, 'content-type': undefined }, POST],
  ['of a similar type', NO_JSON, { ...own, 'content-type': 'application/jsonp' }, POST],
  ['without the cookie', NO_COOKIE, { ...own, cookie: undefined }, POST],
  ['with a part of the token', NO_COOKIE, { ...own, cookie: 'console-3001=the' }, POST],
  ['with another port’s cookie', NO_COOKIE, { ...own, cookie: `console-3000=${TOKEN}` }, POST],
  ['that reads a stage without the cookie', NO_COOKIE, { host }, { local: false }],
  ['that changes something, with --read-only', [403, '--read-only'], own, { ...POST, readOnly: true }],
])('a request is refused %s', async (_what, [status, detail], headers, question = {}) => {
  const response = await ask(headers, question);
  expect(await response.json()).toMatchObject({ status, detail: expect.stringContaining(detail) });
});

const set = `console-3001=${TOKEN}; Path=/api; HttpOnly; SameSite=Strict`;

test.each([
  { by: 'the page of the local stack', local: true, path: '/', status: 200, cookie: set },
  { by: 'the page of a stage', local: false, path: '/', status: 200, cookie: null },
  { by: 'the token in the address', local: false, path: `/?token=${TOKEN}`, status: 303, cookie: set },
  { by: 'another token', local: false, path: '/?token=old', status: 403, cookie: null },
  { by: 'a token elsewhere', local: false, path: `/api/stack?token=${TOKEN}`, status: 403, cookie: null },
])('the cookie after $by: $cookie', async ({ local, path, status, cookie: expected }) => {
  const { status: answered, headers } = await ask({ host }, { path, local });
  const [cookie, location] = [headers.get('set-cookie'), headers.get('location')];
  expect({ answered, cookie, location }).toEqual({
    answered: status,
    cookie: expected,
    location: status === 303 ? '/' : null,
  });
});

describe('the page', () => {
  let running: Awaited<ReturnType<typeof startConsoleAlone>>;

  beforeAll(async () => {
    running = await startConsoleAlone();
  });
  afterAll(() => running[Symbol.asyncDispose]());

  /** The names of a script and of its static imports. */
  async function loaded(file: string): Promise<string[]> {
    const { bytes } = await running.api.get(`/${file}`);
    const imports = [...bytes.toString().matchAll(/\b(?:import|from)\s*"\.\/([\w.-]+)"/g)];
    const others = await Promise.all(imports.map(([, name = '']) => loaded(name)));
    return [...new Set([file, ...others.flat()])];
  }

  test('may use only its own script, style, pictures and server', async () => {
    const { headers } = await running.api.get('/');
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
});
