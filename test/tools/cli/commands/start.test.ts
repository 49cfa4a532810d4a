import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { readCloudAssembly } from '../../../../local/template/cloud-assembly.ts';
import { eventually } from '../../../support/eventually.ts';
import { testAssembly } from '../../../support/test-stack.ts';
import { type Ended, freePort, occupyPort, Project, type Running } from './project.ts';

/** How long the stack may take to start or to stop, in milliseconds. */
const PATIENCE = 300_000;

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

  test('is found by `send`', async () => {
    const sent = await project.run(['send', '--json', 'shop.updated']);
    expect({ code: sent.code, answers: answersOf(sent) }).toEqual({
      code: 0,
      answers: [{ status: 200, body: expect.objectContaining({ status: 'queued' }) }],
    });
  });

  test('shows each delivery', async () => {
    const shown = await eventually(async () =>
      / 200 +POST \/api\/v1\/webhooks\/partner/.test(stack.stdout()) ? true : undefined,
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
  test.each(['events/api-gateway', 'events/rest-api'])(
    'gives the receiver a delivery that was signed with the local secret: %s',
    async (folder) => {
      const invoked = await project.run(['invoke', 'receiver', `${folder}/shop-updated.json`]);
      expect({ code: invoked.code, result: JSON.parse(invoked.stdout) }).toEqual({
        code: 0,
        result: expect.objectContaining({ statusCode: 200 }),
      });
    },
  );

  test('gives a consumer a batch, with the rights of its role', async () => {
    const invoked = await project.run(['invoke', 'shop-updated', 'events/sqs/shop-updated.json']);
    expect({ code: invoked.code, result: JSON.parse(invoked.stdout) }).toEqual({
      code: 0,
      result: { batchItemFailures: [] },
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
    { args: ['sender', 'events/shop-updated.json'], line: `No function 'sender'. One of: ${functions}` },
    {
      args: ['shop.updatd'],
      line: `No function 'shop.updatd'. Did you mean shop.updated? One of: ${functions}`,
    },
    { args: ['receiver', 'shop.updatd'], line: 'No file or event shop.updatd. Did you mean shop.updated?' },
    { args: ['receiver', 'events/none.json'], line: 'No file events/none.json' },
    { args: ['receiver', 'events'], line: 'events is a folder, not a file' },
    { args: ['receiver', 'LICENSE'], line: 'LICENSE is not JSON' },
  ])('refuses $args in one line', async ({ args, line }) => {
    expect(await project.run(['invoke', ...args])).toEqual({ code: 1, stdout: '', stderr: `${line}\n` });
  });
});

describe('a second stack', () => {
  test('does not start on the ports of the first', async () => {
    const args = ['--port', String(port), '--aws-port', '0', '--console-port', '0'];
    expect(await project.run(['start', ...args])).toEqual({
      code: 1,
      stdout: '',
      stderr: `Port ${port} is in use. Stop what uses it, or choose another with --port\n`,
    });
  });

  test('names all ports that are in use at once', async () => {
    const other = await occupyPort();
    const args = ['--port', String(port), '--aws-port', '0', '--console-port', String(other.port)];
    const { stderr } = await project.run(['start', ...args]);
    other.server.close();
    expect(stderr).toBe(
      `Ports ${port}, ${other.port} are in use. Stop what uses them, or choose others with --port, --console-port\n`,
    );
  });

  test(
    'on other ports is what commands find, and the first one is when it has stopped',
    async () => {
      const before = outputs();
      const second = project.start(['start', '--port', '0', '--aws-port', '0']);
      await eventually(async () => second.stdout().includes('Another stack') || undefined, {
        limit: PATIENCE,
      });
      const during = outputs();
      second.interrupt();
      await second.ended;
      expect(during).not.toEqual(before);
      expect(outputs()).toEqual(before);
      const sent = await project.run(['send', '--json', 'shop.updated']);
      expect(sent.code).toBe(0);
    },
    PATIENCE,
  );
});

test(
  '`start --gateway rest` puts a REST API before the receiver, at the same path',
  async () => {
    const behindRest = project.start(['start', '--gateway', 'rest', '--port', '0', '--aws-port', '0']);
    await eventually(async () => behindRest.stdout().includes('Another stack') || undefined, {
      limit: PATIENCE,
    });
    try {
      const url = /http:\/\/localhost:\d+\/api\/v1\/webhooks\/partner/.exec(behindRest.stdout())?.[0] ?? '';
      const { status, headers } = await fetch(url, { method: 'POST' });
      expect({ status, isRest: headers.has('x-amz-apigw-id') }).toEqual({ status: 401, isRest: true });
    } finally {
      behindRest.interrupt();
      await behindRest.ended;
    }
  },
  PATIENCE,
);

describe('Ctrl-C', () => {
  test('ends the stack within seconds, with exit code 0', async () => {
    stack.interrupt();
    await sleep(10);
    stack.interrupt();
    const ended = await Promise.race([stack.ended, sleep(30_000, undefined, { ref: false })]);
    expect(ended?.code).toBe(0);
    expect(stack.stdout()).toMatch(/\nStopped: [1-9]\d* requests served, \d+ MB of memory at most\n$/);
  });

  test('leaves nothing in .local but what the next start need not synthesise', () => {
    expect(readdirSync(project.path('.local'))).toEqual(['synthesised']);
  });
});

test(
  'a pipe that is closed ends a stack without an error',
  async () => {
    const typed = `${process.execPath} tools/cli/commands/entry.js start --port 0 --aws-port 0 | head -1`;
    expect(await project.spawn(['bash', '-c', `set -o pipefail; ${typed}`]).ended).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Beginning empty.*\n$/),
      stderr: '',
    });
  },
  PATIENCE,
);
