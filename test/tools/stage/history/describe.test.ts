import { describe, expect, test } from '@jest/globals';
import stringWidth from 'string-width';
import { buildTimeline } from '../../../../tools/stage/history/build-timeline.ts';
import { describeTrace } from '../../../../tools/stage/history/describe.ts';
import type { LogLine } from '../../../../tools/stage/history/log-line.ts';
import type { FoundRecord } from '../../../../tools/stage/history/messages.ts';
import type { Sources, Trace, Whereabouts } from '../../../../tools/stage/history/timeline.ts';
import { at, consumed, EVENT_ID, failed, received, record, time } from './lines.ts';

const stack = {
  title: 'stage prod in eu-west-1',
  local: false,
  command: (text: string, script = 'dlq') => `npm run ${script} -- ${text} --stage prod`,
};
const logs = { since: at(-86_400), until: at(86_400), lines: 4, bytesScanned: 2 ** 31, truncated: false };

function traceOf(
  lines: readonly LogLine[],
  records: readonly FoundRecord[] = [],
  sources: Sources = { logs },
): Trace {
  const timeline = buildTimeline(EVENT_ID, lines, records, time(60));
  return { stack: stack.title, id: EVENT_ID, idIs: 'eventId', timeline, sources };
}

const text = (trace: Trace, width = Number.POSITIVE_INFINITY) =>
  describeTrace(trace, stack, width).join('\n');

/** What is said of where it is. */
const said = (place: Whereabouts) =>
  text({ ...traceOf([]), timeline: { eventId: EVENT_ID, steps: [], now: [place] } });

const DAY = 86_400;
/** Longer than a line, with a word that is. */
const EXCEEDED = `${'The level of configured throughput was exceeded. '.repeat(3)}${'x'.repeat(90)}`;
const story = [
  received(-DAY, 'Rejected', { requestId: 'request-0', reason: 'wrong-signature', sourceIp: '203.0.113.7' }),
  received(0, 'Accepted', { lagMs: 2000 }),
  failed(1, 1, 30, {
    errorMessage: EXCEEDED,
  }),
  consumed(31, 'Processed', { attempt: 2, latencyMs: 31_500 }),
  consumed(50, 'Processed', { messageId: 'message-2', replay: 'repair-1' }),
];
const shown = traceOf(story, [
  record(31, { attempt: 2, shopId: 'shop-1', timestamp: '2026-01-31T08:59:58.100000000Z' }),
  record(50, { replay: { name: 'repair-1', mode: 'repair', notify: true } }),
]);

test('each step stands at its time, with how long after the one before it was', () => {
  expect(text(shown)).toBe(`shop.updated ${EVENT_ID} in stage prod in eu-west-1
shop shop-1, the partner’s timestamp 2026-01-31T08:59:58.1Z

2026-01-30, times in UTC
09:00:00.000           ● received   request request-0, at the latest
09:00:00.000           ● answered   401 wrong signature, from 203.0.113.7

2026-01-31
08:59:59.500     +1 d  ● received   again, as request request-1, 2 s after the partner’s timestamp
09:00:00.000  +500 ms  ● queued     on the queue of shop.updated
09:00:00.000           ● answered   200 queued
09:00:01.000     +1 s  ● failed     attempt 1: Throttled: ${EXCEEDED}; next at 09:00:31, after 30 s
09:00:31.000    +30 s  ● processed  attempt 2, 32 s after receipt
09:00:31.000           ● archived   in date=2026-01-31/hour=09

09:00:50.000    +19 s  ● processed  attempt 1 (replay repair-1, repair, notifying)
09:00:50.000           ● archived   in date=2026-01-31/hour=09

Done: it has had its effect.

Logs from 2026-01-30T09:00Z to 2026-02-01T09:00Z: 4 lines, 2.1 GB scanned for 0.0100 dollars.`);
});

test.each([100, 60])('it fits a terminal of %d columns, and loses nothing', (width) => {
  const lines = describeTrace(shown, stack, width);
  expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
  const letters = (all: string) => all.replace(/[\s│]/g, '');
  // Ids are shortened on a terminal.
  expect(letters(lines.join(''))).toBe(letters(text(shown).replace(EVENT_ID, EVENT_ID.slice(0, 8))));
});

test('text from outside cannot command the terminal', () => {
  const trace = traceOf([received(0, 'ServerError', { errorMessage: '\u001b[2J' })]);
  expect(text(trace)).toContain('500 not safe: Error: \\u001b[2J');
});

test('of many rejected requests with the same bytes some are shown, and the one that was asked about', () => {
  const many = Array.from({ length: 40 }, (_, index) => {
    return received(index, 'Rejected', { requestId: `rejected-${index}` });
  });
  const shownText = text({ ...traceOf(many), id: 'rejected-30' });
  expect(shownText.match(/rejected-\d+/g)).toEqual([0, 1, 2, 3, 4, 30].map((index) => `rejected-${index}`));
  expect(shownText).toContain('… and 34 more requests with these bytes, all answered 401');
});

describe('where it is', () => {
  // Half a minute off the next border, as a slow machine takes its time.
  const soon = new Date(Date.now() + 90_000).toISOString();
  const ago = new Date(Date.now() - 90_000).toISOString();
  const queue = 'shop.updated';
  test.each<[Whereabouts, string | RegExp]>([
    [{ state: 'done', outcome: 'Stale', since: ago }, 'Done: a newer event had been there before it.'],
    [{ state: 'waiting', queue, since: ago }, /Waits on the queue of shop\.updated for 1 min \d+ s\./],
    [
      { state: 'backing off', queue, since: ago, nextAttemptAt: soon },
      `tried again at ${soon.slice(11, 19)}, in 1 min`,
    ],
    [
      { state: 'overdue', queue, since: ago },
      /On the queue of shop\.updated, queued 1 min \d+ s ago, and no consumer has written of it since/,
    ],
    [
      { state: 'waiting', queue, since: ago, paused: { by: 'ann', reason: 'ticket 1', since: ago } },
      /It is paused for 1 min \d+ s by ann: ticket 1\. It goes on with: npm run resume -- shop\.updated --stage prod/,
    ],
    [
      { state: 'dead letter', queue, since: ago, until: soon, queueHolds: 3 },
      /On the dead-letter queue of shop\.updated, for 1 min \d+ s more\. Why, and what then: npm run dlq -- show shop\.updated --stage prod/,
    ],
    [
      { state: 'dead letter', queue, since: ago, until: ago, queueHolds: 3 },
      `it was until ${ago}, when SQS deleted it`,
    ],
    [
      { state: 'quarantined', queue: 'quarantine', since: ago, queueHolds: 0 },
      'In quarantine it was, and nothing is there now',
    ],
    [
      { state: 'parked', queue: 'unrouted', since: ago },
      'On the unrouted queue. Why, and what then: npm run dlq -- show unrouted',
    ],
    [{ state: 'not accepted', status: 401, since: ago }, 'the partner repeats what is answered 401'],
    [{ state: 'unknown' }, 'logs and archive do not say'],
  ])('%j', (place, expected) => {
    expect(said(place)).toMatch(expected);
  });
});

describe('what was looked through', () => {
  const archive = { state: 'searched', objects: 1, records: 2, damaged: [] } as const;
  test.each<[Sources, string]>([
    [{ logs: { ...logs, truncated: true } }, 'There are more: narrow it with --since and --until.'],
    [{ logs, archive }, 'Archive: 2 records looked at, in 1 object.'],
    [
      { logs, archive: { ...archive, state: 'early' } },
      'The newest are not there yet: Firehose collects up to 15 minutes.',
    ],
    [
      { logs, archive: { ...archive, damaged: ['key: cut off'] } },
      'Damaged, and skipped from there on: key: cut off',
    ],
    [{ logs, archive: { ...archive, state: 'none' } }, 'The stack keeps no archive (archive.days is 0).'],
    [
      { logs, archive: { ...archive, state: 'refused', reason: 'AccessDenied' } },
      'The archive could not be read: AccessDenied.',
    ],
  ])('%j', (sources, expected) => {
    expect(text(traceOf(story, [], sources))).toContain(expected);
  });

  test('costs nothing here', () => {
    expect(describeTrace(shown, { ...stack, local: true }, 100).join('\n')).not.toContain('dollars');
  });
});
