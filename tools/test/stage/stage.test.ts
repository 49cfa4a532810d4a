import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startAwsEndpoint } from 'local-aws/endpoint';
import { findStage } from '../../stage/find-stage.ts';
import { CONSOLE_FILE, FUNCTIONS_FILE, OUTPUTS_FILE, Workspace } from '../../stage/local-folder.ts';
import { currentSecret } from '../../stage/secret-versions.ts';
import { postSigned } from '../../stage/signed-post.ts';
import type { Stage } from '../../stage/stage.ts';
import { refusalOf } from './queues/support.ts';

/** @returns the host of a server that ends with the test */
async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const { env } = process;
afterEach(() => {
  process.env = env;
});

const QUEUE = 'https://sqs.eu-west-1.amazonaws.com/123456789012/PartnerWebhooks-prod-Quarantine1A2B';

test('a deployed stage is found by the outputs of its stack', async () => {
  const aws = await startAwsEndpoint({ port: 0 });
  const outputs = { QuarantineQueueUrl: QUEUE };
  const stack = { name: 'PartnerWebhooks-prod', id: 'prod', template: {}, resources: [] };
  aws.addStack({ ...stack, outputs: () => outputs });
  const credentials = { AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any', AWS_REGION: 'eu-west-1' };
  process.env = { ...env, ...credentials, AWS_ENDPOINT_URL_CLOUDFORMATION: aws.url };
  const stage = await findStage('prod');
  stage.close();
  expect(stage.title).toBe('stage prod in eu-west-1, account 123456789012');
  expect(stage.outputs).toEqual(outputs);
  const elsewhere = await findStage('prod', aws.url);
  elsewhere.close();
  expect(elsewhere.title).toBe(`stage prod at ${aws.url}`);
  expect(elsewhere.command('list')).toBe(`npx hookctl dlq list --stage prod --endpoint ${aws.url}`);
  expect(await elsewhere.sqs.config.endpoint?.()).toMatchObject({ port: Number(new URL(aws.url).port) });
  await expect(findStage('dev')).rejects.toThrow(
    "Stage 'dev' is not deployed in eu-west-1: there is no stack PartnerWebhooks-dev",
  );
  await aws.close();
});

test('a post without an answer ends when it is interrupted', async () => {
  const interruption = new AbortController();
  await using server = await serve(() => interruption.abort());
  const post = {
    url: `http://${server.host}/`,
    body: Buffer.of(),
    secret: 's',
    signal: interruption.signal,
  };
  await expect(postSigned(post)).rejects.toMatchObject({ name: 'AbortError' });
});

test('the id of a request that API Gateway answers itself is in a header', async () => {
  await using server = await serve((_, response) => {
    response.writeHead(404, { 'apigw-requestid': 'request-1' }).end('{"message":"Not Found"}');
  });
  const post = { url: `http://${server.host}/`, body: Buffer.of(), secret: 's' };
  const answer = { status: 404, body: { message: 'Not Found' }, requestId: 'request-1' };
  expect(await postSigned(post)).toEqual(answer);
});

test('a post is signed with the secret as the receiver reads it, and with none that it would refuse', async () => {
  const secretIn = (SecretString: string) => {
    const stage = {
      output: () => 'arn',
      secrets: { send: async () => ({ SecretString }) },
      command: () => '',
    };
    return currentSecret(stage as unknown as Stage);
  };
  expect(await secretIn('{"WEBHOOK_SECRET":"of an object"}')).toBe('of an object');
  expect(await refusalOf(secretIn('{"WEBHOOK_SECRET":123}'))).toContain('No usable secret in ');
});

describe('the folder of running stacks', () => {
  const before = process.cwd();
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-local-folder-'));
    process.chdir(folder);
  });

  afterEach(async () => {
    process.chdir(before);
    await rm(folder, { recursive: true });
  });

  const outputs = { WebhookUrl: 'http://localhost:3000' };
  const stack = { name: 'Stack', outputs, functions: new Map() };
  const other = { name: 'Other', outputs: {}, functions: new Map() };
  const console = { url: 'http://localhost:3001/', token: 'token' };
  const found = async () => JSON.parse(await readFile(OUTPUTS_FILE, 'utf8'));

  test('a running stack is found by its outputs, and leaves nothing behind', async () => {
    const workspace = await Workspace.open();
    expect(await workspace.publish(stack, console)).toBe(false);
    expect(await found()).toEqual({ Stack: outputs });
    expect(JSON.parse(await readFile(FUNCTIONS_FILE, 'utf8'))).toEqual({});
    expect((await stat(CONSOLE_FILE)).mode & 0o777).toBe(0o600);
    await workspace[Symbol.asyncDispose]();
    expect(await readdir('.local')).toEqual([]);
  });

  test('the stack that was started last is found, with its console, until it stops; then the other one', async () => {
    const first = await Workspace.open();
    await first.publish(other, { ...console, token: 'first' });
    const second = await Workspace.open();
    expect(await second.publish(stack, console)).toBe(true);
    await first.update({ ...other, name: 'Saved' });
    expect(await found()).toEqual({ Stack: outputs });
    expect(JSON.parse(await readFile(CONSOLE_FILE, 'utf8'))).toEqual(console);
    await second[Symbol.asyncDispose]();
    expect(await found()).toEqual({ Saved: {} });
    expect(JSON.parse(await readFile(CONSOLE_FILE, 'utf8'))).toMatchObject({ token: 'first' });
    await first[Symbol.asyncDispose]();
    expect(await readdir('.local')).toEqual([]);
  });

  test('files of a stack are private, also in a folder that was open to all', async () => {
    await mkdir('.local', { mode: 0o755 });
    await using workspace = await Workspace.open();
    for (const opened of ['.local', workspace.folder('.')]) {
      expect((await stat(opened)).mode & 0o777).toBe(0o700);
    }
  });

  test.each([
    { owner: 'was killed', answer: undefined, host: hostname(), isKept: false },
    { owner: 'was killed, and another has its port', answer: 'HTTP/1.1', host: hostname(), isKept: false },
    { owner: 'is suspended', answer: '', host: hostname(), isKept: true },
    { owner: 'is in a container', answer: undefined, host: 'container', isKept: true },
  ])('the folder of a process that $owner: kept is $isKept', async ({ answer, host, isKept }) => {
    const server = createTcpServer((socket) => answer && socket.end(answer)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const name = `.local/stack-${(server.address() as AddressInfo).port}-0a1b2c3d.${host}`;
    if (answer === undefined) await once(server.close(), 'close');
    await mkdir(name, { recursive: true });
    await using _workspace = await Workspace.open();
    expect(existsSync(name)).toBe(isKept);
    server.close();
  });
});
