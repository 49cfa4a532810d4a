import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { COMMAND_GROUPS } from '../../program.ts';
import { type Ended, Project, refusal } from './project.ts';

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

test('the scripts of package.json are commands without options', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const others = Object.entries(scripts).filter(
    ([name, script]) =>
      script.replaceAll(/--[a-z-]+=\d+ /g, '') !== `node tools/hookctl.js ${name}` ||
      !commands.some((command) => command === name),
  );
  expect(others).toEqual([]);
});

describe('--help', () => {
  test('lists every command below the people who need it', async () => {
    const { code, stdout } = await project.type(['--help']);
    expect(code).toBe(0);
    const sections = stdout.split(/^(?=\S.*:$)/m);
    for (const [group, names] of Object.entries<readonly string[]>(COMMAND_GROUPS)) {
      const section = sections.find((text) => text.startsWith(`${group}:`)) ?? '';
      expect([...section.matchAll(/^ {2}([a-z][\w-]*) /gm)].map(([, name]) => name)).toEqual(names);
    }
  });

  test.each(commands)('of %s says how it is typed and what it does', async (command) => {
    const { code, stdout, stderr } = await project.type([command, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: hookctl ${command} .*\n\n[A-Z]`));
    expect(stdout).toContain('-h, --help');
  });
});

test.each(commands.filter((command) => command !== 'test'))(
  '%s refuses a wrong option in one line, with exit code 2',
  async (command) => {
    expect(await project.type([command, '--no-such-option'])).toEqual(
      refusal("Unknown option '--no-such-option'", 2),
    );
  },
);

describe('a process of hookctl', () => {
  test.each([
    {
      args: ['sennd'],
      line: expect.stringMatching(/^No command 'sennd'\. Did you mean send\? One of: start, /),
    },
    { args: [], line: expect.stringMatching(/^Choose a command: start, /) },
    { args: ['start', '--prot', '1'], line: "Unknown option '--prot' (Did you mean --port?)\n" },
  ])('exits with 2 and one line after $args', async ({ args, line }) => {
    expect(await project.run(args)).toEqual({ code: 2, stdout: '', stderr: line });
  });

  test('prints the version of the tools', async () => {
    const { version } = JSON.parse(readFileSync('tools/package.json', 'utf8'));
    expect(await project.run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('ends without an error if its output is no longer read', async () => {
    const typed = `"${process.execPath}" tools/hookctl.js dlq --help | true`;
    expect(await run('bash', ['-c', `set -o pipefail; ${typed}`])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  test('is what npx finds', async () => {
    const found = await new Promise<string>((done) => {
      execFile('npx', ['--no-install', 'hookctl', 'dlq', '--help'], (_, stdout) => done(stdout));
    });
    expect(found).toMatch(/^Usage: hookctl dlq /);
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

describe('a script of npm', () => {
  test.each([
    {
      typed: ['start', '--port=0', '--retry-fast'],
      refused:
        'npm took --port and --retry-fast for itself, because -- is missing: npm start -- --port 0 --retry-fast\n' +
        'Or type: npx hookctl start --port 0 --retry-fast\n',
    },
    {
      typed: ['test', '-t', 'signature'],
      refused:
        'npm took -t for itself, because -- is missing: npm test -- -t signature\n' +
        'Or type: npx hookctl test -t signature\n',
    },
    {
      typed: ['start', '--no-watch', '--secret=hidden'],
      refused:
        'npm took --secret and --no-watch for itself, because -- is missing: npm start -- --secret … --no-watch\n' +
        'Or type: npx hookctl start --secret … --no-watch\n',
    },
    {
      typed: ['run', 'generate', '--check'],
      refused:
        'npm took --check for itself, because -- is missing: npm run generate -- --check\n' +
        'Or type: npx hookctl generate --check\n',
    },
  ])('refuses options that npm keeps: npm $typed', async ({ typed, refused }) => {
    const ended = await run('npm', typed);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 2, stderr: refused });
  });
});
