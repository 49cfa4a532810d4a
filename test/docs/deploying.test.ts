import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const document = readFileSync('docs/deploying.md', 'utf8');
const blocks = [...document.matchAll(/```bash\n(.*?)```/gs)].map(([, text = '']) => text);

/** The first block with a command. */
const blockWith = (command: string) => blocks.find((text) => text.includes(command)) ?? '';

/**
 * What a shell prints that the commands were pasted into. There is no AWS and no GitHub here: for `aws` it prints the
 * JSON that it was given, `gh` prints the subject's repository, and `npx cdk` does nothing.
 */
function pasted(commands: string, environment: Record<string, string> = {}): string[] {
  const standIns = `
    aws() { case "$*" in *get-caller-identity*) echo 111122223333;; *) for one in "$@"; do case "$one" in [[{]*) echo $one;; esac; done;; esac; }
    npx() { :; }
    gh() { echo example@123456/partner-webhooks@456789; }
  `;
  const env = { PATH: process.env.PATH, AWS_REGION: 'eu-central-1', ...environment };
  return execFileSync('bash', ['--norc', '-ec', standIns + commands], { env, encoding: 'utf8' })
    .trim()
    .split('\n');
}

test('the settings for the local stack are gone from the shell that deploys', () => {
  const local = {
    AWS_ENDPOINT_URL: 'http://localhost:4566',
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
  };
  expect(pasted(`${blocks[0]}\nenv | grep ^AWS_`, local).sort()).toEqual([
    '111122223333',
    'AWS_PROFILE=production',
    'AWS_REGION=eu-central-1',
  ]);
});

test('an output that is missing is said to be', () => {
  const folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-deploying-'));
  writeFileSync(
    join(folder, 'outputs.json'),
    JSON.stringify({ 'PartnerWebhooks-prod': { CastTable: 'cast' } }),
  );
  const commands = `cd ${folder}; ${blockWith('output()')} output CastTable; output ShopTable 2>&1 || echo "exit code $?"`;
  expect(pasted(commands)).toEqual(['cast', 'No output ShopTable', 'exit code 1']);
  rmSync(folder, { recursive: true });
});

test('the budget mails when the month has cost, or is expected to cost, too much', () => {
  const [budget = '', notifications = ''] = pasted(blockWith('create-budget'));
  expect(JSON.parse(budget)).toMatchObject({ BudgetType: 'COST', TimeUnit: 'MONTHLY' });
  expect(JSON.parse(notifications)).toMatchObject([
    { Notification: { NotificationType: 'ACTUAL' } },
    { Notification: { NotificationType: 'FORECASTED' } },
  ]);
});

describe('the role of the pipeline', () => {
  const [trust = '', policy = ''] = pasted(blockWith('create-open-id-connect-provider'));

  test('is for jobs of one repository and one environment', () => {
    expect(JSON.parse(trust).Statement).toMatchObject([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRoleWithWebIdentity',
        Condition: {
          StringEquals: {
            'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
            'token.actions.githubusercontent.com:sub':
              'repo:example@123456/partner-webhooks@456789:environment:production',
          },
        },
      },
    ]);
  });

  test('can assume roles of the bootstrap, and do nothing else', () => {
    const template = readFileSync('node_modules/aws-cdk/lib/api/bootstrap/bootstrap-template.yaml', 'utf8');
    const roles = [...template.matchAll(/cdk-\$\{Qualifier\}-(?:\w+-)+role/g)].map(
      ([name]) => `${name.replace(/\$\{Qualifier\}/, 'hnb659fds')}-111122223333-eu-central-1`,
    );
    const [statement, ...others] = JSON.parse(policy).Statement;
    expect(others).toEqual([]);
    expect(statement).toMatchObject({ Effect: 'Allow', Action: 'sts:AssumeRole' });
    const assumed = statement.Resource.map((arn: string) =>
      arn.replace('arn:aws:iam::111122223333:role/', ''),
    );
    expect(roles).toEqual(expect.arrayContaining(assumed));
    expect(assumed).toHaveLength(3);
  });
});
