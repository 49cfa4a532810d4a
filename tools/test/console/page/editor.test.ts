import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { curlCommand } from '../../../console/page/editor/curl-command.ts';
import { withTimestamp } from '../../../console/page/text/format-json.ts';

describe('a delivery as curl', () => {
  const request = {
    url: 'http://localhost:3000/api/v1/webhooks/partner',
    secret: 'local-webhook-secret',
    body: '{"event":"shop.updated"}',
    isUtf8: true,
    contentType: 'application/json',
  };

  /**
   * Runs a command in a shell with a fake curl.
   * @returns the arguments and the input that curl gets
   */
  function run(command: string): { arguments: string[]; body: string } {
    const script = `curl() { printf '%s\\n' "$@"; printf 'BODY:'; cat; }\n${command}`;
    const [head = '', ...body] = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('BODY:');
    return { arguments: head.split('\n'), body: body.join('BODY:') };
  }

  const signed = (secret: string, body: string) =>
    `X-Webhook-Signature: ${createHmac('sha256', secret).update(body).digest('hex')}`;

  test.each([
    {
      what: 'has quotes and what a shell takes for commands',
      secret: "it's $HOME `id` \\",
      body: `{"a":"it's $(id) \`id\` \\\\ \\"x\\" !!"}`,
    },
    { what: 'ends with line feeds', secret: 'secret', body: '{"a":1}\n\n' },
    { what: 'is not ASCII', secret: 'gehëim', body: '{"a":"東京 😀"}' },
    { what: 'begins as an option does', secret: '-secret', body: '-n -e {"a":1}' },
  ])('sends and signs a body that $what', ({ secret, body }) => {
    const sent = run(curlCommand({ ...request, secret, body }));
    expect(sent.body).toBe(body);
    expect(sent.arguments).toEqual(expect.arrayContaining([request.url, signed(secret, body)]));
  });

  test('of a stage takes the secret from the environment', () => {
    const command = curlCommand({ ...request, secret: undefined });
    expect(run(`WEBHOOK_SECRET=theirs\n${command}`).arguments).toContain(signed('theirs', request.body));
  });

  test.each([
    { what: 'has control characters', change: { body: 'a\u001b[2J' } },
    { what: 'has a carriage return', change: { body: '{}\r\n' } },
    { what: 'turns the direction of its text', change: { body: '\u202e' } },
    { what: 'is not UTF-8', change: { isUtf8: false } },
    { what: 'is not known', change: { body: undefined } },
    { what: 'is long', change: { body: 'x'.repeat(20_000) } },
  ])('first saves a body that $what', ({ change }) => {
    const command = curlCommand({ ...request, ...change });
    expect(command).toMatch(/^# Save the body/);
    expect(command).toContain('--data-binary @body.bin');
    expect(command.length).toBeLessThan(500);
  });
});

describe('the timestamp of a text is set to now', () => {
  const now = new Date('2026-11-22T12:00:00.000Z');

  test.each([
    { what: 'a key among others', before: '{ "a" : [1, {}] ,\n "timestamp" : ', value: '"old"', after: ' }' },
    { what: 'the last of duplicate keys', before: '{"timestamp":1,"timestamp":', value: '2', after: '}' },
    { what: 'not a nested one', before: '{"data":{"timestamp":1},"timestamp":', value: '2', after: '}' },
    { what: 'a value that is an object', before: '{"timestamp":', value: '{"b":{}}', after: ',"c":1}' },
    { what: 'a key with escapes', before: '{"time\\u0073tamp":', value: '1e999', after: '}' },
    {
      what: 'beside JSON in a string',
      before: '{"a":"\\"timestamp\\":1","timestamp":',
      value: '""',
      after: '}',
    },
  ])('and nothing else changes: $what', ({ before, value, after }) => {
    expect(withTimestamp(before + value + after, now)).toBe(`${before}"${now.toISOString()}"${after}`);
  });

  test.each(['{"data":{"timestamp":1}}', '[{"timestamp":1}]', '"timestamp"', '{"timestamp":1', ''])(
    'unless it has none: %s',
    (text) => {
      expect(withTimestamp(text, now)).toBeUndefined();
    },
  );

  test('and the other values stay', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (others, value) => {
        const before = { ...others, timestamp: value };
        const after = withTimestamp(JSON.stringify(before), now) ?? '';
        const expected = { ...JSON.parse(JSON.stringify(before)), timestamp: now.toISOString() };
        expect(JSON.parse(after)).toEqual(expected);
      }),
    );
  });
});
