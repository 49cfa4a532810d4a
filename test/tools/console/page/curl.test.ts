import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { curlCommand } from '../../../../tools/console/page/editor/curl.ts';

const request = {
  url: 'http://localhost:3000/api/v1/webhooks/partner',
  secret: 'local-webhook-secret',
  body: '{"event":"shop.updated"}',
  isUtf8: true,
  contentType: 'application/json',
};

/** What the shell hands to curl, which prints it instead of sending it. */
function run(command: string, input = ''): { signature: string; body: string; arguments: string[] } {
  const script = `curl() { printf '%s\\n' "$@"; printf 'BODY:'; cat; }\n${command}`;
  const output = execFileSync('sh', ['-c', script], { encoding: 'utf8', input });
  const [head = '', ...body] = output.split('BODY:');
  const lines = head.split('\n');
  const signature = lines.find((line) => line.startsWith('X-Webhook-Signature: '))?.slice(21) ?? '';
  return { signature, body: body.join('BODY:'), arguments: lines };
}

const sign = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('hex');

describe('a delivery as curl', () => {
  test.each([
    ['is', request.secret, request.body],
    [
      'has quotes and what a shell takes for commands',
      "it's $HOME `id` \\",
      `{"a":"it's $(id) \`id\` \\\\ \\"x\\" !!"}`,
    ],
    ['ends with line feeds', 'secret', '{"a":1}\n\n'],
    ['is not ASCII', 'gehëim', '{"a":"東京 😀"}'],
    ['begins as an option does', '-secret', '-n -e {"a":1}'],
    ['is empty', 'secret', ''],
  ])('sends and signs a body that %s', (_, secret, body) => {
    const sent = run(curlCommand({ ...request, secret, body }));
    expect(sent.body).toBe(body);
    expect(sent.signature).toBe(sign(secret, body));
    expect(sent.arguments).toContain(request.url);
  });

  test('of a stage takes the secret from the environment', () => {
    const command = curlCommand({ ...request, secret: undefined });
    expect(run(`WEBHOOK_SECRET=theirs\n${command}`).signature).toBe(sign('theirs', request.body));
  });

  test.each([
    ['has control characters', { body: 'a\u001b[2J' }],
    ['has a carriage return', { body: '{}\r\n' }],
    ['turns the direction of its text', { body: '\u202e' }],
    ['is not UTF-8', { isUtf8: false }],
    ['is not known', { body: undefined }],
    ['is long', { body: 'x'.repeat(20_000) }],
  ])('says to save a body first that %s', (_, change) => {
    const command = curlCommand({ ...request, ...change });
    expect(command).toMatch(/^# Save the body/);
    expect(command).toContain('--data-binary @body.bin');
    expect(command.length).toBeLessThan(500);
  });
});
