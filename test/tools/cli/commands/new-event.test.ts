import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.ts';
import { Project, refusal } from './project.ts';

let project: Project;
let firstCommit: string;

beforeAll(async () => {
  // Copied, because imports through a link would load the original files.
  const code = ['bin', 'events', 'lambda', 'lib', 'local', 'test', 'tools'];
  project = await Project.create({ copied: [...code, 'docs', '.gitignore'] });
  git('init', '--quiet');
  // .gitignore matches only a folder, and here it is a link.
  appendFileSync(project.path('.git/info/exclude'), 'node_modules\n');
  commit();
  firstCommit = git('rev-parse', 'HEAD').trim();
});

afterAll(() => project.remove());

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd: project.path('.'), encoding: 'utf8' });
}

function commit(): void {
  git('add', '--all');
  git('commit', '--quiet', '--message=As it is');
}

const newEvent = (...args: string[]) => project.type(['new-event', ...args]);

/** Each test leaves everything committed or restored. */
afterEach(() => {
  expect(git('status', '--porcelain')).toBe('');
  git('reset', '--quiet', '--hard', firstCommit);
});

describe('new-event refuses in one line', () => {
  test.each([
    { name: 'shop.updated', reason: 'it already exists' },
    { name: 'signing.vectors', reason: 'events/signing-vectors.json already exists' },
    {
      name: 'shop.updated_dead_letter',
      reason: 'the stack has another output ShopUpdatedDeadLetterQueueUrl',
    },
    { name: 'smoke.test', reason: 'the stack has another function smoke-test' },
    { name: 'example.unknown', reason: 'tests use it as an unknown event kind' },
  ])('$name: $reason', async ({ name, reason }) => {
    expect(await newEvent(name, '--effect', 'shop-cache', '--id', 'shop_id')).toEqual(
      refusal(`${name} cannot be added: ${reason}`),
    );
  });

  test.each(['shop.', 'Shop.closed', 'example.added.twice', 'shop_a.closed', '1example.added', '../a.b'])(
    'the name %s',
    async (name) => {
      expect(await newEvent(name, '--effect', 'chat')).toEqual(
        refusal(expect.stringMatching(/^The name must be like shop\.closed or .*\n$/)),
      );
    },
  );

  test.each([
    { args: ['--effect', 'mail'], line: /argument 'mail' is invalid.*\n$/ },
    { args: [], line: /^Choose the effect of its consumer with --effect: one of shop-cache, cast.*\n$/ },
    { args: ['--effect', 'cast'], line: /^cast writes an item: name the field of data with its id.*\n$/ },
    { args: ['--effect', 'cast', '--id', 'girl-id'], line: /^--id must be a field such as shop_id.*\n$/ },
    { args: ['--effect', 'chat', '--meaning', 'a\nb'], line: /^--meaning must be up to 99.*\n$/ },
  ])('the options $args', async ({ args, line }) => {
    expect(await newEvent('example.added', ...args)).toEqual(refusal(expect.stringMatching(line)));
  });

  test('to write to files with uncommitted changes', async () => {
    appendFileSync(project.path('docs/how-it-works.md'), 'More.\n');
    writeFileSync(project.path('events/api-gateway/more.json'), '{}');
    expect(await newEvent('example.added', '--effect', 'chat')).toEqual(
      refusal(
        'Commit or undo your changes to these files first, because they would be written: docs/how-it-works.md, events/api-gateway/more.json',
      ),
    );
    git('checkout', '--quiet', 'docs/how-it-works.md');
    git('clean', '--force', '--quiet');
  });
});

// Each test synthesises the stack with a new event.
describe('new-event', () => {
  test('leaves every file unchanged if the synthesis refuses the name of a construct', async () => {
    const { code, stderr } = await newEvent('saved.queries', '--effect', 'chat');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^saved\.queries cannot be added: There is already a Construct with name 'SavedQueries' .*No file was changed\n$/,
      ),
    });
  });

  test('leaves every file unchanged if it is interrupted', async () => {
    const running = project.start(['new-event', 'example.opened', '--effect', 'chat']);
    await eventually(async () => existsSync(project.path('events/example-opened.json')) || undefined);
    running.interrupt();
    const { code, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'Interrupted (SIGINT): no file was changed\n' });
  });

  test('adds everything that an event needs', async () => {
    const meaning = "The shop's door has closed";
    const added = await newEvent('example.added', '--effect', 'chat', '--meaning', meaning);
    expect({ code: added.code, stderr: added.stderr }).toEqual({ code: 0, stderr: '' });
    expect(readFileSync(project.path('docs/how-it-works.md'), 'utf8')).toContain(
      `| \`example.added\` | ${meaning} |`,
    );
    // The check must find this change, and no other.
    appendFileSync(project.path('docs/configuration.md'), 'By hand.\n');
    commit();
    expect(await project.run(['generate', '--check'])).toEqual(
      refusal('Out of date: docs/configuration.md. Update with: npm run generate'),
    );
  });
});
