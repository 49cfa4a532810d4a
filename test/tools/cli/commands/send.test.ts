import { readFile, writeFile } from 'node:fs/promises';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { eventually } from '../../../support/eventually.ts';
import { Partner } from '../../../support/partner.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { startTestConsole } from '../../console/support.ts';
import { Project } from './project.ts';

let project: Project;
let stack: LocalStack;

beforeAll(async () => {
  project = await Project.create();
  stack = await startTestStack();
  await writeFile(project.path('.local/outputs.json'), JSON.stringify({ [stack.name]: stack.outputs }));
});
afterAll(async () => {
  await stack.close();
  await project.remove();
});

const accepted = { code: 0, stdout: expect.stringMatching(/^200 queued /), stderr: '' };
const send = (...args: string[]) => project.run(['send', 'shop.updated', ...args]);

test('send signs with the secret that the local stack was started with', async () => {
  expect(await send()).toEqual(accepted);
});

test('send --url signs with that secret, too, and takes an address without http:// and path', async () => {
  expect(await send('--url', new URL(stack.outputs.WebhookUrl ?? '').host)).toEqual(accepted);
});

test('send signs with the new secret after a rotation', async () => {
  const rotation = { SecretId: stack.outputs.WebhookSecretArn, SecretString: 'rotated' };
  await new SecretsManagerClient(stack.operator).send(new PutSecretValueCommand(rotation));
  const rejected = { code: 1, stdout: expect.stringMatching(/^401 /), stderr: '' };
  expect(await send()).toEqual(accepted);
  expect(await send('--secret', 'another')).toEqual(rejected);
});

/** Runs send with a text on its standard input. */
function sendInput(text: string, ...args: string[]) {
  const { process, ended } = project.start(['send', ...args]);
  process.stdin?.end(text);
  return ended;
}

test('send --file - signs what it reads from standard input', async () => {
  const sample = await readFile('events/shop-updated.json', 'utf8');
  const sent = await sendInput(sample, '--file', '-', '--secret', 'rotated', '--count', '2');
  expect(sent).toEqual({ code: 0, stdout: expect.stringMatching(/^200 queued .*\n200 queued /), stderr: '' });
  expect(await sendInput('no JSON', '--file', '-')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^400 /),
  });
});

test('Ctrl-C ends a send of many deliveries', async () => {
  const sending = project.start(['send', 'shop.updated', '--secret', 'rotated', '--count', '100000']);
  await eventually(async () => sending.stdout().includes('200 queued') || undefined);
  sending.interrupt();
  expect(await sending.ended).toMatchObject({ code: 130, stderr: '' });
});

describe('send --again --same-headers', () => {
  const again = (id: string) => project.run(['send', '--again', id, '--same-headers']);
  const refused = (line: string) => ({ code: 1, stdout: '', stderr: `${line}\n` });

  test('is refused without --again, and without the console of the local stack', async () => {
    expect(await send('--same-headers')).toEqual(
      refused('--same-headers is for --again, without --bad-signature'),
    );
    expect(await again('request-1')).toEqual(
      refused('--same-headers needs the console of the local stack: npm start'),
    );
  });

  test('posts a delivery as that console has it, with its headers and signature', async () => {
    await using running = await startTestConsole();
    const { source, stack } = running;
    await writeFile(project.path('.local/outputs.json'), JSON.stringify({ [stack.name]: stack.outputs }));
    await writeFile(project.path('.local/console.json'), JSON.stringify({ url: running.console.url }));
    const headers = { 'X-Partner-Trace': 'trace-1' };
    const { body } = await new Partner(stack.outputs.WebhookUrl).post('{}', { signature: 'wrong', headers });
    expect(await again(String(body.requestId))).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^Sending request \S+ \(2 bytes\) again\.\n401 /),
      stderr: '',
    });
    const { deliveries } = source.store.list({});
    expect(deliveries).toHaveLength(2);
    for (const delivery of deliveries) {
      const request = await source.request(delivery);
      const own = request.headers.filter(([name]) => /^x-/i.test(name)).map(([, value]) => value);
      expect(own.toSorted()).toEqual(['trace-1', 'wrong']);
    }
    expect(await again('request-1')).toEqual(
      refused('The console of the local stack has no delivery request-1. Give the id of its request'),
    );
  });
});
