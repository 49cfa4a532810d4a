import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readSamples } from '../../../events/samples.ts';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { freePort, occupyPort, Project, refusal } from './project.ts';

let project: Project;

beforeAll(async () => {
  project = await Project.create();
});

afterAll(() => project.remove());

const events = readSamples()
  .map(({ event }) => event)
  .join(', ');
const noPort = (name: string, value: string, from = `argument '${value}'`) =>
  `Option '--${name} <port>' ${from} is invalid. It must be a whole number from 0 to 65535.`;
const emptySecret =
  "Option '--secret <secret>' argument '' is invalid. It must not be empty: anybody could sign with an empty secret.";

const NO_FUNCTION = `It must be a function with an optional port, such as shop.updated:9230. One of: receiver, ${eventNames.join(', ')}`;

/**
 * Whether the command line itself is wrong. Otherwise it is right, and something that the command needs is
 * missing.
 */
const isWrongLine = (line: string) => !/not running|no terminal|^No file|is a folder/.test(line);

describe('a command refuses in one line', () => {
  test.each([
    { args: ['start', '--port', 'http'], line: noPort('port', 'http') },
    { args: ['start', '--aws-port', '65536'], line: noPort('aws-port', '65536') },
    { args: ['start', '--secret', ''], line: emptySecret },
    {
      args: ['start', '--gateway', 'soap'],
      line: "Option '--gateway <kind>' argument 'soap' is invalid. Allowed choices are http, rest.",
    },
    { args: ['start', 'it'], line: "Too many arguments for 'start'. Expected 0 arguments but got 1: it." },
    { args: ['send'], line: `Name one event: ${events}` },
    { args: ['send', 'example.unknown'], line: `No event 'example.unknown'. One of: ${events}` },
    {
      args: ['replay', 'shop.udpated'],
      line: `Command-argument value 'shop.udpated' is invalid for argument 'events'. Did you mean shop.updated? One of: ${eventNames.join(', ')}`,
    },
    {
      args: ['start', '--inspect', 'recevier'],
      line: `Option '--inspect <function[:port]>' argument 'recevier' is invalid. It must be a function with an optional port, such as shop.updated:9230. Did you mean receiver? One of: receiver, ${eventNames.join(', ')}`,
    },
    ...[
      { value: 'receiver:none', why: NO_FUNCTION },
      { value: 'receiver:65536', why: 'The largest port is 65535.' },
    ].map(({ value, why }) => ({
      args: ['start', '--inspect', value],
      line: `Option '--inspect <function[:port]>' argument '${value}' is invalid. ${why}`,
    })),
    { args: ['dlq', 'show', 'shop.updated', '--jsn'], line: "Unknown option '--jsn' (Did you mean --json?)" },
    { args: ['test', 'test/none.test.ts'], line: 'No test file at test/none.test.ts' },
    {
      args: ['send', 'shop.updated', '--url', 'ftp://localhost'],
      line: "Option '--url <url>' argument 'ftp://localhost' is invalid. It must be an address such as http://localhost:3000/api/v1/webhooks/partner.",
    },
    { args: ['send', '--file', 'events/none.json'], line: 'No file events/none.json' },
    { args: ['send', '--file', 'events'], line: 'events is a folder, not a file' },
    {
      args: ['send', 'shop.updated', '--file', 'events/shop-updated.json'],
      line: 'Either an event or --file, not both',
    },
    { args: ['invoke', 'shop.updated'], line: 'The local stack is not running. Start it with: npm start' },
    { args: ['dlq', 'list'], line: 'The local stack is not running. Start it with: npm start' },
    { args: ['pause'], line: "Missing required argument 'event'" },
    ...[undefined, '', ' ', 'two\nlines', 'a bell \u0007', 'x'.repeat(401)].map((reason) => ({
      args: ['pause', 'shop.updated', ...(reason === undefined ? [] : ['--reason', reason])],
      line: 'Give a reason, in one line of 1 to 400 characters: --reason "…"',
    })),
    {
      args: ['pause', 'shop.updated', '--reason', 'x', '--stage', 'prod', '--outputs', 'outputs.json'],
      line: 'Either --stage or --outputs, not both',
    },
    {
      args: ['dlq', 'redriv', 'shop.updated', '--id', 'x'],
      line: "No command 'redriv'. Did you mean redrive? One of: list, show, redrive, export, discard",
    },
    {
      args: ['soak', '--kills', '1', '--outage', '1'],
      line: "Option '--kills <n>' cannot be used with option '--outage <seconds>'",
    },
  ])('$args', async ({ args, line }) => {
    expect(await project.type(args)).toEqual(refusal(line, isWrongLine(line) ? 2 : 1));
  });

  test.each([
    { variable: 'PORT', value: 'abc', name: 'port' },
    { variable: 'AWS_PORT', value: '3e3', name: 'aws-port' },
    { variable: 'CONSOLE_PORT', value: ' 1', name: 'console-port' },
  ])('start with $variable=$value in its environment', async ({ variable, value, name }) => {
    const line = noPort(name, value, `value '${value}' from env '${variable}'`);
    expect(await project.type(['start'], { [variable]: value })).toEqual(refusal(line, 2));
  });

  test('send if nothing listens', async () => {
    const url = `http://localhost:${await freePort()}/api/v1/webhooks/partner`;
    expect(await project.run(['send', 'shop.updated', '--url', url])).toEqual(
      refusal(
        `Nothing answers at ${url}. Is it the right address? The local stack is started with: npm start. If it is restarting, try again in a few seconds`,
      ),
    );
  });
});

describe('check-sender refuses in one line, with exit code 2,', () => {
  test.each([
    { args: ['--secret', ''], line: emptySecret },
    { args: ['--secret', 'x', '--port', '-1'], line: noPort('port', '-1') },
    {
      args: ['--secret', 'x', '--play', '418'],
      line: "Option '--play <steps>' argument '418' is invalid. Each step is one of 401, 429, 500, 502, 503, 504, ok, redirect, cut, cut-late, slow, retry-after. Some take a time: slow=35s, retry-after=20s. Join steps with commas.",
    },
  ])('$args', async ({ args, line }) => {
    expect(await project.type(['check-sender', ...args])).toEqual(refusal(line, 2));
  });

  test('a command line without a secret', async () => {
    expect(await project.run(['check-sender'])).toEqual(
      refusal('Set the secret that signs deliveries: --secret, or the variable WEBHOOK_SECRET', 2),
    );
  });

  test('a port that is in use', async () => {
    const { port, server } = await occupyPort();
    try {
      expect(await project.run(['check-sender', '--secret', 'x', '--port', String(port)])).toEqual(
        refusal(`Port ${port} is in use. Stop what uses it, or choose another with --port`, 2),
      );
    } finally {
      await once(server.close(), 'close');
    }
  });
});

describe('start refuses a port that is in use', () => {
  const loopback = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal }) => internal).map(({ address }) => address),
  );
  test.each(['127.0.0.1', '::1'].filter((host) => loopback.includes(host)))(
    'and names all that are, by something on %s',
    async (host) => {
      const [one, other] = await Promise.all([occupyPort(host), occupyPort(host)]);
      const args = ['--port', String(one.port), '--aws-port', '0', '--console-port', String(other.port)];
      try {
        expect(await project.type(['start', ...args])).toEqual(
          refusal(
            `Ports ${one.port}, ${other.port} are in use. Stop what uses them, or choose others with --port, --console-port`,
          ),
        );
      } finally {
        await Promise.all([one, other].map(({ server }) => once(server.close(), 'close')));
      }
    },
  );

  test('of its own: --port and a debugger', async () => {
    const port = String(await freePort());
    expect(await project.type(['start', '--port', port, '--inspect', `receiver:${port}`])).toEqual(
      refusal(`--port and --inspect receiver:<port> must differ, not both be ${port}`, 2),
    );
  });
});

describe("on a major version of Node.js that is not Lambda's", () => {
  const found = `Node.js 99 is needed, this is ${process.versions.node}.`;
  let other: Project;

  beforeAll(async () => {
    other = await Project.create({ neededNode: '99.1.0' });
  });
  afterAll(() => other.remove());

  /** Runs Node.js without type stripping, like an older Node.js. */
  const run = (project: Project, args: readonly string[]) =>
    project.spawn([process.execPath, '--no-strip-types', ...args]).ended;

  test.each([
    { started: 'a command', args: ['tools/hookctl.js', 'start'] },
    { started: 'the CDK app', args: [resolve('node_modules/tsx/dist/cli.mjs'), 'bin/app.ts'] },
    { started: 'Jest', args: [resolve('node_modules/jest/bin/jest.js')] },
  ])('$started says that Node.js is not installed, and how to install it', async ({ args }) => {
    const bare = await Project.create({ neededNode: '99.1.0' });
    await rm(bare.path('node_modules'));
    expect(await run(bare, args)).toEqual(
      refusal(
        `${found} An install script of the package node installs it. Run: npm ci --ignore-scripts=false`,
      ),
    );
    await bare.remove();
  });

  test('a command without npm says where Node.js is', async () => {
    expect(await run(other, ['tools/hookctl.js', 'start'])).toEqual(
      refusal(
        `${found} It is in node_modules/.bin. npm and npx use it: type "npm start", "npm test" or "npx hookctl".`,
      ),
    );
  });
});
