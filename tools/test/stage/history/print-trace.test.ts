import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { deriveHistory } from '../../../stage/history/derive-history.ts';
import type { Fact } from '../../../stage/history/facts.ts';
import type { DeliveryState, HistoryLocation } from '../../../stage/history/history.ts';
import { describeTrace } from '../../../stage/history/print-trace.ts';
import type { Trace } from '../../../stage/history/trace.ts';
import { textWidth } from '../../../terminal/layout.ts';
import { at, consumed, EVENT_ID, failed, received, record, time } from './support.ts';

const stage = {
  title: 'stage prod in eu-west-1',
  command: (text: string, script = 'dlq') => `npx hookctl ${script} ${text} --stage prod`,
};
const sources = [{ text: 'Logs: 4 lines.' }];

const traceOf = (facts: readonly Fact[]): Trace => ({
  stack: stage.title,
  ...{ id: EVENT_ID, effects: [], sources },
  history: deriveHistory(facts),
});

const text = (trace: Trace, width = Number.POSITIVE_INFINITY) =>
  describeTrace(trace, stage, width).join('\n');

const DAY = 86_400;
const EXCEEDED = 'The level of configured throughput was exceeded. '.repeat(3);
const rejection = { reason: 'wrong-signature', sourceIp: '203.0.113.7' };
const replay = { name: 'repair-1', mode: 'repair', notify: true } as const;
const story = traceOf([
  received(-DAY, 'Rejected', { requestId: 'request-0', ...rejection }),
  received(0, 'Accepted', { lagMs: 2000 }),
  failed(1, 1, 30, { errorMessage: EXCEEDED }),
  consumed(31, 'Processed', { attempt: 2, latencyMs: 31_500 }),
  record(31, { attempt: 2, shopId: 'shop-1', timestamp: '2026-01-31T08:59:58.100000000Z' }),
  consumed(50, 'Processed', { messageId: 'message-2', replay: 'repair-1' }),
  record(50, { replay }),
]);

test('each step has its time, and the duration since the previous one', () => {
  expect(text(story)).toBe(`shop.updated ${EVENT_ID} in stage prod in eu-west-1
shop shop-1, the partner’s timestamp 2026-01-31T08:59:58.1Z

2026-01-30, times in UTC
09:00:00.000           ● received     request request-0
09:00:00.000           ● answered     401 wrong signature, from 203.0.113.7

2026-01-31
08:59:59.500     +1 d  ● received     again, as request request-1, 2.0 s after the partner’s timestamp
09:00:00.000  +500 ms  ● queued       on the queue of shop.updated
09:00:00.000           ● answered     200 queued
09:00:01.000   +1.0 s  ● failed       attempt 1: Throttled: ${EXCEEDED}; retry scheduled for 09:00:31, 30 s later
09:00:31.000    +30 s  ● processed    attempt 2, 32 s after receipt
09:00:31.000           ● archived     in date=2026-01-31/hour=09

09:00:50.000    +19 s  ● processed    attempt 1 (replay repair-1)
09:00:50.000           ● archived     in date=2026-01-31/hour=09

Processed: Finished at 09:00:31.

Logs: 4 lines.`);
});

test('it fits a terminal, and loses nothing', () => {
  const lines = describeTrace(story, stage, 80);
  expect(Math.max(...lines.map((line) => textWidth(line)))).toBeLessThanOrEqual(80);
  const withoutFrames = (all: string) => all.replace(/[\s│]/g, '');
  // Ids are shortened on a terminal.
  expect(withoutFrames(lines.join(''))).toBe(
    withoutFrames(text(story).replace(EVENT_ID, EVENT_ID.slice(0, 8))),
  );
});

test.each([
  ['Ignored', '200 ignored'],
  ['Parked', '200 parked'],
])('the answer to an unknown kind: %s', (message, answer) => {
  expect(text(traceOf([received(0, message)]))).toMatch(new RegExp(`answered +${answer}\\n`));
});

test('outside text cannot control the terminal', () => {
  const trace = traceOf([received(0, 'ServerError', { errorMessage: '\u001b[2J' })]);
  expect(text(trace)).toContain('500: Error: \\u001b[2J');
  expect(text(trace)).not.toContain('\u001b[2J');
});

test('of many rejected requests with the same bytes some are printed, always including the requested one', () => {
  const many = Array.from({ length: 40 }, (_, index) => {
    return received(index, 'Rejected', { requestId: `rejected-${index}` });
  });
  const shown = text({ ...traceOf(many), id: 'rejected-30' });
  expect(shown.match(/rejected-\d+/g)).toEqual([0, 1, 2, 3, 4, 30].map((index) => `rejected-${index}`));
  expect(shown).toContain('… and 34 more requests with these bytes, all answered 401');
});

describe('the current location', () => {
  beforeAll(() => void jest.useFakeTimers({ now: time(90) }));
  afterAll(() => void jest.useRealTimers());

  const since = at(0);
  const longAgo = at(90 - 3600);
  const now = (state: DeliveryState, more: Partial<HistoryLocation> = {}): HistoryLocation => ({
    ...{ state, queue: 'shop.updated', since, ...more },
  });
  const error = 'Throttled';
  const once = { attempts: 1, error };
  const paused = { by: 'arn:aws:sts::123456789012:assumed-role/Operator/ann', reason: 'ticket 1', since };
  const discarded = { by: 'arn:aws:iam::123456789012:user/mara', reason: 'a test' };
  const onDeadLetterQueue = 'on the dead-letter queue of shop.updated';
  const texts: Readonly<Record<string, HistoryLocation>> = {
    'Skipped: Newer data was already stored.': now('skipped', { reason: 'newer-data' }),
    'Processed: Finished at 09:00:00: an earlier attempt did it, and did not get its answer.': now(
      'processed',
      { reason: 'answer-lost' },
    ),
    'Queued: It has waited on the queue of shop.updated for 1 min 30 s.': now('queued'),
    'for 1 h. No attempt since then is known: the consumer crashes, is throttled, or is behind.': now(
      'queued',
      { since: longAgo },
    ),
    'Retrying: 1 attempt failed: Throttled. Next attempt in 1 min 30 s, at 09:03:00.': now('retrying', {
      ...once,
      nextAttemptAt: at(180),
    }),
    '2 attempts failed: Throttled. Retry scheduled for 09:00:00.': now('retrying', {
      ...once,
      attempts: 2,
      nextAttemptAt: since,
    }),
    '1 attempt failed: Throttled. Attempt 2 started at 09:00:00.\n': now('retrying', {
      ...once,
      startedAt: since,
    }),
    'Attempt 2 started at 08:01:30. The function crashed or timed out, without a log line.\n': now(
      'retrying',
      { ...once, startedAt: longAgo },
    ),
    'Paused: shop.updated was paused 1 min 30 s ago by ann: ticket 1. It waits on the queue until the event is resumed. Resume it: npx hookctl resume shop.updated --stage prod':
      now('paused', { paused }),
    [`Dead letter: Throttled. It is ${onDeadLetterQueue}. SQS deletes it in 1 min 30 s. Show it: npx hookctl dlq show shop.updated --stage prod`]:
      now('dead-letter', { error, until: at(180) }),
    [`It was ${onDeadLetterQueue} until ${since}, when SQS deleted it.`]: now('dead-letter', {
      until: since,
    }),
    'Removed: It was redriven or deleted. It was not on the quarantine queue at 09:00:00. The same bytes came again as request request-9.':
      now('removed', { queue: 'quarantine', again: 'request-9' }),
    [`Removed: Discarded by mara: a test. It was not ${onDeadLetterQueue}`]: now('removed', { discarded }),
    'Invalid: The answer was 400: data.shop_id is missing. It is on the quarantine queue.': now('invalid', {
      queue: 'quarantine',
      status: 400,
      error: 'data.shop_id is missing',
    }),
    'It is on the unrouted queue. Show it: npx hookctl dlq show unrouted': now('parked', {
      queue: 'unrouted',
    }),
  };

  test.each(Object.entries(texts))('%s', (expected, location) => {
    const printed = text({ ...story, history: { eventId: EVENT_ID, steps: [], now: [location] } });
    expect(printed).toContain(expected);
  });
});

test('the changed item and the notification are printed, without versions and data as sent', () => {
  const item = { girl_id: 'girl-1', name: 'Yuki', age: 25, version: `1#${EVENT_ID}`, data: '{}' };
  const location = { at: at(1), table: 'CastTable', key: 'girl-1' };
  const texts = { default: 'New review\n\nShop: shop-1\nRating: 5', sqs: '{}' };
  const printed = text({
    ...story,
    effects: [
      { kind: 'item', ...location, before: null, after: item },
      { kind: 'item', ...location, before: item, after: null },
      { kind: 'notification', at: at(2), topic: 'ReviewTopicArn', subject: 'New review', texts },
    ],
  });
  expect(printed).toContain(`
CastTable: girl_id=girl-1 name=Yuki age=25
CastTable: item girl-1 was deleted
Notification on ReviewTopicArn: New review, Shop: shop-1, Rating: 5
`);
});
