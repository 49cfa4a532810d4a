import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../local/local-stack.ts';
import { Partner } from '../support/partner.ts';
import { bodyOf, signingVectors } from '../support/signing-vectors.ts';
import { startTestStack, TEST_SECRET } from '../support/test-stack.ts';

const run = promisify(execFile);
const document = readFileSync('docs/partner.md', 'utf8');

function section(title: string): string {
  const [, text] = document.split(`\n## ${title}\n`);
  if (text === undefined) throw new Error(`docs/partner.md has no section ${title}`);
  return text.split('\n## ')[0] ?? '';
}

/** The fenced blocks of a language in a section. */
const blocks = (title: string, language: string) =>
  [...section(title).matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(
    ([, text = '']) => text,
  );

let stack: LocalStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

test('each signature that it shows is accepted of a test vector', () => {
  const [, body = ''] = /^Of `(.+)`, without/m.exec(section('Sign')) ?? [];
  const rows = [...section('Sign').matchAll(/^\| `([^`]+)` \| `([^`]+)` \|$/gm)];
  expect(rows).toHaveLength(3);
  for (const [, secret, signature] of rows) {
    const vector = signingVectors.vectors.find(
      (one) => one.secret === secret && bodyOf(one).toString() === body,
    );
    expect(Object.values(vector?.accepted ?? {})).toContain(signature);
  }
});

describe('the answers that it shows', () => {
  test('to an event of no use is the one that such an event gets', async () => {
    const [, shown = ''] = blocks('Answers', 'json');
    const answer = await new Partner(stack.outputs.WebhookUrl).post({
      event: 'shop.updated',
      data: { shop_id: 'shop-1' },
      timestamp: '2026-01-31T09:00:00',
    });
    expect({ ...JSON.parse(shown), requestId: answer.body.requestId }).toEqual(answer.body);
  });

  test('to an accepted one has the fields of such an answer', async () => {
    const [shown = ''] = blocks('Answers', 'json');
    const answer = await new Partner(stack.outputs.WebhookUrl).post({
      event: 'shop.updated',
      data: { shop_id: 'shop-1' },
      timestamp: '2026-01-31T09:00:00Z',
    });
    expect(Object.keys(JSON.parse(shown))).toEqual(Object.keys(answer.body));
    expect(JSON.parse(shown).status).toBe(answer.body.status);
  });
});

// CI has these; the product needs none of them.
const hasTools = spawnSync('bash', ['-c', 'command -v openssl && command -v curl']).status === 0;

(hasTools ? describe : describe.skip)('the first event, pasted into bash', () => {
  const paste = async (secret: string) => {
    const [commands = ''] = blocks('Your first event', 'bash');
    const filled = commands
      .replace("'the secret from us'", `'${secret}'`)
      .replace("'the address from us'", `'${stack.outputs.WebhookUrl}'`);
    return (await run('bash', ['-c', filled])).stdout;
  };

  test('is queued', async () => {
    const answer = await paste(TEST_SECRET);
    expect(answer).toContain('200 OK');
    expect(answer).toContain('"status":"queued"');
  });

  test('is refused with another secret', async () => {
    expect(await paste('another')).toContain('401 Unauthorized');
  });
});
