import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { ListSubscriptionsCommand, SNSClient } from '@aws-sdk/client-sns';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { Queues } from '../../../test/support/queues.ts';
import { Tables } from '../../../test/support/tables.ts';
import { startTestStack } from '../../../test/support/test-stack.ts';
import { freePort, Project, refusal } from './project.ts';

let stack: LocalStack;
let settings: Record<string, string>;
let project: Project;
beforeAll(async () => {
  stack = await startTestStack();
  const { endpoint, region, credentials } = stack.operator;
  settings = {
    // These disable the developer's own AWS configuration.
    ...{ AWS_PROFILE: '', AWS_CONFIG_FILE: 'none', AWS_SHARED_CREDENTIALS_FILE: 'none' },
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  // Copied, because Jest finds no tests behind a symbolic link.
  project = await Project.create('test');
});
afterAll(async () => {
  await stack?.close();
  await project?.remove();
});

/** Writes the file of `--outputs`. @returns its name in the project */
async function write(content: unknown, name = 'outputs.json'): Promise<string> {
  await writeFile(project.path(name), JSON.stringify(content));
  return name;
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

// Takes 10 s: runs the whole suite in a Jest process of its own.
test('the acceptance suite passes against the stack that npm start runs, whatever AWS settings the shell has', async () => {
  await write({ [stack.name]: stack.outputs }, '.local/outputs.json');
  const elsewhere = { AWS_PROFILE: 'production', AWS_REGION: 'eu-central-1' };
  const { code, stdout, stderr } = await project.run(['acceptance'], elsewhere);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(
    `passed: ${stack.name} in us-east-1 at ${stack.operator.endpoint}, ${stack.outputs.WebhookUrl}`,
  );
  expect(await left(stack)).toEqual(nothing);
  await rm(project.path('.local/outputs.json'));
});

describe('npx hookctl acceptance refuses', () => {
  const refuse = async (args: readonly string[], line: unknown, environment = {}) =>
    expect(await project.type(['acceptance', ...args], { ...settings, ...environment })).toEqual(
      refusal(line),
    );

  test.each([
    ['{', /^outputs.json is not JSON\n$/],
    ['{"WebhookUrl":"http://localhost"}', /not in the form that cdk deploy.*\n$/],
    ['{"one":{},"two":{}}', /outputs of one stack, not of 2\n$/],
  ])('a file that holds %s', async (content, line) => {
    await writeFile(project.path('outputs.json'), content);
    await refuse(['--outputs', 'outputs.json'], expect.stringMatching(line));
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
    const noRegion = expect.stringMatching(/^AWS needs a region \(set AWS_REGION.*\n$/);
    await refuse(['--outputs', file], noRegion, { AWS_REGION: '' });
    const noCredentials = expect.stringMatching(/^AWS needs credentials .*\n$/);
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
    await write({ [stack.name]: outputs }, '.local/outputs.json');
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
