import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Project } from './project.ts';

let project: Project;

beforeAll(async () => {
  // Copied, because imports through a symbolic link would load the original files.
  project = await Project.create({
    copied: ['bin', 'events', 'lambda', 'lib', 'test', 'tools', 'docs'],
  });
});

afterAll(() => project.remove());

const newEvent = (...args: string[]) => project.type(['new-event', ...args]);

describe('new-event refuses in one line', () => {
  test.each([
    {
      args: ['shop.updated', '--effect', 'shop-cache', '--id', 'shop_id'],
      line: /^shop\.updated cannot be added: lambda\/events\/shop-updated already exists\n$/,
      code: 1,
    },
    { args: ['example.unknown', '--effect', 'chat'], line: /It must be like shop\.closed or .*\n$/ },
    { args: ['../a.b', '--effect', 'chat'], line: /It must be like shop\.closed or .*\n$/ },
    { args: ['example.added', '--effect', 'mail'], line: /argument 'mail' is invalid.*\n$/ },
    { args: ['example.added'], line: /^Choose an effect with --effect: shop-cache, cast.*\n$/ },
    {
      args: ['example.added', '--effect', 'cast', '--id', 'girl-id'],
      line: /It must be a field such as shop_id.*\n$/,
    },
  ])('$args', async ({ args, line, code = 2 }) => {
    const refused = { code, stderr: expect.stringMatching(line) };
    expect(await newEvent(...args)).toMatchObject(refused);
  });
});

test('adds several events in a row', async () => {
  const added = [
    await newEvent('example.closed', '--effect', 'review', '--id', 'door_id', '--no-generate'),
    await newEvent('example.added', '--effect', 'chat', '--no-generate'),
  ];
  expect(added.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
    { code: 0, stderr: '' },
    { code: 0, stderr: '' },
  ]);
  const read = (file: string) => readFileSync(project.path(file), 'utf8');
  expect(read('lambda/events/index.ts')).toMatch(
    /'example\.closed': exampleClosed,\n {2}'example\.added': exampleAdded,/,
  );
  expect(read('lambda/events/example-added/event.ts')).toContain("meaning: 'Example added'");
  expect(read('lambda/events/example-closed/notification.ts')).toContain('door_id');
});
