import { execFile, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ANSWER_WAIT_SECONDS } from '../../tools/partner/check-sender/repeats.ts';
import { eventually } from '../support/eventually.ts';
import { Partner } from '../support/partner.ts';
import { type SharedStack, sharedStack } from '../support/shared-stack.ts';
import { bodyOf, signingVectors } from '../support/signing-vectors.ts';
import { Tables } from '../support/tables.ts';
import { TEST_SECRET } from '../support/test-stack.ts';

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

let stack: SharedStack;
beforeAll(async () => {
  stack = await sharedStack();
});

test('each signature that it shows is accepted of a test vector', () => {
  const [, body = ''] = /^Signatures for the body `(.+)`, without/m.exec(section('Sign')) ?? [];
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

describe('what it says of fields', () => {
  const post = (event: string, data: object, more: object = {}) =>
    new Partner(stack.outputs.WebhookUrl).post({ event, data, timestamp: new Date().toISOString(), ...more });
  const row = (output: string, key: Record<string, string>, version: unknown) =>
    eventually(async () => {
      const found = await new Tables(stack.operator).get(stack.outputs[output], key);
      return String(found?.version).endsWith(`#${version}`) ? found : undefined;
    });
  const fields = {
    shop_id: 'shop-1',
    display_name: 'Sora',
    profile_image_url: 'https://images.example.com/1',
  };

  test.each<[string, object]>([
    ['leaves out', {}],
    ['empties by ""', { shop_id: '', name: '' }],
  ])('girl.created replaces the whole record: no field stays that it %s', async (_, second) => {
    const key = { girl_id: JSON.stringify(second) };
    const first = await post('girl.created', { ...key, shop_id: 'shop-1', name: 'Yuki' });
    expect(await row('CastTable', key, first.body.eventId)).toMatchObject({ name: 'Yuki' });
    const { body } = await post('girl.created', { ...key, ...second });
    const replaced = await row('CastTable', key, body.eventId);
    expect([replaced.name, replaced.shop_id]).toEqual([undefined, undefined]);
  });

  test('user.updated merges field by field, and "" empties a field', async () => {
    const key = { user_id: 'user-1' };
    const first = await post('user.updated', { ...key, ...fields });
    expect(await row('ContactPartnerTable', key, first.body.eventId)).toMatchObject(fields);
    const { body } = await post('user.updated', { ...key, display_name: '' });
    const merged = await row('ContactPartnerTable', key, body.eventId);
    expect(merged).toMatchObject({ ...fields, display_name: '' });
  });

  test.each([
    ['shop.updated', { shop_id: 'shop-1', name: null }, 400],
    ['user.updated', { user_id: 'user-1', shop_id: null }, 400],
    ['girl.created', { girl_id: null }, 400],
    ['girl.created', { girl_id: 'girl-1', name: null }, 200],
    ['review.posted', { rating: null }, 200],
  ])('null in %s is refused or counts as absent: %j', async (event, data, status) => {
    expect((await post(event, data)).status).toBe(status);
  });

  test.each([
    ['2001-01-31T09:00:00Z', 200],
    ['2026-01-31t09:00:00z', 400],
    ['2026-01-31T09:00Z', 400],
  ])('a timestamp has capitals and seconds, and any age: %s', async (timestamp, status) => {
    expect((await post('review.posted', {}, { timestamp })).status).toBe(status);
  });

  test('a charset may follow the content type', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const event = { event: 'review.posted', data: { name: 'Zoë' }, timestamp: '2026-01-31T09:00:00Z' };
    expect((await new Partner(stack.outputs.WebhookUrl).post(event, { headers })).status).toBe(200);
  });
});

test('the time to wait for an answer is the same in every text and sample', () => {
  for (const file of ['docs/partner.md', 'docs/api/openapi.json', 'examples/signing/README.md']) {
    const times = readFileSync(file, 'utf8').matchAll(
      /[Ww]aits? (\d+) s(?:econds)? (?:for (?:an|the) answer|in all)/g,
    );
    expect([file, [...new Set([...times].map(([, time]) => time))]]).toEqual([
      file,
      [`${ANSWER_WAIT_SECONDS}`],
    ]);
  }
  const samples = globSync('examples/signing/*/**/*sign*and*post*.{sh,mjs,py,php,rb,ts}');
  expect(samples).toHaveLength(6);
  const timeout = new RegExp(`timeout\\b.*\\b${ANSWER_WAIT_SECONDS}(_?000)?\\b`, 'i');
  for (const file of samples) expect(readFileSync(file, 'utf8')).toMatch(timeout);
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
