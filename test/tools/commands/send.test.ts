import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../local/local-stack.ts';
import { startTestStack } from '../../support/test-stack.ts';
import { Project } from './project.ts';

let project: Project;
let stack: LocalStack;

beforeAll(async () => {
  project = await Project.create();
  stack = await startTestStack();
  await mkdir(project.path('.local'));
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

test('send --same-headers is for --again, and needs the console of the local stack', async () => {
  const refused = (line: string) => ({ code: 1, stdout: '', stderr: `${line}\n` });
  expect(await send('--same-headers')).toEqual(
    refused('--same-headers is for --again, without --bad-signature'),
  );
  expect(await project.run(['send', '--again', 'request-1', '--same-headers'])).toEqual(
    refused('--same-headers needs the console of the local stack: npm start'),
  );
});
