import { readFileSync, realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.ts';
import { DebuggerClient } from './debugger-client.ts';
import { freePort, occupyPort, Project, type Running } from './project.ts';

/** How long the stack may take to start or to stop, in milliseconds. */
const PATIENCE = 300_000;
const SOURCE = 'lambda/events/shop-updated/consumer.ts';

let project: Project;
let stack: Running;
let inspectPort: number;

beforeAll(async () => {
  project = await Project.create();
  inspectPort = await freePort();
  const ports = [
    '--port',
    '0',
    '--aws-port',
    '0',
    '--console-port',
    '0',
    '--inspect',
    `shop.updated:${inspectPort}`,
  ];
  stack = project.start(['start', ...ports, '--retry-fast']);
  await eventually(async () => (stack.stdout().includes('Debug shop.updated') ? true : undefined), {
    limit: PATIENCE,
  });
}, PATIENCE);
afterAll(async () => {
  if (stack?.process.exitCode === null) {
    stack.interrupt();
    await stack.ended;
  }
  await project?.remove();
}, PATIENCE);

const functions = () => JSON.parse(readFileSync(project.path('.local/functions.json'), 'utf8'));

describe('start --inspect', () => {
  test('says where, and that retries are fast', () => {
    expect(stack.stdout()).toContain(`Debug shop.updated at 127.0.0.1:${inspectPort}:`);
    expect(stack.stdout()).toContain('Retries are fast:');
  });

  test('prints no other port: each execution environment has one of its own', async () => {
    const ports = /127\.0\.0\.1:(\d+)/g;
    const printed = [...`${stack.stdout()}${stack.stderr()}`.matchAll(ports)].map(([, digits]) =>
      Number(digits),
    );
    expect(new Set(printed)).toEqual(new Set([inspectPort]));
  });

  test('lets no other function wait longer, nor differ in its code', () => {
    const { receiver, 'user-updated': user, 'shop-updated': shop } = functions();
    expect([receiver.timeoutSeconds, user.timeoutSeconds].every((seconds) => seconds <= 60)).toBe(true);
    expect(shop.timeoutSeconds).toBe(43_200);
    expect(shop.codeDirectory).toMatch(/inspected-shop-updated$/);
    expect(user.codeDirectory).not.toMatch(/inspected/);
    expect(user.environment.FIRST_RETRY_DELAY_SECONDS).toBe('0.02');
    expect(receiver.environment).not.toHaveProperty('FIRST_RETRY_DELAY_SECONDS');
  });

  test(
    'stops at a breakpoint in the source, and goes on to the effect',
    async () => {
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
    },
    PATIENCE,
  );

  test(
    'ends while it stands at a breakpoint, within seconds',
    async () => {
      const client = await DebuggerClient.attach(inspectPort);
      await client.breakAt(pathToFileURL(realpathSync(SOURCE)).href, 'invalidateShop({');
      await project.run(['send', 'shop.updated']);
      await client.paused();
      stack.interrupt();
      const ended = await Promise.race([stack.ended, sleep(60_000, undefined, { ref: false })]);
      expect(ended?.code).toBe(0);
    },
    PATIENCE,
  );
});

describe('what cannot be is one line', () => {
  const bad = (text: string, why = 'It must be a function with an optional port') =>
    new RegExp(`^Option '--inspect <function\\[:port\\]>' argument '${text}' is invalid\\. ${why}`);

  test.concurrent.each([
    ['an unknown function', 'shop.closed', bad('shop\\.closed')],
    ['no port', 'receiver:none', bad('receiver:none')],
    ['a port beyond the last', 'receiver:65536', bad('receiver:65536', 'The largest port is 65535')],
  ])('%s', async (_, value, line) => {
    const { code, stdout, stderr } = await project.run(['start', '--inspect', value]);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 1, stdout: '', lines: 2 });
    expect(stderr).toMatch(line);
  });

  test.concurrent.each([
    [
      'a port that two functions have',
      ['--inspect', 'receiver:19230', '--inspect', 'user.updated:19230'],
      '--inspect receiver:<port> and --inspect user.updated:<port> must differ, not both be 19230\n',
    ],
    [
      'a port that the webhook has',
      ['--port', '19231', '--inspect', 'receiver:19231'],
      '--port and --inspect receiver:<port> must differ, not both be 19231\n',
    ],
  ])('%s', async (_, args, stderr) => {
    expect(await project.run(['start', ...args])).toEqual({ code: 1, stdout: '', stderr });
  });

  test('a port that is taken', async () => {
    const { port, server } = await occupyPort();
    const args = [
      'start',
      '--port',
      '0',
      '--aws-port',
      '0',
      '--console-port',
      '0',
      '--inspect',
      `receiver:${port}`,
    ];
    const ended = await project.run(args);
    server.close();
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: `Port ${port} is in use. Stop what uses it, or choose another with --inspect receiver:<port>\n`,
    });
  });
});
