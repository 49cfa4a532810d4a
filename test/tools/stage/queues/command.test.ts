import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Project } from '../../cli/commands/project.ts';
import { DEAD, Operator } from './support.ts';

const QUEUES = [...eventNames, 'quarantine', 'unrouted'].join(', ');

let aws: TestAws;
let operator: Operator;
let project: Project;
/** Stands for CloudFormation, of which the local stack has none. */
let cloudFormation: Server;
let credentials: Record<string, string>;

beforeAll(async () => {
  aws = await startTestAws();
  operator = await Operator.create(aws);
  project = await Project.create();
  cloudFormation = createServer((request, response) => {
    request.setEncoding('utf8').once('data', (form: string) => {
      const stackName = new URLSearchParams(form).get('StackName');
      const deployed = stackName === 'PartnerWebhooks-prod';
      response.writeHead(deployed ? 200 : 400, { 'content-type': 'text/xml' });
      response.end(deployed ? described(aws.outputs) : doesNotExist(stackName));
    });
  });
  await once(cloudFormation.listen(0, '127.0.0.1'), 'listening');
  const { port } = cloudFormation.address() as AddressInfo;
  credentials = {
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
    AWS_REGION: 'eu-west-1',
    AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${port}`,
  };
});
afterAll(async () => {
  cloudFormation.close();
  await project.remove();
  await operator.close();
  await aws.close();
});

function described(outputs: Readonly<Record<string, string>>): string {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>x</StackName><StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
}

const doesNotExist = (name: string | null) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`;

describe('what it cannot do it says in one line, and exits with 1', () => {
  test.each([
    ['no subcommand', () => [], () => 'Choose a subcommand: list, show, redrive, export'],
    ['no local stack', () => ['list'], () => 'The local stack is not running. Start it with: npm start'],
    [
      'a wrong event',
      () => ['show', 'example.unknown', '--outputs', operator.outputsFile],
      () => `No queue 'example.unknown' in the stack of ${operator.outputsFile}. One of: ${QUEUES}`,
    ],
    [
      'a stage that is not deployed',
      () => ['list', '--stage', 'dev'],
      () => "Stage 'dev' is not deployed in eu-west-1: there is no stack PartnerWebhooks-dev",
    ],
  ])('%s', async (_name, args, line) => {
    expect(await project.run(['dlq', ...args()], credentials)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${line()}\n`,
    });
  });
});

test('a deployed stage is found by the outputs of its stack', async () => {
  const { code, stdout, stderr } = await project.run(['dlq', 'list', '--stage', 'prod'], credentials);
  expect({ code, stderr, first: stdout.split('\n')[0] }).toEqual({
    code: 0,
    stderr: '',
    first: 'Messages in stage prod in eu-west-1. SQS counts may be a minute old.',
  });
});

test('an export goes to a file that only its owner can read, and never over another', async () => {
  await operator.put(aws.outputs.GirlCreatedDeadLetterQueueUrl, '{}');
  const file = operator.path('girls.jsonl');
  const args = ['dlq', 'export', 'girl.created', '--output', file, '--outputs', operator.outputsFile];
  expect(await project.run(args)).toMatchObject({ code: 0, stdout: '' });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const written = await readFile(file, 'utf8');
  expect(JSON.parse(written)).toMatchObject({ queue: 'girl.created', body: '{}' });
  expect(await project.run(args)).toMatchObject({ code: 1, stderr: `${file} exists already\n` });
  expect(await readFile(file, 'utf8')).toBe(written);
});

test('what a removed event has left is exported, and is not redriven', async () => {
  const name = 'ShopClosedDeadLetterQueue4E5F6A7B';
  const QueueUrl = await operator.leaveQueue(name);
  await operator.put(QueueUrl, '{}');
  const where = ['--outputs', operator.outputsFile];
  const { code, stdout } = await project.run(['dlq', 'export', name, ...where]);
  expect({ code, line: JSON.parse(stdout) }).toMatchObject({ code: 0, line: { queue: name, body: '{}' } });
  expect(await project.run(['dlq', 'redrive', name, ...where])).toEqual({
    code: 1,
    stdout: '',
    stderr: `Not redriven: nothing consumes the queue ${name}. Keep a copy: npm run dlq -- export ${name} ${where.join(' ')}\n`,
  });
  await operator.queues.client.send(new DeleteQueueCommand({ QueueUrl }));
});

test('an export whose reader ends early is no error, and gives the messages back', async () => {
  const { UserUpdatedDeadLetterQueueUrl: dead } = aws.outputs;
  for (let count = 0; count < 60; count += 1) await operator.put(dead, '{}', DEAD);
  const typed = `${process.execPath} tools/cli/commands/entry.js dlq export user.updated --outputs ${operator.outputsFile}`;
  const { code, stdout, stderr } = await project.spawn(['bash', '-c', `set -o pipefail; ${typed} | head -1`])
    .ended;
  expect({ code, lines: stdout.trim().split('\n').length }).toEqual({ code: 0, lines: 1 });
  expect(stderr).not.toMatch(/EPIPE/);
  expect(await operator.queues.count(dead)).toBe(60);
});
