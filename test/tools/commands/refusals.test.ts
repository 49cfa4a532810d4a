import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readSamples } from '../../../events/samples.ts';
import { freePort, occupyPort, Project } from './project.ts';

let project: Project;

beforeAll(async () => {
  project = await Project.create();
});

afterAll(() => project.remove());

/** How a command ends that cannot do as it was told: one line, and nothing else. */
const refusal = (line: string) => ({ code: 1, stdout: '', stderr: `${line}\n` });

const events = readSamples()
  .map(({ event }) => event)
  .join(', ');
/** Every command is a script of package.json. */
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const commands = Object.entries(scripts)
  .filter(([name, script]) => script.endsWith(`tools/commands/cli.ts ${name}`))
  .map(([name]) => name)
  .join(', ');

const noPort = (option: string, value: string) =>
  `--${option} must be a port number from 0 to 65535, not '${value}'`;
const noCount = (value: string) => `--count must be a whole number from 1, not '${value}'`;
const emptySecret = 'The secret must not be empty: anybody could sign with it';

describe('--help', () => {
  test.concurrent.each(commands.split(', '))('of %s names each of its options', async (command) => {
    const { code, stdout, stderr } = await project.run([command, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: npm /);
    const source = readFileSync(`tools/commands/${command}.ts`, 'utf8');
    const options = [...source.matchAll(/^\s*'?([a-z-]+)'?: \{ type: '(?:string|boolean)'/gm)].map(
      ([, name]) => name,
    );
    expect(options.filter((name) => !stdout.includes(`--${name}`))).toEqual([]);
  });
});

describe('a command that cannot do as it was told says so in one line and exits with 1', () => {
  test.concurrent.each([
    { args: [], line: `No command ''. One of: ${commands}` },
    { args: ['stop'], line: `No command 'stop'. One of: ${commands}` },
    { args: ['start', '--prot', '1'], line: "Unknown option '--prot'" },
    { args: ['start', '--port', 'http'], line: noPort('port', 'http') },
    { args: ['start', '--aws-port', 'aws'], line: noPort('aws-port', 'aws') },
    { args: ['start', '--secret', ''], line: emptySecret },
    { args: ['send'], line: `Name one event: ${events}` },
    { args: ['send', 'example.unknown'], line: `No event 'example.unknown'. One of: ${events}` },
    { args: ['send', 'shop.updated', 'user.updated'], line: `Name one event: ${events}` },
    { args: ['send', 'shop.updated', '--count', '0'], line: noCount('0') },
    { args: ['send', 'shop.updated', '--count', 'many'], line: noCount('many') },
    {
      args: ['send', 'shop.updated', '--encoding', 'base32'],
      line: "--encoding must be hex or base64, not 'base32'",
    },
    { args: ['send', 'shop.updated', '--secret', ''], line: emptySecret },
    { args: ['send', '--file', 'events/none.json'], line: 'No file events/none.json' },
    {
      args: ['invoke', 'receiver', 'events/api-gateway/shop-updated.json'],
      line: 'The local stack is not running. Start it with: npm start',
    },
    { args: ['demo', '--fast'], line: "Unknown option '--fast'" },
  ])('$args', async ({ args, line }) => {
    expect(await project.run(args)).toEqual(refusal(line));
  });

  test.concurrent.each([
    { variable: 'PORT', value: 'http', line: noPort('port', 'http') },
    { variable: 'AWS_PORT', value: 'aws', line: noPort('aws-port', 'aws') },
  ])('start with $variable=$value in its environment', async ({ variable, value, line }) => {
    expect(await project.run(['start'], { [variable]: value })).toEqual(refusal(line));
  });

  test('a value that looks like an option', async () => {
    const { code, stderr } = await project.run(['start', '--port', '-1']);
    expect({ code, lines: stderr.trimEnd().split('\n') }).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^Option '--port' argument is ambiguous\. .* use '--port=-XYZ'\.$/)],
    });
  });

  test('send where nothing listens', async () => {
    const url = `http://localhost:${await freePort()}/api/v1/webhooks/partner`;
    expect(await project.run(['send', 'shop.updated', '--url', url])).toEqual(
      refusal(
        `Nothing answers at ${url}. Is it the right address? The local stack is started with: npm start`,
      ),
    );
  });
});

describe('start refuses a port that is in use', () => {
  const loopback = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal }) => internal).map(({ address }) => address),
  );
  const cases = [
    ['port', 'aws-port', '127.0.0.1'],
    ['aws-port', 'port', '127.0.0.1'],
    ['port', 'aws-port', '::1'],
  ] as const;

  test.each(cases.filter(([, , host]) => loopback.includes(host)))(
    '--%s (besides a free --%s), by something on %s',
    async (option, other, host) => {
      const { port, server } = await occupyPort(host);
      try {
        expect(await project.run(['start', `--${option}`, String(port), `--${other}`, '0'])).toEqual(
          refusal(`Port ${port} is in use. Stop what uses it, or choose another with --${option}`),
        );
      } finally {
        await once(server.close(), 'close');
      }
    },
  );

  test('by itself', async () => {
    const port = String(await freePort());
    expect(await project.run(['start', '--port', port, '--aws-port', port])).toEqual(
      refusal(`--port and --aws-port must differ, not both be ${port}`),
    );
  });
});

describe('on another major version of Node.js than the one that Lambda runs', () => {
  test('every command says which one it needs and how to get it', async () => {
    const later = await Project.create({ neededNode: '99.1.0' });
    try {
      expect(await later.run(['start'])).toEqual(
        refusal(
          `Node.js 99 is needed, this is ${process.versions.node}. "npm ci" installs it; run the command as "npm run start".`,
        ),
      );
    } finally {
      await later.remove();
    }
  });
});
