import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { ListSubscriptionsCommand, SNSClient } from '@aws-sdk/client-sns';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import type { LocalStack } from '../../local/local-stack.ts';
import { gatewayAssembly } from '../support/gateway-assembly.ts';
import { Queues } from '../support/queues.ts';
import { Tables } from '../support/tables.ts';
import { startTestStack } from '../support/test-stack.ts';
import { runAcceptance } from './run-acceptance.ts';

/** In milliseconds: the suite starts a test runner of its own. */
const PATIENCE = 300_000;

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

/** @returns the file's path */
async function write(content: unknown): Promise<string> {
  const file = join(folder, 'outputs.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** All that a suite could have left: rows, messages, payloads, queues and subscriptions of its own. */
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
  async function passes(accepted: LocalStack): Promise<void> {
    const file = await write({ [accepted.name]: accepted.outputs });
    const { code, output } = await runAcceptance(['--outputs', file], settingsFor(accepted));
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    expect(output).toMatch(
      new RegExp(`acceptance-\\w+ passed: ${accepted.name} in us-east-1 .*${accepted.outputs.WebhookUrl}\n$`),
    );
    expect(await left(accepted)).toEqual(nothing);
  }

  test('passes, says what it was run against, and leaves nothing behind', () => passes(stack), PATIENCE);

  test(
    'does so behind a REST API, too',
    async () => {
      const other = await startTestStack({ assembly: await gatewayAssembly('rest') });
      try {
        await passes(other);
      } finally {
        await other.close();
      }
    },
    PATIENCE,
  );

  test(
    'does not look for an archive where the stage keeps none',
    async () => {
      const { ArchiveBucket: _, ShopUpdatedArchiveStream: __, ...outputs } = stack.outputs;
      const file = await write({ [stack.name]: outputs });
      const { code, output } = await runAcceptance(['--outputs', file], settings);
      expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
      expect(output).toMatch(/Tests: +3 skipped/);
    },
    PATIENCE,
  );

  test(
    'fails where an effect fails, and leaves nothing behind then, either',
    async () => {
      // The review topic's subscriber waits at the chat topic: no review notification ever comes.
      const file = await write({
        [stack.name]: { ...stack.outputs, ReviewTopicArn: stack.outputs.ChatTopicArn },
      });
      const { code, output } = await runAcceptance(['--outputs', file, '--wait', '5'], settings);
      expect(output).toContain('review.posted › sends a review notification');
      // The one about review.posted, and the samples of all that tell of reviews.
      const failed = 1 + eventNames.filter((event) => catalogue[event].effect === 'review').length;
      expect(output).toMatch(new RegExp(`Tests: +${failed} failed`));
      expect({ code, left: await left(stack) }).toEqual({ code: 1, left: nothing });
    },
    PATIENCE,
  );
});

describe('npm run acceptance refuses', () => {
  const refuse = async (args: readonly string[], env: Record<string, string>, line: string | RegExp) => {
    const { code, output } = await runAcceptance(args, env);
    expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(line) });
    expect(output.trimEnd()).not.toContain('\n');
  };

  test('an option that it does not know', () => refuse(['--stage', 'dev'], settings, /--stage/));
  test('a wait that is no number', () =>
    refuse(
      ['--outputs', 'none.json', '--wait', 'long'],
      settings,
      /^Option '--wait <seconds>' argument 'long' is invalid\. It must be a whole number from 1 to 999\./,
    ));
  test('a file that is not there', () =>
    refuse(['--outputs', 'none.json'], settings, /^No file none.json\. Write it with/));

  test.each([
    ['not JSON', '{', /outputs.json is not JSON/],
    ['another thing', '{"WebhookUrl":"http://localhost"}', /not in the form that cdk deploy/],
    ['the outputs of no stack', '{}', /outputs of one stack, not of 0/],
    ['the outputs of two stacks', '{"one":{},"two":{}}', /outputs of one stack, not of 2/],
  ])('a file that holds %s', async (_, content, line) => {
    await refuse(['--outputs', await write(content)], settings, line);
  });

  test('outputs of which some are missing, and names all of them', async () => {
    const { CastTable: _, PayloadBucket: __, ...outputs } = stack.outputs;
    const file = await write({ [stack.name]: { ...outputs, ChatTopicArn: '' } });
    const line = new RegExp(`lacks outputs of ${stack.name}: CastTable, ChatTopicArn, PayloadBucket\n$`);
    await refuse(['--outputs', file], settings, line);
  });

  test('to go without a region', async () => {
    const { AWS_REGION: _, ...others } = settings;
    const file = await write({ [stack.name]: stack.outputs });
    await refuse(['--outputs', file], others, /^No AWS region\. Set AWS_REGION/);
  });

  test('to go without credentials', async () => {
    const { AWS_ACCESS_KEY_ID: _, ...others } = settings;
    const file = await write({ [stack.name]: stack.outputs });
    await refuse(['--outputs', file], others, /^No AWS credentials\. Set AWS_PROFILE/);
  });

  test('a secret that it cannot read', async () => {
    const file = await write({ [stack.name]: { ...stack.outputs, WebhookSecretArn: 'another' } });
    await refuse(['--outputs', file], settings, /^Cannot read the secret another \(WebhookSecretArn\)/);
  });
});

test('npm run acceptance -- --help says what it does to the stack', async () => {
  const { code, output } = await runAcceptance(['--help']);
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('is removed at the') });
});

test('the acceptance suite knows nothing of the code that it accepts', () => {
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
