import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { WEBHOOK_PATH } from '../../../lambda/receiver/request.ts';
import { writePartnerKit } from '../../check-sender/partner-kit.ts';

const SECRET = 'A0b1C2d3E4f5A6b7';

/** The Node.js that runs npm, and not the one among the packages. It may be as old as a partner's. */
const NODE =
  process.env.PATH?.split(delimiter)
    .filter((path) => !path.includes('node_modules'))
    .map((path) => join(path, 'node'))
    .find((file) => existsSync(file)) ?? process.execPath;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'partner-kit-'));
  writePartnerKit(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the kit has what a partner needs, and nothing else', () => {
  const files = globSync('**', { cwd: folder }).filter((file) => statSync(join(folder, file)).isFile());
  expect(files.sort()).toEqual(
    [
      'README.md',
      'check-sender.mjs',
      ...eventNames.map((event) => `events/${kebabCase(event)}.json`),
      'events/signing-vectors.json',
      'openapi.json',
      'signing/README.md',
      'signing/curl/sign-and-post.sh',
      'signing/go/go.mod',
      'signing/go/main.go',
      'signing/java/SignAndPost.java',
      'signing/node/sign-and-post.mjs',
      'signing/php/sign-and-post.php',
      'signing/python/sign_and_post.py',
      'signing/ruby/sign_and_post.rb',
    ].sort(),
  );
});

test('every link in the kit leads to a file of the kit', () => {
  for (const file of ['README.md', 'signing/README.md']) {
    const links = readFileSync(join(folder, file), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g);
    const broken = [...links].filter(([, link = '']) => !existsSync(join(folder, dirname(file), link)));
    expect(broken.map(([, link]) => `${file}: ${link}`)).toEqual([]);
  }
  expect(existsSync(join(folder, 'signing/node', '../../events/shop-updated.json'))).toBe(true);
  expect(readFileSync(join(folder, 'signing/README.md'), 'utf8')).toContain(
    ' < ../../events/shop-updated.json',
  );
});

test('a folder with files is refused', () => {
  expect(() => writePartnerKit(folder)).toThrow(`${folder} is not empty`);
});

/** Runs the checker with nothing else installed. */
function start(...args: string[]) {
  const program = spawn(NODE, ['check-sender.mjs', ...args], { cwd: folder, env: {} });
  return { program, stdout: text(program.stdout), closed: once(program, 'close') };
}

test('the checker shows its help under the name that a partner types', async () => {
  const { stdout, closed } = start('--help');
  expect(await stdout).toContain('\n  node check-sender.mjs --play 500,500,ok  ');
  expect(await closed).toEqual([0, null]);
});

test('the checker refuses an unknown option in one line, with another exit code than for a wrong request', async () => {
  const { program, closed } = start('--secrt', SECRET);
  expect(await text(program.stderr)).toBe("Unknown option '--secrt' (Did you mean --secret?)\n");
  expect(await closed).toEqual([2, null]);
});

/** Runs the checker, and posts requests to it, each signed with a secret: the right one, or another. */
async function check(args: readonly string[], secrets: readonly string[] = []) {
  const { program, stdout, closed } = start('--secret', SECRET, '--port', '0', ...args);
  const errors = text(program.stderr);
  const [welcome] = await once(program.stderr, 'data');
  const [, port] = /localhost:(\d+)/.exec(String(welcome)) ?? [];
  for (const [index, secret] of secrets.entries()) {
    const body = JSON.stringify({
      event: 'shop.updated',
      data: { shop_id: `shop-${index}` },
      timestamp: new Date(),
    });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = { 'x-webhook-signature': signature };
    await fetch(`http://127.0.0.1:${port}${WEBHOOK_PATH}`, { method: 'POST', headers, body });
  }
  const [code] = await closed;
  return { code, output: (await stdout) + (await errors) };
}

test('the checker judges a right and a wrong request', async () => {
  const { code, output } = await check(['--requests', '2'], [SECRET, `${SECRET}\n`]);
  expect(output).toMatch(/✓ .*200 queued.*shop\.updated/);
  expect(output).toMatch(/✗ .*401[\s\S]*The key is the secret with a line break/);
  expect(output).toMatch(
    /✗ 1 of 2 requests right\.\n {2}wrong {2}key-[a-z-]+ ×1\n {2}risky {2}content-type ×2\n/,
  );
  expect(code).toBe(1);
});

test.each([
  { what: 'is 0 for something risky', args: ['--requests', '1'], sent: 1, code: 0, says: 'Content-Type is' },
  {
    what: 'is 1 if fewer requests arrived before --timeout',
    args: ['--requests', '2', '--timeout', '1'],
    sent: 0,
    code: 1,
    says: 'Only 0 of 2 requests arrived.',
  },
  {
    what: 'is 1 if other deliveries came instead of repeats',
    args: ['--requests', '2', '--play', '500,ok'],
    sent: 2,
    code: 1,
    says: '2 failed deliveries',
  },
])('its exit code $what', async ({ args, sent, code, says }) => {
  const ended = await check(args, Array(sent).fill(SECRET));
  expect(ended).toEqual({ code, output: expect.stringContaining(says) });
});

test('the checker says if its own secret is a variable that was not replaced', async () => {
  const { program, closed } = start('--secret', '$WEBHOOK_SECRET', '--port', '0', '--timeout', '1');
  expect(await text(program.stderr)).toContain('looks like a variable that was not replaced');
  expect(await closed).toEqual([1, null]);
});
