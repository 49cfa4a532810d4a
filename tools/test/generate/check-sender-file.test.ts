import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';

const SECRET = 'A0b1C2d3E4f5A6b7';

/** The Node.js that runs npm, and not the one among the packages. It may be as old as a partner's. */
const NODE =
  process.env.PATH?.split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find((file) => existsSync(file)) ?? process.execPath;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-sender-'));
  copyFileSync('docs/api/check-sender.mjs', join(folder, 'check-sender.mjs'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the generated file alone in a folder. */
function start(...args: string[]) {
  const program = spawn(NODE, ['check-sender.mjs', ...args], { cwd: folder, env: {} });
  return { program, stdout: text(program.stdout), closed: once(program, 'close') };
}

test('the file for partners shows its help without anything installed', async () => {
  const { stdout, closed } = start('--help');
  expect(await stdout).toContain('\n  node check-sender.mjs --play 500,500,ok  ');
  expect(await closed).toEqual([0, null]);
});

test('the file for partners checks a right and a wrong request', async () => {
  const { program, stdout, closed } = start('--secret', SECRET, '--port', '0', '--requests', '2');
  const [welcome] = await once(program.stderr, 'data');
  const [, port] = /localhost:(\d+)/.exec(String(welcome)) ?? [];
  const body = JSON.stringify({ event: 'shop.updated', data: { shop_id: 'x' }, timestamp: new Date() });
  for (const secret of [SECRET, `${SECRET}\n`]) {
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-webhook-signature': signature };
    await fetch(`http://127.0.0.1:${port}${WEBHOOK_PATH}`, { method: 'POST', headers, body });
  }
  const output = await stdout;
  expect(output).toMatch(/✓ accepted.*200 queued.*shop\.updated/);
  expect(output).toMatch(/✗ rejected.*401[\s\S]*The key is the secret followed by a line break/);
  expect(await closed).toEqual([1, null]);
});
