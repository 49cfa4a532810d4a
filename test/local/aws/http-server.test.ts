import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../local/aws/endpoint.ts';
import { isOwnHost } from '../../../local/aws/http-server.ts';
import { send, startEndpoint } from './support.ts';

let endpoint: AwsEndpoint;
beforeAll(async () => {
  endpoint = await startEndpoint();
});
afterAll(() => endpoint.close());

test.each([
  'localhost:4566',
  'LOCALHOST',
  '127.0.0.1:4566',
  '[::1]:4566',
  'bucket.localhost:4566',
  'bucket.s3.localhost',
  'host.docker.internal:4566',
])('%s is this machine', (host) => {
  expect(isOwnHost(host)).toBe(true);
});

test.each([
  undefined,
  '',
  'evil.example:4566',
  'localhost.evil.example',
  'evillocalhost',
  '127.0.0.1.nip.io',
])('%s may be anybody’s', (host) => {
  expect(isOwnHost(host)).toBe(false);
});

test('a page whose name was led to this machine is answered nothing but that', async () => {
  const headers = {
    host: 'evil.example:4566',
    'x-amz-target': 'secretsmanager.ListSecrets',
    'content-type': 'application/x-amz-json-1.1',
  };
  for (const path of ['/', '/health']) {
    const { status, body } = await send(endpoint, { path, headers, body: '{}' });
    expect(status).toBe(421);
    expect(body.toString()).toMatch(/^The AWS endpoint answers to .+\n$/);
  }
});
