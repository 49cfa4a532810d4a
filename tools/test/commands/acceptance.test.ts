import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { ListSubscriptionsCommand, SNSClient } from '@aws-sdk/client-sns';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { variable } from '../../../test/acceptance/target.ts';
import { Queues } from '../../../test/support/queues.ts';
import { Tables } from '../../../test/support/tables.ts';
import { startTestStack } from '../../../test/support/test-stack.ts';
import { JEST } from '../../terminal/run-program.ts';
import { freePort, Project, refusal } from './project.ts';

let stack: LocalStack;
let settings: Record<string, string>;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-acceptance-'));
  stack = await startTestStack();
  settings = settingsFor(stack);
});
afterAll(async () => {
  await stack?.close();
  await rm(folder, { recursive: true });
});

const settingsFor = ({ operator }: LocalStack) => ({
  AWS_ENDPOINT_URL: operator.endpoint,
  AWS_REGION: operator.region,
  AWS_ACCESS_KEY_ID: operator.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: operator.credentials.secretAccessKey,
});

/**
 * Runs Node.js in a shell with only the given AWS settings.
 * @returns its exit code and all of its output
 */
async function runNode(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      // An empty home and these variables disable credential files, and credentials of a server's metadata endpoint.
      HOME: '/nonexistent',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...settings,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

async function write(content: unknown): Promise<string> {
  const file = join(folder, 'outputs.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/**
 * Everything that the suite could leave behind: items, messages, payloads, its own queues and subscriptions.
 */
async function left({ operator, outputs }: LocalStack): Promise<unknown> {
  const tables = new Tables(operator);
  const queues = new Queues(operator);
  const s3 = new S3Client({ ...operator, forcePathStyle: true });
  const queueUrls = Object.keys(outputs).flatMap((name) => (/QueueUrl$/.test(name) ? [outputs[name]] : []));
  const { QueueUrls = [] } = await queues.client.send(new ListQueuesCommand({}));
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: outputs.PayloadBucket }));
  const { Subscriptions } = await new SNSClient(operator).send(new ListSubscriptionsCommand({}));
  const ofTables = [outputs.ShopCacheTable, outputs.CastTable, outputs.ContactPartnerTable];
  return {
    rows: (await Promise.all(ofTables.map((table) => tables.scan(table)))).flat(),
    messages: (await Promise.all(queueUrls.map((url) => queues.count(url)))).filter((count) => count > 0),
    payloads: Contents,
    queues: QueueUrls.filter((url) => url.includes('acceptance')),
    subscriptions: Subscriptions,
  };
}

const nothing = { rows: [], messages: [], payloads: [], queues: [], subscriptions: [] };

describe('the acceptance suite', () => {
  // Takes 10 s: runs the whole suite in a Jest process of its own.
  test('passes against the stack that npm start runs, whatever AWS settings the shell has', async () => {
    // Copied, because Jest finds no tests behind a symbolic link.
    const project = await Project.create({ copied: ['test'] });
    try {
      await writeFile(project.path('.local/outputs.json'), JSON.stringify({ [stack.name]: stack.outputs }));
      const elsewhere = { AWS_PROFILE: 'production', AWS_REGION: 'eu-central-1' };
      const { code, stdout, stderr } = await project.run(['acceptance'], elsewhere);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(
        `passed: ${stack.name} in us-east-1 at ${stack.awsUrl}, ${stack.outputs.WebhookUrl}`,
      );
      expect(await left(stack)).toEqual(nothing);
    } finally {
      await project.remove();
    }
  });

  test('skips the archive if the stage has none, fails if an effect fails, and still leaves nothing behind', async () => {
    const { ArchiveBucket: _, ShopUpdatedArchiveStream: __, ...outputs } = stack.outputs;
    // With the topics swapped, the subscriber of review notifications never receives one.
    const swapped = { ...outputs, ReviewTopicArn: stack.outputs.ChatTopicArn };
    const { code, output } = await runSuite({ [stack.name]: swapped });
    expect(output).toContain('● review.posted › sends a review notification');
    expect(output).toMatch(/Tests: +1 failed, \d+ skipped, \d+ total/);
    expect({ code, left: await left(stack) }).toEqual({ code: 1, left: nothing });
  });

  /** Runs the tests of one effect and of the archive. */
  async function runSuite(outputs: object) {
    const files = ['archive', 'effects'].map((name) => `test/acceptance/${name}.test.ts`);
    const tests = ['-t', '^(review.posted|.*archive)'];
    const args = [...JEST, '--config=test/acceptance/jest.config.js', ...files, ...tests];
    const suite = {
      [variable.outputs]: await write(outputs),
      [variable.run]: 'acceptance-failing',
      [variable.wait]: '3',
    };
    return runNode(args, { ...settings, ...suite });
  }
});

describe('npx hookctl acceptance refuses', () => {
  let project: Project;
  beforeAll(async () => {
    project = await Project.create();
  });
  afterAll(() => project.remove());

  /** Settings that disable the developer's own AWS configuration. */
  const nobody = { AWS_PROFILE: '', AWS_CONFIG_FILE: 'none', AWS_SHARED_CREDENTIALS_FILE: 'none' };
  const refuse = async (args: readonly string[], line: unknown, environment = {}) =>
    expect(await project.type(['acceptance', ...args], { ...nobody, ...settings, ...environment })).toEqual(
      refusal(line),
    );

  test.each([
    { content: '{', line: /^\S+outputs.json is not JSON\n$/ },
    { content: '{"WebhookUrl":"http://localhost"}', line: /not in the form that cdk deploy.*\n$/ },
    { content: '{"one":{},"two":{}}', line: /outputs of one stack, not of 2\n$/ },
  ])('a file that holds $content', async ({ content, line }) => {
    await refuse(['--outputs', await write(content)], expect.stringMatching(line));
  });

  test('a missing file', () =>
    refuse(['--outputs', 'none.json'], expect.stringMatching(/^No file none.json\. Write it with.*\n$/)));

  test('incomplete outputs, and names all missing ones', async () => {
    const { CastTable: _, PayloadBucket: __, ...outputs } = stack.outputs;
    const file = await write({ [stack.name]: { ...outputs, ChatTopicArn: '' } });
    await refuse(
      ['--outputs', file],
      `${file} lacks outputs of ${stack.name}: CastTable, ChatTopicArn, PayloadBucket`,
    );
  });

  test('to run without a region or credentials', async () => {
    const file = await write({ [stack.name]: stack.outputs });
    const noRegion = expect.stringMatching(/^No AWS region\. Set AWS_REGION.*\n$/);
    await refuse(['--outputs', file], noRegion, { AWS_REGION: '' });
    const noCredentials = expect.stringMatching(/^No AWS credentials\. Set AWS_PROFILE.*\n$/);
    const none = { AWS_ACCESS_KEY_ID: '', AWS_EC2_METADATA_DISABLED: 'true' };
    await refuse(['--outputs', file], noCredentials, none);
  });

  test('a secret that it cannot read', async () => {
    const file = await write({ [stack.name]: { ...stack.outputs, WebhookSecretArn: 'another' } });
    const line = expect.stringMatching(/^Cannot read the secret another \(WebhookSecretArn\).*\n$/);
    await refuse(['--outputs', file], line);
  });

  test('to run if no local stack runs, or one was killed', async () => {
    const notRunning = 'The local stack is not running. Start it with: npm start';
    expect(await project.type(['acceptance'])).toEqual(
      refusal(`${notRunning}. Or name a deployed stack: --outputs FILE`),
    );
    const outputs = { ...stack.outputs, QuarantineQueueUrl: `http://localhost:${await freePort()}/queue` };
    await writeFile(project.path('.local/outputs.json'), JSON.stringify({ [stack.name]: outputs }));
    // In a process of its own: Jest's modules have another `Error` than Node.js, which the SDK wraps.
    expect(await project.run(['acceptance'])).toEqual(refusal(notRunning));
    await rm(project.path('.local/outputs.json'));
  });
});

test('the acceptance suite imports nothing of the code that it tests', () => {
  const seen = new Set<string>();
  const follow = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const imported = [...readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)];
    for (const [, path = ''] of imported) follow(join(dirname(file), path));
  };
  for (const name of readdirSync('test/acceptance')) follow(join('test/acceptance', name));
  const folders = new Set([...seen].map((file) => dirname(file)));
  expect(folders).toEqual(new Set(['test/acceptance', 'test/support', '.']));
});
