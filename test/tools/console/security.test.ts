import { describe, expect, test } from '@jest/globals';
import { TOKEN_HEADER } from '../../../tools/console/api.ts';
import { type JudgedRequest, judge, type SecurityRules } from '../../../tools/console/server/security.ts';

const TOKEN = 'the-token';
const PORT = 3001;

const rules: SecurityRules = { port: PORT, token: TOKEN, local: true, readOnly: false };

type Headers = JudgedRequest['headers'];

/** What the page sends along with a change. */
const own = {
  host: 'localhost:3001',
  'content-type': 'application/json',
  [TOKEN_HEADER]: TOKEN,
};

function outcome(request: Partial<JudgedRequest> & { headers: Headers }, given: Partial<SecurityRules> = {}) {
  const problem = judge({ method: 'GET', path: '/api/stack', ...request }, { ...rules, ...given });
  return problem === undefined
    ? 'answered'
    : `${problem.details.status} ${problem.details.type.split(':').at(-1)}`;
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
  ])('%s: %s', (host, expected) => {
    expect(outcome({ headers: { host } })).toBe(expected);
    expect(outcome({ headers: { host }, path: '/' })).toBe(expected);
  });

  test('without a port where that is HTTP’s own', () => {
    expect(outcome({ headers: { host: 'localhost' } }, { port: 80 })).toBe('answered');
  });
});

describe('of other origins none is answered', () => {
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
  ])('Origin %s: %s', (origin, expected) => {
    expect(outcome({ headers: { ...own, origin }, method: 'POST' })).toBe(expected);
    expect(outcome({ headers: { ...own, origin } })).toBe(expected);
  });

  const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

  test.each<[what: string, path: string, headers: Headers, outcome: string]>([
    ['the page’s own request', '/api/stack', { 'sec-fetch-site': 'same-origin' }, 'answered'],
    ['an address that was typed', '/', { 'sec-fetch-site': 'none', ...link }, 'answered'],
    ['a link elsewhere to the page', '/', { 'sec-fetch-site': 'cross-site', ...link }, 'answered'],
    [
      'a link elsewhere to the API',
      '/api/stack',
      { 'sec-fetch-site': 'cross-site', ...link },
      '403 foreign-site',
    ],
    [
      'a frame',
      '/',
      { 'sec-fetch-site': 'cross-site', ...link, 'sec-fetch-dest': 'iframe' },
      '403 foreign-site',
    ],
    [
      'a script element',
      '/console.js',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
      '403 foreign-site',
    ],
    ['another port of this machine', '/api/stack', { 'sec-fetch-site': 'same-site' }, '403 foreign-site'],
    ['what no browser says yet', '/api/stack', { 'sec-fetch-site': 'new' }, '403 foreign-site'],
  ])('%s: %s %j: %s', (_, path, headers, expected) => {
    expect(outcome({ path, headers: { ...own, ...headers } })).toBe(expected);
  });
});

describe('what changes something', () => {
  const { 'content-type': _type, ...withoutType } = own;
  const { [TOKEN_HEADER]: _token, ...withoutToken } = own;

  test.each<[what: string, headers: Headers, outcome: string]>([
    ['with all of it', own, 'answered'],
    ['with a character set', { ...own, 'content-type': 'application/json; charset=utf-8' }, 'answered'],
    ['without content-type', withoutType, '415 not-json'],
    ['as a form', { ...own, 'content-type': 'application/x-www-form-urlencoded' }, '415 not-json'],
    ['as text that a page may send anywhere', { ...own, 'content-type': 'text/plain' }, '415 not-json'],
    ['as something alike', { ...own, 'content-type': 'application/jsonp' }, '415 not-json'],
    ['without the token', withoutToken, '403 token'],
    ['with an empty token', { ...own, [TOKEN_HEADER]: '' }, '403 token'],
    ['with another token', { ...own, [TOKEN_HEADER]: 'not-token' }, '403 token'],
    ['with the beginning of the token', { ...own, [TOKEN_HEADER]: 'the' }, '403 token'],
    ['with two tokens', { ...own, [TOKEN_HEADER]: [TOKEN, TOKEN] }, '403 token'],
  ])('%s: %j: %s', (_, headers, expected) => {
    for (const method of ['POST', 'DELETE', 'PUT']) expect(outcome({ method, headers })).toBe(expected);
  });

  test('is refused of a console that only reads, whatever is sent along', () => {
    expect(outcome({ method: 'POST', headers: own }, { readOnly: true })).toBe('403 read-only');
    expect(outcome({ method: 'GET', headers: own }, { readOnly: true })).toBe('answered');
  });
});

describe('reading', () => {
  const { [TOKEN_HEADER]: _, ...withoutToken } = own;

  test.each([
    ['the local stack needs no token', true, '/api/deliveries', 'answered'],
    ['a stage does', false, '/api/deliveries', '403 token'],
    ['the page of a stage does not', false, '/', 'answered'],
    ['the files of that page do not', false, '/console.js', 'answered'],
  ])('%s', (_, local, path, expected) => {
    expect(outcome({ path, headers: withoutToken }, { local })).toBe(expected);
    expect(outcome({ path, headers: own }, { local })).toBe('answered');
  });
});
