import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { pairs } from '../../../local/gateway/http-message.ts';
import { sendAgain } from '../../../tools/console/server/sending.ts';
import { Stage } from '../../../tools/stage/stage.ts';

test('what came through a tunnel is sent again as the partner sent it, without what the tunnel added', async () => {
  let got: readonly (readonly [string, string])[] = [];
  const server = createServer((request, response) => {
    got = pairs(request.rawHeaders);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const stack = new Stage('the local stack', {
      WebhookUrl: `http://${host}/hook`,
      QuarantineQueueUrl: `http://${host}/000000000000/quarantine`,
    });
    const operation = { stack, say: () => {}, signal: new AbortController().signal, width: 80 };
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
    const request = { method: 'POST', path: '/hook', headers: [...ofPartner, ...ofTunnel], bytes: 2 };
    await sendAgain(operation, request, Buffer.from('{}'));
    expect(got).toEqual([['host', host], ...ofPartner, ['content-length', '2'], ['connection', 'close']]);
  } finally {
    server.close();
  }
});
