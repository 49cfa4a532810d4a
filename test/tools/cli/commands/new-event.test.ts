import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.ts';
import { type Ended, Project } from './project.ts';

/** How long three syntheses may take, in milliseconds: machines are noisy. */
const PATIENCE = 300_000;

let project: Project;

beforeAll(async () => {
  // A link would lead the imports of a module back to the files that stay as they are.
  const code = ['bin', 'events', 'lambda', 'lib', 'local', 'test', 'tools'];
  project = await Project.create({ copied: [...code, 'docs', 'README.md', '.gitignore'] });
  git('init', '--quiet');
  // A link is no folder, which is what .gitignore has.
  appendFileSync(project.path('.git/info/exclude'), 'node_modules\n');
  commit();
}, PATIENCE);

afterAll(() => project.remove());

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd: project.path('.'), encoding: 'utf8' });
}

function commit(): void {
  git('add', '--all');
  git('commit', '--quiet', '--message=As it is');
}

const newEvent = (...args: string[]) => project.run(['new-event', ...args]);

const refused = (line: unknown) => ({ code: 1, stdout: '', stderr: line });

afterEach(() => {
  expect(git('status', '--porcelain')).toBe('');
});

describe('in one line, with nothing written, it refuses', () => {
  test.each([
    ['shop.updated', 'it is an event already'],
    ['signing.vectors', 'events/signing-vectors.json is there already'],
    ['shop.updated_dead_letter', 'the stack has another output ShopUpdatedDeadLetterQueueUrl'],
    ['smoke.test', 'the stack has another function smoke-test'],
    ['example.unknown', 'tests take it for a kind that nobody knows'],
  ])('%s: %s', async (name, reason) => {
    expect(await newEvent(name, '--effect', 'shop-cache', '--id', 'shop_id')).toEqual(
      refused(`${name} cannot be added: ${reason}\n`),
    );
  });

  test.each([
    'shop',
    'shop.',
    'Shop.closed',
    'example.added.twice',
    'shop_a.closed',
    '1example.added',
    '../a.b',
  ])('a name like %s', async (name) => {
    expect(await newEvent(name, '--effect', 'chat')).toEqual(
      refused(expect.stringMatching(/^The name must be like shop\.closed or .*\n$/)),
    );
  });

  test.each<[string, string[], RegExp]>([
    ['an effect that there is not', ['--effect', 'mail'], /argument 'mail' is invalid/],
    ['no effect', [], /^Say what its consumer does, by --effect: one of shop-cache, cast/],
    ['a row without an id', ['--effect', 'cast'], /^cast writes a row: say which field of data is its id/],
    ['an id that is none', ['--effect', 'cast', '--id', 'girl-id'], /^--id must be a field such as shop_id/],
    ['a meaning of two lines', ['--effect', 'chat', '--meaning', 'a\nb'], /^--meaning must be up to 99/],
    ['a second name', ['shop.opened', '--effect', 'chat'], /too many arguments/i],
  ])('%s', async (_, args, line) => {
    const { code, stdout, stderr } = await newEvent('example.added', ...args);
    expect({ code, stdout, stderr }).toEqual(refused(expect.stringMatching(line)));
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  test('files that have changes which are not committed', async () => {
    appendFileSync(project.path('README.md'), 'More.\n');
    writeFileSync(project.path('events/api-gateway/more.json'), '{}');
    try {
      expect(await newEvent('example.added', '--effect', 'chat')).toEqual(
        refused(
          'Commit or undo these first, which would be written to: README.md, events/api-gateway/more.json\n',
        ),
      );
    } finally {
      git('checkout', '--quiet', 'README.md');
      git('clean', '--force', '--quiet');
    }
  });
});

describe('every file is as it was', () => {
  const ending = ({ code, stderr }: Ended) => ({ code, stderr });

  test(
    'after the synthesis has refused the name of a construct',
    async () => {
      expect(ending(await newEvent('saved.queries', '--effect', 'chat'))).toEqual({
        code: 1,
        stderr: expect.stringMatching(
          /^saved\.queries cannot be added: There is already a Construct with name 'SavedQueries' .*as it was\n$/,
        ),
      });
    },
    PATIENCE,
  );

  test(
    'after an interruption',
    async () => {
      const running = project.start(['new-event', 'example.added', '--effect', 'chat']);
      await eventually(async () => existsSync(project.path('events/example-added.json')) || undefined, {
        limit: PATIENCE,
      });
      running.interrupt();
      expect(ending(await running.ended)).toEqual({
        code: 1,
        stderr: 'Interrupted (SIGINT): every file is as it was\n',
      });
    },
    PATIENCE,
  );
});

test(
  'what it adds is complete: nothing that follows from it is left, and it cannot be added twice',
  async () => {
    const meaning = "The shop's door has closed";
    const added = await newEvent('example.added', '--effect', 'chat', '--meaning', meaning);
    expect({ code: added.code, stderr: added.stderr }).toEqual({ code: 0, stderr: '' });
    expect(readFileSync(project.path('README.md'), 'utf8')).toContain(`| \`example.added\` | ${meaning} |`);
    // So that it can be seen to be looked for.
    appendFileSync(project.path('docs/configuration.md'), 'By hand.\n');
    commit();
    expect(await project.run(['generate', '--check'])).toEqual(
      refused('Not what the code says: docs/configuration.md. Bring them up to date: npm run generate\n'),
    );
    expect(await newEvent('example.added', '--effect', 'chat')).toEqual(
      refused('example.added cannot be added: it is an event already\n'),
    );
  },
  PATIENCE,
);
