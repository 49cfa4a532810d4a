import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Partner } from '../support/partner.ts';
import { type SharedStack, sharedStack } from '../support/shared-stack.ts';

const run = promisify(execFile);
const runbook = readFileSync('docs/operations.md', 'utf8');
const [stagePrelude = '', localPrelude = ''] = [...runbook.matchAll(/```bash\n(.*?)```/gs)].map(
  ([, text = '']) => text,
);

let stack: SharedStack;
let folder: string;
beforeAll(async () => {
  stack = await sharedStack();
  folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-runbook-'));
  mkdirSync(join(folder, '.local'));
  writeFileSync(join(folder, '.local/outputs.json'), JSON.stringify({ [stack.name]: stack.outputs }));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
});

/** What commands print in a shell that the prelude was pasted into. */
async function typed(prelude: string, commands: string) {
  const script = `${prelude}\n${commands}`;
  const { stdout, stderr } = await run('bash', ['--norc', '-c', `${script} || echo "exit code $?"`], {
    cwd: folder,
  });
  return { stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
}

describe('the prelude for the local stack', () => {
  test.each([
    ['the name of the stack', 'echo "$STACK"', () => stack.name],
    ['an output', 'output ShopCacheTable', () => stack.outputs.ShopCacheTable],
    ['the log of the receiver', 'log_of Receiver', () => stack.outputs.ReceiverLogGroup],
    ['the log of a consumer', 'log_of ShopUpdatedConsumer', () => stack.outputs.ShopUpdatedLogGroup],
    ['the access log', 'log_of ApiAccessLog', () => stack.outputs.ApiAccessLogGroup],
  ])('finds %s: %s', async (_name, command, found) => {
    expect(await typed(localPrelude, command)).toEqual({ stdout: found(), stderr: '' });
  });

  test('says that an output is missing', async () => {
    expect(await typed(localPrelude, 'output ShopClosedQueueUrl')).toEqual({
      stdout: 'exit code 1',
      stderr: `No output ShopClosedQueueUrl of ${stack.name}`,
    });
  });
});

test('the prelude for a stage says that an output is missing', async () => {
  // There is no CloudFormation here. For an empty list the AWS CLI prints an empty line.
  expect(await typed(`${stagePrelude}aws() { echo; }`, 'output ShopClosedQueueUrl')).toEqual({
    stdout: 'exit code 1',
    stderr: 'No output ShopClosedQueueUrl of PartnerWebhooks-prod',
  });
});

test.each(
  [...runbook.matchAll(/"\$\(log_of ApiAccessLog\)".*--filter-pattern '(.+)'/g)].map(
    ([, pattern = '']) => pattern,
  ),
)('the local stack knows the pattern %s for its access log', async (filterPattern) => {
  await new Partner(stack.outputs.WebhookUrl).post({});
  const logs = new CloudWatchLogsClient(stack.operator);
  const search = logs.send(
    new FilterLogEventsCommand({ logGroupName: stack.outputs.ApiAccessLogGroup, filterPattern }),
  );
  await expect(search).resolves.toHaveProperty('events');
  logs.destroy();
});
