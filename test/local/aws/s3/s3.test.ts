import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { type RawRequest, send, signedFor, startEndpoint } from '../support.ts';

let endpoint: AwsEndpoint;
beforeAll(async () => {
  endpoint = await startEndpoint();
  await s3({ method: 'PUT', path: '/payloads' });
});
afterAll(() => endpoint.close());

const s3 = ({ headers, ...rest }: RawRequest) =>
  send(endpoint, { ...rest, headers: { authorization: signedFor('s3'), ...headers } });

describe('an object', () => {
  test('comes back byte for byte', async () => {
    const body = randomBytes(1000);
    await s3({ method: 'PUT', path: '/payloads/a%20b', body });
    expect((await s3({ method: 'GET', path: '/payloads/a%20b' })).body.equals(body)).toBe(true);
  });

  test('may be as large as 16 MB, sent after 100-continue', async () => {
    const body = randomBytes(16_000_000);
    const { status } = await s3({
      method: 'PUT',
      path: '/payloads/large',
      headers: { expect: '100-continue' },
      body,
    });
    expect(status).toBe(200);
    const head = await s3({ method: 'HEAD', path: '/payloads/large' });
    expect(head.headers['content-length']).toBe('16000000');
  });

  test('that is larger is refused with the reason', async () => {
    const { status, body } = await s3({
      method: 'PUT',
      path: '/payloads/huge',
      body: Buffer.alloc(17_000_000),
    });
    expect(status).toBe(400);
    expect(body.toString()).toContain('<Code>EntityTooLarge</Code>');
  });

  test('in signed chunks is stored without their framing', async () => {
    const headers = {
      'content-encoding': 'aws-chunked',
      'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      'x-amz-decoded-content-length': '5',
    };
    const body = '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n';
    await s3({ method: 'PUT', path: '/payloads/chunked', headers, body });
    expect((await s3({ method: 'GET', path: '/payloads/chunked' })).body.toString()).toBe('hello');
  });

  test('is the same by path and by virtual host', async () => {
    await s3({ method: 'PUT', path: '/virtual', headers: { host: 'payloads.localhost' }, body: 'x' });
    expect((await s3({ method: 'GET', path: '/payloads/virtual' })).body.toString()).toBe('x');
  });

  test('that is not there is a 404 of S3', async () => {
    const { status, body } = await s3({ method: 'GET', path: '/payloads/none' });
    expect(status).toBe(404);
    expect(body.toString()).toContain('<Code>NoSuchKey</Code>');
  });

  test('that is put on the condition that there is none is put once, by one of several at a time', async () => {
    const put = (body: string) =>
      s3({ method: 'PUT', path: '/payloads/first', headers: { 'if-none-match': '*' }, body });
    const answers = await Promise.all(['one', 'two', 'three'].map(put));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    const { body } = await s3({ method: 'GET', path: '/payloads/first' });
    expect(body.toString()).toBe(['one', 'two', 'three'][answers.findIndex(({ status }) => status === 200)]);
  });

  describe('that is put on the condition of a tag', () => {
    const put = (tag: string, path = '/payloads/conditional') =>
      s3({ method: 'PUT', path, headers: { 'if-match': tag }, body: 'second' });

    test('is replaced where it has that tag', async () => {
      const { headers } = await s3({ method: 'PUT', path: '/payloads/conditional', body: 'first' });
      expect((await put(String(headers.etag))).status).toBe(200);
      expect((await s3({ method: 'GET', path: '/payloads/conditional' })).body.toString()).toBe('second');
    });

    test('stays where it has another one', async () => {
      await s3({ method: 'PUT', path: '/payloads/conditional', body: 'first' });
      const { status, body } = await put('"0123456789abcdef0123456789abcdef"');
      expect(status).toBe(412);
      expect(body.toString()).toContain('<Code>PreconditionFailed</Code>');
      expect((await s3({ method: 'GET', path: '/payloads/conditional' })).body.toString()).toBe('first');
    });

    test('is not made where it is not there', async () => {
      const { status, body } = await put('"0123456789abcdef0123456789abcdef"', '/payloads/absent');
      expect(status).toBe(404);
      expect(body.toString()).toContain('<Code>NoSuchKey</Code>');
    });
  });
});
