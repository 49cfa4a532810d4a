import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../lambda/contract/catalogue.ts';
import { kebabCase } from '../../../lambda/contract/event-names.ts';
import { readCloudAssembly } from '../../../local/template/cloud-assembly.ts';
import { eventually } from '../../support/eventually.ts';
import { testAssembly } from '../../support/test-stack.ts';
import { type Ended, freePort, Project, type Running } from './project.ts';

/** How long the stack may take to start or to stop, in milliseconds. */
const PATIENCE = 60_000;

let project: Project;
let stack: Running;
let port: number;
let awsPort: number;

beforeAll(async () => {
  project = await Project.create();
  port = await freePort();
  awsPort = await freePort();
  stack = project.start(['start', '--port', String(port), '--aws-port', String(awsPort)]);
  while (!stack.stdout().includes('Ready in')) {
    if (stack.process.exitCode !== null) throw new Error(`The stack ended: ${(await stack.ended).stderr}`);
    await sleep(50);
  }
}, PATIENCE);

afterAll(async () => {
  if (stack?.process.exitCode === null) {
    stack.interrupt();
    await stack.ended;
  }
  await project?.remove();
}, PATIENCE);

/** The answers that `send --json` printed. */
function answersOf({ stdout }: Ended): { status: number; body: Record<string, unknown> }[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const outputs = () => JSON.parse(readFileSync(project.path('.local/outputs.json'), 'utf8'));

describe('a running stack', () => {
  test('says where it is', () => {
    expect(stack.stdout()).toContain(`http://localhost:${port}/api/v1/webhooks/partner`);
    expect(stack.stdout()).toContain(`http://localhost:${awsPort}`);
  });

  test('leaves its outputs as `cdk deploy --outputs-file` does', () => {
    const { name, template } = readCloudAssembly(testAssembly());
    const texts = Object.keys(template.Outputs).map((output) => [output, expect.any(String)]);
    expect(outputs()).toEqual({ [name]: Object.fromEntries(texts) });
  });

  test('is found by `send`', async () => {
    const sent = await project.run(['send', '--json', 'shop.updated']);
    expect({ code: sent.code, answers: answersOf(sent) }).toEqual({
      code: 0,
      answers: [{ status: 200, body: expect.objectContaining({ status: 'queued' }) }],
    });
  });

  test('shows each delivery', async () => {
    const shown = await eventually(async () =>
      stack.stdout().includes('POST /api/v1/webhooks/partner 200') ? true : undefined,
    );
    expect(shown).toBe(true);
  });

  test('answers `send --bad-signature` with 401, which is what was asked for', async () => {
    const sent = await project.run(['send', '--json', 'shop.updated', '--bad-signature']);
    expect({ code: sent.code, answers: answersOf(sent) }).toEqual({
      code: 0,
      answers: [{ status: 401, body: expect.objectContaining({ status: 401 }) }],
    });
  });

  test('answers 401 to `send` with another secret, which fails', async () => {
    const sent = await project.run(['send', '--json', 'shop.updated'], { WEBHOOK_SECRET: 'another' });
    expect({ code: sent.code, statuses: answersOf(sent).map(({ status }) => status) }).toEqual({
      code: 1,
      statuses: [401],
    });
  });

  test('gets as many events as `send --count` says, each another one', async () => {
    const sent = await project.run([
      'send',
      '--json',
      'girl.created',
      '--count',
      '3',
      '--encoding',
      'base64',
    ]);
    const ids = answersOf(sent).map(({ body }) => body.eventId);
    expect({ code: sent.code, distinct: new Set(ids).size }).toEqual({ code: 0, distinct: 3 });
  });

  test('gets the bytes of a file as they are', async () => {
    const file = 'events/user-updated.json';
    const sent = await project.run(['send', '--json', '--file', file]);
    const eventId = createHash('sha256').update(readFileSync(file)).digest('hex');
    expect(answersOf(sent)).toEqual([{ status: 200, body: expect.objectContaining({ eventId }) }]);
  });
});

describe('invoke', () => {
  test('gives the receiver a delivery that was signed with the local secret', async () => {
    const invoked = await project.run(['invoke', 'receiver', 'events/api-gateway/shop-updated.json']);
    expect({ code: invoked.code, result: JSON.parse(invoked.stdout) }).toEqual({
      code: 0,
      result: expect.objectContaining({ statusCode: 200 }),
    });
  });

  test('gives a consumer a batch, with the rights of its role', async () => {
    const invoked = await project.run(['invoke', 'shop-updated', 'events/sqs/shop-updated.json']);
    expect({ code: invoked.code, result: JSON.parse(invoked.stdout) }).toEqual({
      code: 0,
      result: { batchItemFailures: [] },
    });
  });

  const functions = [...eventNames.map(kebabCase), 'receiver', 'smoke-test'].join(', ');
  test.each([
    { args: [], line: `Usage: npm run invoke -- <function> <event-file>. Functions: ${functions}` },
    { args: ['receiver'], line: `Usage: npm run invoke -- <function> <event-file>. Functions: ${functions}` },
    { args: ['sender', 'events/shop-updated.json'], line: `No function 'sender'. One of: ${functions}` },
    { args: ['receiver', 'events/none.json'], line: 'No file events/none.json' },
    { args: ['receiver', 'LICENSE'], line: 'LICENSE is not JSON' },
  ])('refuses $args in one line', async ({ args, line }) => {
    expect(await project.run(['invoke', ...args])).toEqual({ code: 1, stdout: '', stderr: `${line}\n` });
  });
});

describe('a second stack', () => {
  test('does not start on the ports of the first', async () => {
    expect(await project.run(['start', '--port', String(port)])).toEqual({
      code: 1,
      stdout: '',
      stderr: `Port ${port} is in use. Stop what uses it, or choose another with --port\n`,
    });
  });
});

describe('Ctrl-C', () => {
  test('ends the stack within seconds, with exit code 0', async () => {
    stack.interrupt();
    const ended = await Promise.race([stack.ended, sleep(10_000, undefined, { ref: false })]);
    expect(ended?.code).toBe(0);
  });

  test.each(['outputs.json', 'functions.json'])('takes .local/%s away', (file) => {
    expect(existsSync(project.path(`.local/${file}`))).toBe(false);
  });
});
