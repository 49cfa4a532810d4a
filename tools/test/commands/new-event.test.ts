import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.ts';
import { Project } from './project.ts';

let project: Project;

beforeAll(async () => {
  // Copied, because imports through a symbolic link would load the original files.
  project = await Project.create('bin', 'events', 'lambda', 'lib', 'test', 'tools', 'docs');
});

afterAll(() => project.remove());

const newEvent = (...args: string[]) => project.type(['new-event', ...args]);
const read = (file: string) => readFileSync(project.path(file), 'utf8');

test.each([
  {
    args: ['shop.updated', '--like', 'shop.updated'],
    line: /^shop\.updated cannot be added: lambda\/events\/shop-updated already exists\n$/,
    code: 1,
  },
  { args: ['example.unknown', '--like', 'shop.updated'], line: /It must be like shop\.closed or .*\n$/ },
  { args: ['../a.b', '--like', 'shop.updated'], line: /It must be like shop\.closed or .*\n$/ },
  { args: ['example.added', '--like', 'example.other'], line: /argument 'example.other' is invalid.*\n$/ },
  { args: ['example.added'], line: /^Choose the event .* with --like: shop\.updated, .*\n$/ },
])('new-event refuses in one line: $args', async ({ args, line, code = 2 }) => {
  const refused = { code, stderr: expect.stringMatching(line) };
  expect(await newEvent(...args)).toMatchObject(refused);
});

test('removes its files if it is interrupted', async () => {
  const index = 'lambda/events/index.ts';
  const before = read(index);
  const running = project.start(['new-event', 'example.opened', '--like', 'girl.schedule_changed']);
  const sample = project.path('events/example-opened.json');
  await eventually(async () => (existsSync(sample) && read(index).includes('exampleOpened')) || undefined);
  running.interrupt();
  const { code, stderr } = await running.ended;
  const line = 'example.opened cannot be added: interrupted (SIGINT). No file was changed\n';
  expect({ code, stderr }).toEqual({ code: 1, stderr: line });
  expect([existsSync(sample), read(index)]).toEqual([false, before]);
});

test('adds several events in a row', async () => {
  const added = [
    await newEvent('example.closed', '--like', 'review.posted', '--no-generate'),
    await newEvent('example.added', '--like', 'girl.schedule_changed', '--no-generate'),
  ];
  expect(added.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
    { code: 0, stderr: '' },
    { code: 0, stderr: '' },
  ]);
  expect(read('lambda/events/index.ts')).toMatch(
    /'example\.closed': exampleClosed,\n {2}'example\.added': exampleAdded,/,
  );
  expect(read('lambda/events/example-added/event.ts')).toContain("meaning: 'Example added'");
  expect(read('lambda/events/example-closed/notification.ts')).toContain("title: 'Example closed'");
  expect(read('lambda/events/example-closed/consumer.ts')).not.toContain('review.posted');
});
