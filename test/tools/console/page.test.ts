import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startStageConsole } from './stage-console.ts';
import { startTestConsole, TEST_TOKEN, type TestConsole } from './support.ts';

/** Of the page's own files, compressed. */
const MAX_BYTES = 70 * 1024;

let running: TestConsole;

beforeAll(async () => {
  running = await startTestConsole();
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
});

/** A script and all that it imports at once. */
async function loaded(file: string): Promise<string[]> {
  const { bytes } = await running.api.get(`/${file}`);
  const imports = [...bytes.toString().matchAll(/\b(?:import|from)\s*"\.\/([\w.-]+)"/g)];
  const others = await Promise.all(imports.map(([, name = '']) => loaded(name)));
  return [...new Set([file, ...others.flat()])];
}

describe('the page', () => {
  test('has a shell without any inline script or style', async () => {
    const { status, headers, bytes } = await running.api.get('/');
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 200,
      type: 'text/html; charset=UTF-8',
    });
    expect(bytes.toString()).not.toMatch(/<style|style=|<script(?![^>]* src=)| on\w+=/);
  });

  test('may use only its own script, style, pictures and server', async () => {
    const { headers } = await running.api.get('/');
    expect(headers).toMatchObject({
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

  test('has below 70 KB of script and style, compressed, before what it loads on demand', async () => {
    const files = ['console.css', ...(await loaded('console.js'))];
    const answers = await Promise.all(
      files.map((file) => running.api.get(`/${file}`, { 'accept-encoding': 'gzip' })),
    );
    for (const { status, headers } of answers) {
      expect({ status, encoding: headers['content-encoding'] }).toEqual({ status: 200, encoding: 'gzip' });
    }
    expect(answers.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(MAX_BYTES);
  });

  test('has the logo as its icon', async () => {
    const { status, headers } = await running.api.get('/logo.svg');
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'image/svg+xml' });
    expect((await running.api.get('/')).bytes.toString()).toContain('<link rel="icon" href="/logo.svg">');
  });

  test('is not sent again to a browser that has it', async () => {
    const { headers } = await running.api.get('/console.js');
    const { status, bytes } = await running.api.get('/console.js', { 'if-none-match': String(headers.etag) });
    expect({ status, bytes: bytes.length }).toEqual({ status: 304, bytes: 0 });
  });

  test.each(['/index.html', '/console.js.map', '/../package.json', '/%2e%2e/package.json', '//', '/api'])(
    'has nothing at %s',
    async (path) => {
      const { status, body } = await running.api.get(path);
      expect({ status, body }).toMatchObject({ status: 404, body: { status: 404, title: 'Not found' } });
    },
  );
});

describe('the description of the endpoint', () => {
  test('is read at /api-docs/webhook.html, where its own scripts alone run, and which connects to nowhere', async () => {
    const { status, headers, bytes } = await running.api.get('/api-docs/webhook.html');
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
    });
    const scripts = [...bytes.toString().matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
      ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    );
    // In the file there is no such link.
    expect(bytes.toString()).toMatch(/<body>\n<header[^>]*>\n<a href="\/"[^>]*>← Console<\/a>/);
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; script-src ${scripts.join(' ')}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  test('is beside its page: /api-docs/openapi.json', async () => {
    const { status, headers, bytes } = await running.api.get('/api-docs/openapi.json');
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' });
    expect(bytes.equals(readFileSync('docs/api/openapi.json'))).toBe(true);
  });

  test('is not sent again to a browser that has it, which keeps the policy of the page', async () => {
    const { headers } = await running.api.get('/api-docs/webhook.html');
    const again = await running.api.get('/api-docs/webhook.html', { 'if-none-match': String(headers.etag) });
    expect(again.status).toBe(304);
    expect(again.headers['content-security-policy']).toBe(headers['content-security-policy']);
  });

  test.each([
    '',
    '../configuration.md',
    '%2e%2e/security.md',
    'asyncapi.json',
    'schemas/shop-updated.json',
    'constructor',
  ])('is all that there is: nothing at /api-docs/%s', async (name) => {
    const { status, body } = await running.api.get(`/api-docs/${name}`);
    expect({ status, body }).toMatchObject({ status: 404, body: { status: 404, title: 'Not found' } });
  });
});

test('of a stage is opened by the address for its operator, which has the token', async () => {
  await using stage = await startStageConsole(running.stack);
  expect(stage.console.url).toBe(`http://localhost:${stage.console.port}/?token=${TEST_TOKEN}`);
  const { status, headers } = await stage.api.get(`/?token=${TEST_TOKEN}`, { cookie: '' });
  expect({ status, location: headers.location }).toEqual({ status: 303, location: '/' });
  const [cookie = ''] = headers['set-cookie'] ?? [];
  expect((await stage.api.get('/api/stack', { cookie: '' })).status).toBe(403);
  expect((await stage.api.get('/api/stack', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200);
});
