import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { pairs } from '../../../local/gateway/http-message.ts';
import { postRecorded, postSigned } from '../../../tools/stage/signed-post.ts';

/** @returns the host of a server that ends with the test */
async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test('a post that nobody answers ends when it is interrupted', async () => {
  const interruption = new AbortController();
  await using server = await serve(() => interruption.abort());
  const post = {
    url: `http://${server.host}/`,
    body: Buffer.of(),
    secret: 's',
    signal: interruption.signal,
  };
  await expect(postSigned(post)).rejects.toMatchObject({ name: 'AbortError' });
});

test('what came through a tunnel is posted again as the partner sent it, without what the tunnel added', async () => {
  let got: readonly (readonly [string, string])[] = [];
  await using server = await serve((request, response) => {
    got = pairs(request.rawHeaders);
    response.setHeader('apigw-requestid', 'request-1').end('{}');
  });
  const ofPartner = [
    ['User-Agent', 'Partner/1'],
    ['X-Webhook-Signature', 'any'],
  ] as const;
  const ofTunnel = [
    ['Host', 'abc.trycloudflare.com'],
    ['Content-Length', '2'],
    ['Cf-Ray', 'any'],
    ['CDN-Loop', 'cloudflare'],
    ['X-Forwarded-For', '192.0.2.1'],
  ] as const;
  const request = { method: 'POST', path: '/hook', headers: [...ofPartner, ...ofTunnel] };
  const post = { url: `http://${server.host}/hook`, body: Buffer.from('{}') };
  expect(await postRecorded(request, post)).toEqual({ status: 200, body: '{}', requestId: 'request-1' });
  expect(got).toEqual([
    ['host', server.host],
    ...ofPartner,
    ['content-length', '2'],
    ['connection', 'close'],
  ]);
});
