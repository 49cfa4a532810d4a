import { describe, expect, test } from '@jest/globals';
import { deriveHistory } from '../../../stage/history/derive-history.ts';
import type { Fact } from '../../../stage/history/facts.ts';
import type { HistoryLocation } from '../../../stage/history/history.ts';
import { describeTrace } from '../../../stage/history/print-trace.ts';
import type { Trace } from '../../../stage/history/trace.ts';
import { textWidth } from '../../../terminal/layout.ts';
import { at, consumed, EVENT_ID, failed, received, record } from './support.ts';

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
08:59:59.500     +1 d  ● received     again, as request request-1, 2 s after the partner’s timestamp
09:00:00.000  +500 ms  ● queued       on the queue of shop.updated
09:00:00.000           ● answered     200 queued
09:00:01.000     +1 s  ● failed       attempt 1: Throttled: ${EXCEEDED}; retry scheduled for 09:00:31, 30 s later
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
  // Half a minute from the next boundary, in case the computer is slow.
  const soon = new Date(Date.now() + 90_000).toISOString();
  const since = new Date(Date.now() - 90_000).toISOString();
  const longAgo = new Date(Date.now() - 3_600_000).toISOString();
  const clock = since.slice(11, 19);
  const queue = 'shop.updated';
  const error = 'Throttled';
  const retrying = { state: 'retrying', queue, since, attempts: 1 } as const;
  const paused = { by: 'arn:aws:sts::123456789012:assumed-role/Operator/ann', reason: 'ticket 1', since };
  const discarded = { by: 'arn:aws:iam::123456789012:user/mara', reason: 'a test' };
  test.each<[HistoryLocation, string | RegExp]>([
    [{ state: 'skipped', since, reason: 'newer-data' }, 'Skipped: Newer data was already stored.'],
    [
      { state: 'processed', since, reason: 'answer-lost' },
      `Processed: Finished at ${clock}: an earlier attempt did it, and did not get its answer.`,
    ],
    [{ state: 'queued', queue, since }, /Queued: It has waited on the queue of shop\.updated for .+\.\n/],
    [
      { state: 'queued', queue, since: longAgo },
      /for 1 h\. No attempt since then is known: the consumer crashes/,
    ],
    [
      { ...retrying, nextAttemptAt: soon, error },
      new RegExp(`1 attempt failed: Throttled\\. Next attempt in .+, at ${soon.slice(11, 19)}`),
    ],
    [
      { ...retrying, attempts: 2, nextAttemptAt: since, error },
      `2 attempts failed: Throttled. Retry scheduled for ${clock}.`,
    ],
    [
      { ...retrying, startedAt: since, error },
      `1 attempt failed: Throttled. Attempt 2 started at ${clock}.\n`,
    ],
    [
      { ...retrying, startedAt: longAgo, error },
      /Attempt 2 started at \S+\. The function crashed or timed out, without a log line\.\n/,
    ],
    [
      { state: 'paused', queue, since, paused },
      /Paused: shop\.updated was paused .+ ago by ann: ticket 1\. It waits on the queue until the event is resumed\. Resume it: npx hookctl resume shop\.updated --stage prod/,
    ],
    [
      { state: 'dead-letter', queue, since, error, until: soon },
      /Dead letter: Throttled\. It is on the dead-letter queue of shop\.updated\. SQS deletes it in .+\. Show it: npx hookctl dlq show shop\.updated --stage prod/,
    ],
    [
      { state: 'dead-letter', queue, since, until: since },
      `It was on the dead-letter queue of shop.updated until ${since}, when SQS deleted it.`,
    ],
    [
      { state: 'removed', queue: 'quarantine', since, again: 'request-9' },
      `Removed: It was redriven or deleted. It was not on the quarantine queue at ${clock}. The same bytes came again as request request-9.`,
    ],
    [
      { state: 'removed', queue, since, discarded },
      'Removed: Discarded by mara: a test. It was not on the dead-letter queue of shop.updated',
    ],
    [
      { state: 'invalid', queue: 'quarantine', since, status: 400, error: 'data.shop_id is missing' },
      'Invalid: The answer was 400: data.shop_id is missing. It is on the quarantine queue.',
    ],
    [
      { state: 'parked', queue: 'unrouted', since },
      'It is on the unrouted queue. Show it: npx hookctl dlq show unrouted',
    ],
  ])('%j', (location, expected) => {
    expect(text({ ...story, history: { eventId: EVENT_ID, steps: [], now: [location] } })).toMatch(expected);
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
