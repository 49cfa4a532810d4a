import { signatureOf } from '../../../events/signing.ts';
import { httpApiEvent } from '../../../local/gateway/gateway-events.ts';

/** The webhook secret of all measurements. */
export const SECRET = 'secret-of-the-bench';

/** A valid delivery, in the form that an HTTP API passes to a function. @param number each number gives other bytes */
export function delivery(number = 0) {
  const body = JSON.stringify({
    event: 'user.updated',
    data: {
      user_id: `user-${number}`,
      shop_id: 'shop-1',
      display_name: 'Sora',
      profile_image_url: 'https://example.com/a.png',
    },
    timestamp: new Date().toISOString(),
  });
  return httpApiEvent(
    {
      method: 'POST',
      path: '/api/v1/webhooks/partner',
      headers: [
        ['content-type', 'application/json'],
        ['x-webhook-signature', signatureOf({ body: Buffer.from(body), secret: SECRET })],
      ],
      body,
      isBase64Encoded: false,
      sourceIp: '192.0.2.1',
      receivedAt: new Date(),
      requestId: `request-${number}`,
    },
    { accountId: '000000000000', apiId: 'api', domainName: 'api.execute-api.us-east-1.amazonaws.com' },
  );
}
