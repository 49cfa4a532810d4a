import { describe, expect, test } from '@jest/globals';
import {
  callerName,
  deadLetterAddress,
  eventsOf,
  namedQueue,
  previewText,
  queueAddress,
  redriveAll,
  redriveCommand,
  redriveGroup,
} from '../../../../tools/console/page/queues/queue.ts';

test.each([
  ['shop.updated', { event: 'shop.updated', isDead: false }],
  ['dead:shop.updated', { event: 'shop.updated', isDead: true }],
  ['quarantine', { event: undefined, isDead: false }],
  ['unrouted', { event: undefined, isDead: false }],
])('the queue %s of an address', (name, queue) => expect(namedQueue(name)).toEqual(queue));

test('dead letters of an event have their own address', () => {
  expect(queueAddress('girl.created')).toBe('#/queues/girl.created');
  expect(deadLetterAddress('girl.created')).toBe('#/queues/dead%3Agirl.created');
});

test.each([
  ['arn:aws:sts::123456789012:assumed-role/Operator/mara', 'mara'],
  ['arn:aws:iam::123456789012:root', 'arn:aws:iam::123456789012:root'],
  ['nobody/', 'nobody/'],
])('%s is called %s', (arn, name) => expect(callerName(arn)).toBe(name));

const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;

test.each([
  ['{"event":"shop.updated","data":{"shop_id": "s1"}}', '{"shop_id":"s1"}'],
  ['{"event":"shop.updated"}', '{"event":"shop.updated"}'],
  ['{"event":"shop.updated","da', '{"event":"shop.updated","da'],
  [' no\n\tjson ', 'no json'],
  ['null', 'null'],
  ['"text"', '"text"'],
  ['', ''],
  [deep, '['.repeat(200)],
  [`{"data":${deep}}`, `{"data":${'['.repeat(192)}`],
  [`{"data":"${'x'.repeat(300)}"}`, `"${'x'.repeat(199)}`],
])('a line of a body shows what it is about, case %#', (body, preview) =>
  expect(previewText(body)).toBe(preview),
);

describe('a redrive', () => {
  const at = { firstAt: '2026-01-01T00:00:00.000Z', lastAt: '2026-01-02T00:00:00.000Z' };
  const schema = {
    reason: 'data.girl_id: expected a string',
    count: 3,
    ...at,
    messages: [
      { queue: 'girl.deleted', id: 'a' },
      { queue: 'girl.created', id: 'b' },
      { queue: 'girl.created', id: 'c' },
    ],
  } as const;
  const other = {
    reason: 'Gave up',
    count: 1,
    ...at,
    messages: [{ queue: 'girl.created', id: 'd' }],
  } as const;

  const argvOf = (commands: readonly { argv: readonly string[] }[]) => commands.map(({ argv }) => argv);

  test('of a group is one command for each queue, with the ids of its messages', () => {
    expect(argvOf(redriveGroup(schema))).toEqual([
      ['dlq', 'redrive', 'girl.created', '--id', 'b', '--id', 'c'],
      ['dlq', 'redrive', 'girl.deleted', '--id', 'a'],
    ]);
  });

  test('of everything is one command for each queue, without ids', () => {
    expect(argvOf(redriveAll([schema, other]))).toEqual([
      ['dlq', 'redrive', 'girl.created'],
      ['dlq', 'redrive', 'girl.deleted'],
    ]);
  });

  test.each([
    ['shop.updated', undefined, /^Moves all dead letters of shop\.updated back to its queue/],
    ['shop.updated', ['a'], /^Moves 1 dead letter of/],
    ['shop.updated', ['a', 'b'], /^Moves 2 dead letters of/],
    ['quarantine', ['a'], /^Signs the bytes .* posts them to the receiver/],
    ['unrouted', undefined, /^Moves each unrouted event that has a consumer/],
  ])('of %s, messages %j, says what it does', (queue, ids, text) =>
    expect(redriveCommand(queue, ids).does).toMatch(text),
  );

  test('lists the events of a group, most dead letters first', () => {
    expect(eventsOf(schema)).toEqual([
      { event: 'girl.created', ids: ['b', 'c'] },
      { event: 'girl.deleted', ids: ['a'] },
    ]);
  });
});
