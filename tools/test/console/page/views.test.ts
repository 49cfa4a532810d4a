import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { NeedsYouMessage, StackInfo } from '../../../console/api.ts';
import { discardMessages, redriveMessages, redriveQueues } from '../../../console/page/command.ts';
import { actionsOf } from '../../../console/page/detail/actions.ts';
import { groupsOf, ofQueueOrShop } from '../../../console/page/needs-you/needs-you-view.tsx';
import { formatRoute, parseRoute, VIEWS } from '../../../console/page/route.ts';
import { setStack } from '../../../console/page/store.ts';
import { ageText, dayText } from '../../../console/page/ui/time.tsx';
import { toasts } from '../../../console/page/ui/toasts.ts';
import { answersText, isAllowed } from '../../../console/page/use-run.tsx';
import type { DeliveryState } from '../../../stage/history/history.ts';
import { payloadPreview } from '../../../stage/payload-filter.ts';

describe('an address of the page', () => {
  test.each(['', '#/', '#/nothing/x'])('leads to all deliveries if it is %j', (hash) => {
    expect(parseRoute(hash)).toEqual({ view: 'deliveries', query: {} });
  });

  test('is read as it was written, for any ids and texts', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    const route = fc.record({
      view: fc.constantFrom(...VIEWS),
      id: text,
      query: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
    });
    fc.assert(fc.property(route, (given) => expect(parseRoute(formatRoute(given))).toEqual(given)));
  });

  test('leaves empty values out', () => {
    const query = { search: '', event: 'x' };
    expect(formatRoute({ view: 'deliveries', query })).toBe('#/deliveries?event=x');
  });
});

describe('a time', () => {
  const now = Date.parse('2026-01-31T12:00:00.000Z');

  test.each([
    { ago: -5_000, text: '0 s' },
    { ago: 59_999, text: '59 s' },
    { ago: 60_000, text: '1 min' },
    { ago: 7_530_000, text: '2 h 5 min' },
  ])('$ago ms ago has the age $text', ({ ago, text }) => {
    expect(ageText(new Date(now - ago).toISOString(), now)).toBe(text);
  });

  test.each([
    { of: 'today', moment: new Date(2026, 10, 21), text: '' },
    { of: 'another day of the year', moment: new Date(2026, 10, 20), text: '11-20 ' },
    { of: 'another year', moment: new Date(2025, 10, 21), text: '2025-11-21 ' },
  ])('of $of has the day “$text”', ({ moment, text }) => {
    expect(dayText(moment, new Date(2026, 10, 21, 20))).toBe(text);
  });
});

const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;

test.each([
  { body: '{"event":"shop.updated","data":{"shop_id": "s1"}}', preview: '{"shop_id":"s1"}' },
  {
    body: '{"data":1,"data":{"a":12345678901234567890,"a":1.0, "b":"x  y"}}',
    preview: '{"a":12345678901234567890,"a":1.0,"b":"x y"}',
  },
  { body: '\ufeff{"data":{"shop_id":"s1"}}', preview: '{"shop_id":"s1"}' },
  { body: '{"event":"shop.updated"}', preview: '{"event":"shop.updated"}' },
  { body: ' no\n\tjson ', preview: 'no json' },
  { body: 'null', preview: 'null' },
  { body: `{"data":${deep}}`, preview: '['.repeat(200) },
  { body: `{"in":{"data":["${'x'.repeat(20_000)}"]}}`, preview: `{"in":{"data":["${'x'.repeat(184)}` },
  { body: `${'x'.repeat(199)}😀`, preview: 'x'.repeat(199) },
])('a queue shows the data of a body in one line: $preview', ({ body, preview }) => {
  expect(payloadPreview(Buffer.from(body))).toBe(preview);
});

test.each([
  { answers: [], text: 'Sent.' },
  { answers: [200], text: 'Answered 200: queued.' },
  { answers: [401, 200, 200], text: 'Sent 3: 2 answered 200, 1 answered 401.' },
])('the answers $answers are summed up as “$text”', ({ answers, text }) => {
  expect(answersText(answers.map((status) => ({ status, text: 'queued' })))).toBe(text);
});

const showStack = (info: Partial<StackInfo>) => setStack({ title: '', events: [], ...info } as StackInfo);

test.each<[state: DeliveryState, ofLocalStack: string, ofStage: string | undefined]>([
  ['processed', 'Send as new event', undefined],
  ['skipped', 'Send as new event', undefined],
  ['queued', 'Send as new event', undefined],
  ['rejected', 'Sign and resend', undefined],
  ['paused', 'Resume shop.updated', 'Resume shop.updated'],
  ['dead-letter', 'Redrive', 'Redrive'],
  ['invalid', 'Edit and send', 'Redrive from quarantine'],
  ['parked', 'Redrive from unrouted', 'Redrive from unrouted'],
])(
  'the main action for a delivery that is %s: on the local stack %s, on a stage %s',
  (state, ...expected) => {
    const delivery = { id: 'r', event: 'shop.updated', eventId: 'e', receivedAt: '', attempts: 1, state };
    const primaries = [true, false].map((local) => {
      showStack({ local });
      return actionsOf(delivery).primary?.label;
    });
    expect(primaries).toEqual(expected);
  },
);

test.each([
  { local: true, readOnly: false, said: [] },
  { local: false, readOnly: false, asked: true, said: [] },
  { local: false, readOnly: false, asked: false, said: ['Cancelled. Nothing was changed.'] },
  {
    local: false,
    readOnly: true,
    said: ['The console was started with --read-only. Nothing can be changed.'],
  },
])('a change of a stack is asked about, and not without a yes: %j', ({ asked, said, ...info }) => {
  jest.useFakeTimers();
  toasts.value = [];
  showStack({ ...info, title: 'stage prod', commandSuffix: ' --stage prod' });
  const questions: string[] = [];
  Object.assign(globalThis, { confirm: (question: string) => questions.push(question) > 0 && asked });
  const isDone = isAllowed([{ argv: ['resume', 'shop.updated'], does: 'It does.', did: 'Done.' }]);
  jest.useRealTimers();
  expect(isDone).toBe(said.length === 0);
  expect(toasts.value.map(({ text }) => text)).toEqual(said);
  const question = 'Change stage prod?\n\nIt does.\n\nnpx hookctl resume shop.updated --stage prod';
  expect(questions).toEqual(asked === undefined ? [] : [question]);
});

describe('messages that need somebody', () => {
  const day = (number: number) => `2026-01-0${number}T00:00:00.000Z`;

  const waiting = (id: string, queue: string, more: Partial<NeedsYouMessage> = {}): NeedsYouMessage => ({
    id,
    queue,
    reason: 'no id',
    sentAt: day(2),
    firstSentAt: day(2),
    copies: 1,
    ...more,
  });

  const messages = [
    waiting('a', 'girl.created', { copies: 2, firstSentAt: day(1) }),
    waiting('b', 'girl.deleted', { sentAt: day(4) }),
    waiting('c', 'girl.deleted', { copies: 14, sentAt: day(3) }),
    waiting('d', 'quarantine', { reason: 'Gave up' }),
    waiting('e', 'girl.created', { reason: 'Timeout', sentAt: day(5) }),
  ];

  test('are grouped by queue and reason: most first; in a group the newest first', () => {
    const groups = groupsOf(messages).map((group) => group.messages.map(({ id }) => id).join());
    expect(groups).toEqual(['b,c', 'a', 'd', 'e']);
  });

  test('are filtered by the whole name of a queue, or the whole id of a shop', () => {
    const all = ['shop-1', 'shop-10', undefined].map((shopId, at) =>
      waiting(`${at}`, 'quarantine', { shopId }),
    );
    const found = (search: string) => ofQueueOrShop(all, search).map(({ id }) => id);
    expect(['', 'shop-1', 'shop', 'quarantine'].map(found)).toEqual([
      ['0', '1', '2'],
      ['0'],
      [],
      ['0', '1', '2'],
    ]);
  });

  test('are redriven or discarded by one command per queue, with ids and the number of copies', () => {
    expect(redriveMessages(messages.slice(0, 3))).toEqual([
      {
        argv: ['dlq', 'redrive', 'girl.created', '--id', 'a'],
        does: expect.stringMatching(/^Moves 2 dead letters of girl\.created /),
        did: 'Redriven 2 dead letters of girl.created.',
      },
      {
        argv: ['dlq', 'redrive', 'girl.deleted', '--id', 'b', '--id', 'c'],
        does: expect.stringMatching(/^Moves 15 dead letters of girl\.deleted /),
        did: 'Redriven 15 dead letters of girl.deleted.',
      },
    ]);
    expect(discardMessages(messages.slice(3, 4), 'a test')).toMatchObject([
      { argv: ['dlq', 'discard', 'quarantine', '--reason', 'a test', '--no-export', '--id', 'd'] },
    ]);
  });

  test('of whole queues are redriven without ids', () => {
    expect(redriveQueues(messages).map(({ argv }) => argv.join(' '))).toEqual([
      'dlq redrive girl.created',
      'dlq redrive girl.deleted',
      'dlq redrive quarantine',
    ]);
  });
});
