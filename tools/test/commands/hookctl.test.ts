import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { dirname, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readSamples } from '../../../events/samples.ts';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { COMMAND_GROUPS, messageOf } from '../../program.ts';
import { type Ended, freePort, occupyPort, Project, refusal } from './project.ts';

let project: Project;

beforeAll(async () => {
  project = await Project.create();
});

afterAll(() => project.remove());

const commands = Object.values(COMMAND_GROUPS).flat();

/** Runs a program with this Node.js first in PATH, as a shell does after `npm ci`. */
const run = (program: string, args: readonly string[], environment = {}) =>
  project.spawn([program, ...args], environment).ended;

test('every command has a file, and every file is a command', () => {
  const files = readdirSync('tools/commands').map((file) => file.replace(/\.ts$/, ''));
  // `page-commands.ts` is no command: it lists those that the console runs for its page.
  expect(files.sort()).toEqual([...commands, 'page-commands'].sort());
});

describe('each command', () => {
  test('is listed in the help, below the people who need it', async () => {
    const { code, stdout } = await project.type(['--help']);
    expect(code).toBe(0);
    const sections = stdout.split(/^(?=\S.*:$)/m);
    for (const [group, names] of Object.entries<readonly string[]>(COMMAND_GROUPS)) {
      const section = sections.find((text) => text.startsWith(`${group}:`)) ?? '';
      expect([...section.matchAll(/^ {2}([a-z][\w-]*) /gm)].map(([, name]) => name)).toEqual(names);
    }
  });

  test('says how it is typed and what it does', async () => {
    for (const command of commands) {
      const { code, stdout, stderr } = await project.type([command, '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: hookctl ${command} .*\n\n[A-Z]`));
    }
  });

  test('refuses a wrong option in one line, with exit code 2, except test, which passes it to Jest', async () => {
    for (const command of commands.filter((one) => one !== 'test')) {
      const ended = await project.type([command, '--no-such-option']);
      expect([command, ended]).toEqual([command, refusal("Unknown option '--no-such-option'", 2)]);
    }
  });
});

const events = readSamples()
  .map(({ event }) => event)
  .join(', ');

describe('a wrong command line is refused in one line, with exit code 2:', () => {
  test.each([
    {
      args: ['start', '--secret', ''],
      line: "Option '--secret <secret>' argument '' is invalid. It must not be empty: anybody could sign with an empty secret.",
    },
    {
      args: ['start', '--inspect', 'recevier'],
      line: `Option '--inspect <function[:port]>' argument 'recevier' is invalid. It must be a function with an optional port, such as shop.updated:9230. Did you mean receiver? One of: receiver, ${eventNames.join(', ')}`,
    },
    {
      args: ['start', '--inspect', 'receiver:70000'],
      line: "Option '--inspect <function[:port]>' argument 'receiver:70000' is invalid. Its port must be a whole number from 1 to 65535.",
    },
    ...['https://abc.trycloudflare.com', 'abc.example:443', '*.example', 'tunnel', 'abc.example.'].map(
      (host) => ({
        args: ['start', '--public-host', host],
        line: `Option '--public-host <name>' argument '${host}' is invalid. It must be the name alone, such as abc.trycloudflare.com: no https://, no port, no path.`,
      }),
    ),
    ...[[], ['--secret', JSON.stringify({ WEBHOOK_SECRET: ` ${LOCAL_SECRET}\n` })]].map((secret) => ({
      args: ['start', '--public-host', '203.0.113.5', '--public-host', 'Abc.example', ...secret],
      line: `--public-host makes the webhook public. Set your own --secret: ${LOCAL_SECRET} is known to everybody`,
    })),
    { args: ['send', 'example.unknown'], line: `No event 'example.unknown'. One of: ${events}` },
    {
      args: ['send', 'shop.updated', '--file', 'events/shop-updated.json'],
      line: 'Give one of: an event, --file or --again',
    },
    { args: ['trace', 'abcdef01', '--shop', 'x'], line: 'Either an id, or --shop and --search' },
    {
      args: ['secret', 'set', 's3cret'],
      line: "Too many arguments for 'set'. Expected 0 arguments but got 1.",
    },
    { args: ['dlq', 'show', 'shop.updated', '--jsn'], line: "Unknown option '--jsn' (Did you mean --json?)" },
    {
      args: ['dlq', 'redriv', 'shop.updated', '--id', 'x'],
      line: "No command 'redriv'. Did you mean redrive? One of: list, show, redrive, export, discard",
    },
    ...[[], ['--reason', 'x'.repeat(401)]].map((reason) => ({
      args: ['pause', 'shop.updated', ...reason],
      line: 'Give a reason, in one line of 1 to 400 characters: --reason "…"',
    })),
    {
      args: ['pause', 'shop.updated', '--reason', 'x', '--stage', 'prod', '--outputs', 'outputs.json'],
      line: 'Either --stage or --outputs, not both',
    },
  ])('$args', async ({ args, line }) => {
    expect(await project.type(args)).toEqual(refusal(line, 2));
  });

  test('start with a wrong port in its environment', async () => {
    expect(await project.type(['start'], { AWS_PORT: '3e3' })).toEqual(
      refusal(
        "Option '--aws-port <port>' value '3e3' from env 'AWS_PORT' is invalid. It must be a whole number from 0 to 65535.",
        2,
      ),
    );
  });

  test('start with the same port for two options', async () => {
    const port = String(await freePort());
    expect(await project.type(['start', '--port', port, '--inspect', `receiver:${port}`])).toEqual(
      refusal(`--port and --inspect receiver:<port> must differ, not both be ${port}`, 2),
    );
  });

  // In processes of their own: these end the process.
  test('check-sender without a secret, or with a port that is in use', async () => {
    expect(await project.run(['check-sender'])).toEqual(
      refusal('Set the secret that signs deliveries: --secret, or the variable WEBHOOK_SECRET', 2),
    );
    const { port, server } = await occupyPort();
    expect(await project.run(['check-sender', '--secret', 'x', '--port', String(port)])).toEqual(
      refusal(`Port ${port} is in use. Stop what uses it, or choose another`, 2),
    );
    await once(server.close(), 'close');
  });
});

describe('what a command needs and does not find is named in one line, with exit code 1:', () => {
  test.each([
    { args: ['send', '--file', 'events/none.json'], line: 'No file events/none.json' },
    { args: ['send', '--file', 'events'], line: 'events is a folder, not a file' },
    { args: ['invoke', 'shop.updated'], line: 'The local stack is not running. Start it with: npm start' },
  ])('$args', async ({ args, line }) => {
    expect(await project.type(args)).toEqual(refusal(line));
  });

  test('send, if nothing listens', async () => {
    const url = `http://localhost:${await freePort()}/api/v1/webhooks/partner`;
    const outputs = { QuarantineQueueUrl: url, ShopUpdatedQueueUrl: url, WebhookUrl: url };
    await writeFile(project.path('nobody.json'), JSON.stringify({ stack: outputs }));
    const args = ['send', 'shop.updated', '--outputs', 'nobody.json', '--secret', 'any'];
    // In a process of its own: Jest's modules have another `TypeError` than `fetch`.
    expect(await project.run(args)).toEqual(
      refusal(
        `Nothing answers. Is the stack running (npm start), and is the address right? If it is restarting, try again in a few seconds: ${url}`,
      ),
    );
  });

  const loopback = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal }) => internal).map(({ address }) => address),
  );
  test.each(['127.0.0.1', '::1'].filter((host) => loopback.includes(host)))(
    'start, if something on %s uses its ports',
    async (host) => {
      const [one, other] = await Promise.all([occupyPort(host), occupyPort(host)]);
      const args = ['--port', String(one.port), '--aws-port', '0', '--console-port', String(other.port)];
      expect(await project.type(['start', ...args])).toEqual(
        refusal(
          `Ports ${one.port}, ${other.port} are in use. Stop what uses them, or choose others with --port, --console-port`,
        ),
      );
      await Promise.all([one, other].map(({ server }) => once(server.close(), 'close')));
    },
  );
});

describe('a process of hookctl', () => {
  test.each([
    {
      args: ['sennd'],
      line: expect.stringMatching(/^No command 'sennd'\. Did you mean send\? One of: start, /),
    },
    { args: [], line: expect.stringMatching(/^Usage: hookctl <command> /) },
  ])('exits with 2 after $args', async ({ args, line }) => {
    expect(await project.run(args)).toEqual({ code: 2, stdout: '', stderr: line });
  });

  test.each([{ args: ['invoke', '--retry-fast'] }, { args: ['--retry-fast', 'start'] }])(
    'names the commands that have an option in the wrong place: $args',
    async ({ args }) => {
      expect(await project.run(args)).toEqual(
        refusal("Unknown option '--retry-fast'\n--retry-fast is an option of start", 2),
      );
    },
  );

  test('ends without an error if its output is no longer read', async () => {
    const typed = `"${process.execPath}" tools/hookctl.js dlq --help | true`;
    const ended = { code: 0, stdout: '', stderr: '' };
    expect(await run('bash', ['-c', `set -o pipefail; ${typed}`])).toEqual(ended);
  });

  test('refuses the code and the packages of another checkout', async () => {
    const other = await Project.create('tools');
    const [here, there] = [resolve('.'), realpathSync(other.path('.'))];
    const line = `In ${there}, hookctl would run the code of ${here}: node_modules is a link, or PATH has another checkout's node_modules/.bin. Run npm ci in ${there}, and type npx hookctl there`;
    const node = (script: string) => other.spawn([process.execPath, script, '--version']).ended;
    expect(await node(resolve('tools/hookctl.js'))).toEqual(refusal(line, 2));
    expect(await node('tools/hookctl.js')).toMatchObject({ code: 0 });
    await rm(other.path('node_modules'), { recursive: true });
    await symlink(resolve('node_modules'), other.path('node_modules'));
    expect(await node('tools/hookctl.js')).toEqual(refusal(line, 2));
    await other.remove();
  });

  test('names the file and the line of a syntax error, without calls of Node.js', async () => {
    const other = await Project.create('tools');
    await writeFile(other.path('tools/commands/check.ts'), 'const a: = 1;\n');
    const { code, stderr } = await other.spawn([process.execPath, 'tools/hookctl.js', 'check']).ended;
    expect({ code, place: stderr.split('\n').slice(0, 2) }).toEqual({
      code: 1,
      place: [expect.stringMatching(/^\S+\/tools\/commands\/check\.ts:1$/), 'const a: = 1;'],
    });
    expect(stderr).not.toMatch(/^ +at /m);
    await other.remove();
  });

  test('reads typed paths from the folder in which it is typed', async () => {
    const typed = (folder: string): Promise<Ended> =>
      new Promise((done) => {
        const args = [resolve('tools/hookctl.js'), 'send', '--file', 'none.json'];
        execFile(process.execPath, args, { cwd: folder }, (error, stdout, stderr) =>
          done({ code: Number(error?.code ?? 0), stdout, stderr }),
        );
      });
    expect(await typed('events')).toEqual(refusal('No file events/none.json'));
    expect(await typed('/')).toEqual(
      refusal('hookctl works only in the folder of the project, and in the folders inside it', 2),
    );
  });
});

test.each([
  {
    typed: ['start', '--no-watch', '--secret=hidden', '--retry-fast'],
    options: ['--secret …', '--retry-fast', '--no-watch'],
    npm: 'npm start',
  },
  { typed: ['run', 'check', '--fix'], options: ['--fix'], npm: 'npm run check' },
  {
    typed: ['test', '--bail', '--maxWorkers=2', 'none'],
    options: ['--maxWorkers 2', '--bail'],
    npm: 'npm test',
    also: ' none',
  },
])(
  'a script of npm refuses options that npm keeps: npm $typed',
  async ({ typed, options, npm, also = '' }) => {
    const right = `${options.join(' ')}${also}`;
    const line = `npm took ${options.join(' and ')} for itself. Type -- before your options: ${npm} -- ${right}\nOr type: npx hookctl ${npm.split(' ').at(-1)} ${right}`;
    expect(await run('npm', typed)).toMatchObject({ code: 2, stderr: `${line}\n` });
  },
);

describe("on a major version of Node.js that is not Lambda's", () => {
  const found = `Node.js 99 is needed, this is ${process.versions.node}.`;
  let other: Project;

  beforeAll(async () => {
    // Copied with what the check of the version needs, because it reads files of its own folder.
    other = await Project.create('check-node.js', 'tools', 'bin', 'jest.config.js', 'package.json');
    const description = JSON.parse(readFileSync('package.json', 'utf8'));
    description.devDependencies.node = '99.1.0';
    await writeFile(other.path('package.json'), JSON.stringify(description));
  });
  afterAll(() => other.remove());

  /** Runs Node.js without type stripping, like an older Node.js. */
  const run = (args: readonly string[]) => other.spawn([process.execPath, '--no-strip-types', ...args]).ended;

  test('a command without npm says where Node.js is', async () => {
    expect(await run(['tools/hookctl.js', 'start'])).toEqual(
      refusal(
        `${found} It is in node_modules/.bin. npm and npx use it: type "npm start", "npm test" or "npx hookctl".`,
      ),
    );
  });

  test('each entry point says that Node.js, or all packages, are not installed, and how to install them', async () => {
    const [, , ...app] = JSON.parse(readFileSync('cdk.json', 'utf8')).app.split(' ');
    const entries = [['tools/hookctl.js', 'start'], app, [resolve('node_modules/jest/bin/jest.js')]];
    const every = async (line: string) => {
      for (const args of entries) expect(await run(args)).toEqual(refusal(line));
    };
    await rm(other.path('node_modules'), { recursive: true });
    await every(
      'Packages are missing. Run: npm ci --include=dev (with NODE_ENV=production or omit=dev, npm leaves out those for development)',
    );
    await mkdir(other.path('node_modules/node'), { recursive: true });
    await writeFile(other.path('node_modules/node/package.json'), '{}');
    await every(
      `${found} An install script of the package node installs it. Run: npm ci --ignore-scripts=false`,
    );
  });
});

test('check names the command that fixes format and import order', async () => {
  const other = await Project.create();
  await rm(other.path('node_modules'));
  for (const [program, code] of Object.entries({ 'typescript/bin/tsc': 0, '@biomejs/biome/bin/biome': 1 })) {
    const file = other.path(`node_modules/${program}`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `process.exit(${code});`);
  }
  const line = 'To fix format and import order: npx hookctl check --fix';
  expect(await other.type(['check'])).toEqual(refusal(line));
  expect(await other.type(['check', '--fix'])).toEqual({ code: 1, stdout: '', stderr: '' });
  await other.remove();
});

(process.platform === 'linux' ? test : test.skip)('start needs enough open files', async () => {
  const command =
    'ulimit -n 64; exec "$0" tools/hookctl.js start --no-watch --port 0 --aws-port 0 --console-port 0';
  expect(await run('bash', ['-c', command, process.execPath])).toEqual(
    refusal('Only 64 open files are allowed. Raise the limit: ulimit -n 1024'),
  );
});

test('a folder that cannot be written is named in one line', async () => {
  const error = Object.assign(new Error(), { code: 'EACCES', path: '.local', syscall: 'mkdir' });
  expect(await messageOf(error)).toBe(
    'Permission denied: .local. Use a checkout that belongs to you, in a folder that can be written',
  );
});
