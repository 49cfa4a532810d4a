import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { readCloudAssembly } from '../../../../local/template/cloud-assembly.ts';
import { eventually } from '../../../support/eventually.ts';
import { testAssembly } from '../../../support/test-stack.ts';
import { DebuggerClient } from './debugger-client.ts';
import { type Ended, freePort, Project, type Running } from './project.ts';

/** How long a stack may take to start, in milliseconds: machines are noisy. */
const PATIENCE = 100_000;

const SOURCE = 'lambda/events/shop-updated/consumer.ts';

let project: Project;
let stack: Running;
let port: number;
let awsPort: number;
let inspectPort: number;

beforeAll(async () => {
  project = await Project.create();
  port = await freePort();
  awsPort = await freePort();
  inspectPort = await freePort();
  const debugging = ['--inspect', `shop.updated:${inspectPort}`, '--retry-fast'];
  stack = await started('--port', String(port), '--aws-port', String(awsPort), ...debugging);
});

afterAll(async () => {
  await stopped(stack);
  await project?.remove();
});

async function started(...args: string[]): Promise<Running> {
  const running = project.start(['start', ...args]);
  await eventually(
    async () => {
      if (running.process.exitCode !== null) throw new Error((await running.ended).stderr);
      return /Ready in|Another stack/.test(running.stdout()) || undefined;
    },
    { limit: PATIENCE },
  );
  return running;
}

async function stopped(running: Running): Promise<Ended> {
  if (running.process.exitCode === null) running.interrupt();
  return running.ended;
}

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

  test('has a console, of which it leaves address and token for its owner alone', async () => {
    const file = project.path('.local/console.json');
    const { url, token } = JSON.parse(readFileSync(file, 'utf8'));
    expect(stack.stdout()).toContain(`  Console   ${url}\n  Webhook   `);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const page = await fetch(url);
    expect(page.headers.get('set-cookie')).toContain(`=${token};`);
  });

  test.each([
    ['the webhook’s', () => port],
    ['the AWS', () => awsPort],
  ])('leads a browser that opens %s port to its console', async (_, portOf) => {
    const page = await fetch(`http://localhost:${portOf()}/`, {
      headers: { accept: 'text/html,application/xhtml+xml' },
    });
    expect(await page.text()).toContain('<script type="module" src="/console.js">');
  });

  test('is found by `send`, and shows the delivery', async () => {
    const sent = await project.run(['send', '--json', 'shop.updated']);
    expect({ code: sent.code, answers: answersOf(sent) }).toEqual({
      code: 0,
      answers: [{ status: 200, body: expect.objectContaining({ status: 'queued' }) }],
    });
    await eventually(async () => / 200 +POST \/api\/v1\/webhooks\/partner/.test(stack.stdout()) || undefined);
  });

  test('answers `send --bad-signature` with 401, which is what was asked for', async () => {
    const sent = await project.run(['send', '--json', 'shop.updated', '--bad-signature']);
    expect({ code: sent.code, answers: answersOf(sent) }).toEqual({
      code: 0,
      answers: [{ status: 401, body: expect.objectContaining({ status: 401 }) }],
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

  test('takes an event for its consumer, and for its sample', async () => {
    const consumer = await project.run(['invoke', 'shop.updated']);
    expect({ code: consumer.code, result: JSON.parse(consumer.stdout) }).toEqual({
      code: 0,
      result: { batchItemFailures: [] },
    });
    const again = await project.run(['invoke', 'shop.updated']);
    expect(again.stderr).toContain('Skipped: newer data is stored.');
    const receiver = await project.run(['invoke', 'receiver', 'user.updated']);
    expect(JSON.parse(receiver.stdout)).toMatchObject({ statusCode: 200 });
  });

  test('of a failing handler shows its failure, and no more than that', async () => {
    const file = project.path('no-event.json');
    const { Records } = JSON.parse(readFileSync('events/sqs/shop-updated.json', 'utf8'));
    // A payload of another event, which the consumer must not read: it fails, and may pass.
    Records[0].messageAttributes.payloadKey = { dataType: 'String', stringValue: 'another.event/none' };
    await writeFile(file, JSON.stringify({ Records }));
    const { stdout, stderr } = await project.run(['invoke', 'shop.updated', file]);
    expect(JSON.parse(stdout).batchItemFailures).toHaveLength(1);
    expect(stderr).toContain('Failed');
    expect(stderr).not.toContain('HideFailed');
  });

  const functions = [...eventNames, 'receiver', 'smoke-test'].join(', ');
  test.each([
    {
      args: ['receiver'],
      line: `Which event for receiver? A file, or one of: ${eventNames.join(', ')}`,
    },
    {
      args: ['shop.updatd'],
      line: `No function 'shop.updatd'. Did you mean shop.updated? One of: ${functions}`,
    },
    { args: ['receiver', 'shop.updatd'], line: 'No file or event shop.updatd. Did you mean shop.updated?' },
    { args: ['receiver', 'LICENSE'], line: 'LICENSE is not JSON' },
  ])('refuses $args in one line', async ({ args, line }) => {
    expect(await project.run(['invoke', ...args])).toEqual({ code: 1, stdout: '', stderr: `${line}\n` });
  });
});

describe('a second stack', () => {
  test('on other ports is what commands find, and the first one is when Ctrl-C has ended it at a breakpoint', async () => {
    const before = [outputs(), readdirSync(project.path('.local'))];
    const at = await freePort();
    const ports = ['--port', '0', '--aws-port', '0', '--inspect', `shop.updated:${at}`];
    const second = await started('--gateway', 'rest', ...ports);
    const client = await DebuggerClient.attach(at);
    await client.breakAt(pathToFileURL(realpathSync(SOURCE)).href, 'invalidateShop({');
    const { WebhookUrl } = Object.values<{ WebhookUrl: string }>(outputs())[0] ?? {};
    const { headers } = await fetch(String(WebhookUrl), { method: 'POST' });
    expect(headers.has('x-amz-apigw-id')).toBe(true);
    await project.run(['send', 'shop.updated']);
    await client.paused();
    // An impatient Ctrl-C is one Ctrl-C.
    second.interrupt();
    await sleep(10);
    expect(await stopped(second)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\nStopped: 2 requests served, \d+ MB of memory at most\n$/),
    });
    expect([outputs(), readdirSync(project.path('.local'))]).toEqual(before);
  });
});

describe('start --inspect', () => {
  test('says where, and that retries are fast', () => {
    expect(stack.stdout()).toContain(`Debug shop.updated at 127.0.0.1:${inspectPort}:`);
    expect(stack.stdout()).toContain('Retries are fast:');
  });

  test('prints no other port: each execution environment has one of its own', () => {
    const printed = `${stack.stdout()}${stack.stderr()}`.matchAll(/127\.0\.0\.1:(\d+)/g);
    expect(new Set([...printed].map(([, digits]) => Number(digits)))).toEqual(new Set([inspectPort]));
  });

  test('lets no other function wait longer, nor differ in its code', () => {
    const functions = JSON.parse(readFileSync(project.path('.local/functions.json'), 'utf8'));
    const { receiver, 'user-updated': user, 'shop-updated': shop } = functions;
    expect([receiver.timeoutSeconds, user.timeoutSeconds].every((seconds) => seconds <= 60)).toBe(true);
    expect(shop.timeoutSeconds).toBe(43_200);
    expect(shop.codeDirectory).toMatch(/inspected-shop-updated$/);
    expect(user.codeDirectory).not.toMatch(/inspected/);
    expect(user.environment.FIRST_RETRY_DELAY_SECONDS).toBe('0.02');
    expect(receiver.environment).not.toHaveProperty('FIRST_RETRY_DELAY_SECONDS');
  });

  test('stops at a breakpoint in the source, and goes on to the effect', async () => {
    const client = await DebuggerClient.attach(inspectPort);
    const source = pathToFileURL(realpathSync(SOURCE)).href;
    const place = await client.breakAt(source, 'invalidateShop({');
    const sent = project.run(['send', 'shop.updated', '--wait']);
    const paused = await client.paused();
    expect(client.sourceOf(paused)).toEqual({ url: source, line: place });
    // Longer than a wait of --retry-fast: it must not come a second time.
    await sleep(6_000);
    await client.resume();
    const { code, stdout } = await sent;
    expect({ code, attempts: stdout.match(/attempt 1/g)?.length }).toEqual({ code: 0, attempts: 1 });
    client.close();
  });
});

test('a pipe that is closed ends a stack without an error', async () => {
  const typed = `${process.execPath} tools/cli/commands/entry.js start --port 0 --aws-port 0 | head -1`;
  expect(await project.spawn(['bash', '-c', `set -o pipefail; ${typed}`]).ended).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^Beginning empty.*\n$/),
    stderr: '',
  });
});
