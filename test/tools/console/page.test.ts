import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestConsole, TEST_TOKEN, type TestConsole } from './support.ts';

/** What the issue allows the page's own files, compressed. */
const MAXIMUM_BYTES = 60 * 1024;

let running: TestConsole;

beforeAll(async () => {
  running = await startTestConsole();
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
});

describe('the page', () => {
  test('has a shell without any inline script or style, with the token of the local stack', async () => {
    const { status, headers, bytes } = await running.api.get('/');
    const html = bytes.toString();
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
    });
    expect(html).toContain(`<meta name="console-token" content="${TEST_TOKEN}">`);
    expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)| on\w+=/);
  });

  test('is let nothing but its own script, style, pictures and server', async () => {
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
  });

  test('has below 60 KB of script and style, compressed', async () => {
    const answers = await Promise.all(
      ['/console.js', '/console.css'].map((path) => running.api.get(path, { 'accept-encoding': 'gzip' })),
    );
    for (const { status, headers, bytes } of answers) {
      expect({ status, encoding: headers['content-encoding'] }).toEqual({ status: 200, encoding: 'gzip' });
      expect(gunzipSync(bytes).length).toBeGreaterThan(1_000);
    }
    expect(answers.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(MAXIMUM_BYTES);
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

  test('takes no POST', async () => {
    const { status } = await running.api.post('/', {});
    expect(status).toBe(405);
  });
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

  test('is answered to this machine’s names alone', async () => {
    const { status } = await running.api.get('/api-docs/webhook.html', { host: 'rebound.example' });
    expect(status).toBe(421);
  });
});

test('says nothing of the token in the page of a stage, and all of it in the address for its operator', async () => {
  await using stage = await startTestConsole({}, { local: undefined });
  expect((await stage.api.get('/')).bytes.toString()).not.toContain('console-token');
  expect(stage.console.url).toBe(`http://localhost:${stage.console.port}/#token=${TEST_TOKEN}`);
});
