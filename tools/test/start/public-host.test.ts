import { describe, expect, test } from '@jest/globals';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { assertOwnSecret, publicHost } from '../../start/public-host.ts';
import { welcome } from '../../start/welcome.ts';

describe('--public-host', () => {
  test('can be repeated, in lower case, and may be the address of the far end of ssh -R', () => {
    expect(publicHost('Mac.Tailnet.ts.net', publicHost('203.0.113.5'))).toEqual([
      '203.0.113.5',
      'mac.tailnet.ts.net',
    ]);
  });

  test.each([
    'https://abc.trycloudflare.com',
    'abc.trycloudflare.com:443',
    '*.trycloudflare.com',
    'tunnel',
    'abc.example.',
    `${'a'.repeat(250)}.example`,
  ])('cannot be %j', (text) => {
    expect(() => publicHost(text)).toThrow('It must be the name alone');
  });

  test.each([LOCAL_SECRET, ` ${LOCAL_SECRET}\n`, JSON.stringify({ WEBHOOK_SECRET: LOCAL_SECRET })])(
    'is refused with the secret %j',
    (secret) => {
      expect(() => assertOwnSecret(['abc.example'], secret)).toThrow(
        'Set your own --secret: local-webhook-secret is known to everybody',
      );
    },
  );

  test('is accepted with another secret, and the default secret without it', () => {
    expect(() => assertOwnSecret(['abc.example'], 'own')).not.toThrow();
    expect(() => assertOwnSecret(['abc.example'], `own-${LOCAL_SECRET}`)).not.toThrow();
    expect(() => assertOwnSecret(['abc.example'], JSON.stringify({ other: LOCAL_SECRET }))).not.toThrow();
    expect(() => assertOwnSecret([], LOCAL_SECRET)).not.toThrow();
  });

  test('is printed when the stack is ready', () => {
    const operator = {
      endpoint: '',
      region: 'us-east-1',
      credentials: { accessKeyId: '', secretAccessKey: '' },
    };
    const about = { consoleUrl: undefined, secret: 'own', retryFast: false, milliseconds: 1 };
    const saying = (publicHosts: readonly string[]) =>
      welcome({ outputs: {}, awsUrl: '', operator }, { ...about, publicHosts });
    expect(saying(['abc.example'])).toContain('https://abc.example/api/v1/webhooks/partner\n  Secret');
    expect(saying([])).not.toContain('https://');
  });
});
