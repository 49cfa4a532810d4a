import { describe, expect, test } from '@jest/globals';
import { buildTimeline } from '../../../../tools/stage/history/build-timeline.ts';
import type { LogLine } from '../../../../tools/stage/history/log-line.ts';
import type { FoundRecord } from '../../../../tools/stage/history/messages.ts';
import type { Step, Timeline } from '../../../../tools/stage/history/timeline.ts';
import { at, consumed, EVENT_ID, failed, received, record, time } from './lines.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** @param now seconds after the first delivery */
const built = (lines: readonly LogLine[], records: readonly FoundRecord[] = [], now = 10) =>
  buildTimeline(EVENT_ID, lines, records, time(now));

/** A step in short: what, of which attempt, of what origin. */
function short(step: Step): string {
  const origin = 'origin' in step && step.origin.kind !== 'delivery' ? ` ${step.origin.kind}` : '';
  switch (step.what) {
    case 'answered':
      return `${step.status}`;
    case 'effect':
      return `${step.outcome} ${step.attempt}${origin}`;
    case 'failed':
    case 'dead-lettered':
      return `${step.what} ${step.attempt}${origin}`;
    case 'archived':
      return `archived${step.attempt === 1 ? '' : ` ${step.attempt}`}${step.origin.kind === 'replay' ? ' replay' : ''}`;
    case 'unseen':
      return `unseen ${step.attempt}+${step.attempts}`;
    case 'queued':
      return `on ${step.queue}`;
    case 'noted':
      return step.message;
    default:
      return step.what;
  }
}

const shortly = ({ steps }: Timeline) => steps.map(short).join(', ');
const states = ({ now }: Timeline) => now.map(({ state }) => state).join(', ');

const accepted = received(0, 'Accepted');
const processed = consumed(1, 'Processed', { latencyMs: 1500 });
const dead = consumed(3, 'DeadLettered', { level: 'ERROR', attempt: 2, error: 'ValidationException' });
const DELIVERED = 'received, on shop.updated, 200';

describe('the steps of an event, and where it is', () => {
  test.each<[string, LogLine[], FoundRecord[], number, string, string]>([
    ['accepted, and no more', [accepted], [], 10, DELIVERED, 'waiting'],
    ['accepted long ago', [accepted], [], HOUR, DELIVERED, 'overdue'],
    ['processed', [accepted, processed], [], 10, `${DELIVERED}, Processed 1`, 'done'],
    ['lines in any order', [processed, accepted], [], 10, `${DELIVERED}, Processed 1`, 'done'],
    ['archived', [accepted, processed], [record(1.003)], 10, `${DELIVERED}, Processed 1, archived`, 'done'],
    ['failed', [accepted, failed(1, 1, 30)], [], 10, `${DELIVERED}, failed 1`, 'backing off'],
    [
      'failed, and nothing since',
      [accepted, failed(1, 1, 30)],
      [],
      HOUR,
      `${DELIVERED}, failed 1`,
      'overdue',
    ],
    [
      'failed, then processed',
      [accepted, failed(1, 1, 30), consumed(31, 'Processed', { attempt: 2 })],
      [],
      60,
      `${DELIVERED}, failed 1, Processed 2`,
      'done',
    ],
    [
      'attempts without a line',
      [accepted, failed(1, 1, 30), consumed(200, 'Processed', { attempt: 4 })],
      [],
      300,
      `${DELIVERED}, failed 1, unseen 2+2, Processed 4`,
      'done',
    ],
    [
      'attempts from before the log',
      [consumed(31, 'Processed', { attempt: 3 })],
      [],
      60,
      'Processed 3',
      'done',
    ],
    [
      'processed, but not archived at first',
      [accepted, processed, failed(1.1, 1, 30, { error: 'NotArchivedError' })],
      [],
      10,
      `${DELIVERED}, Processed 1, failed 1`,
      'backing off',
    ],
    [
      'a dead letter',
      [accepted, failed(1, 1, 2), dead],
      [],
      10,
      `${DELIVERED}, failed 1, dead-lettered 2`,
      'dead letter',
    ],
    [
      'a dead letter that could not be buried',
      [accepted, failed(1, 1, 2), dead, consumed(3.1, 'BuryFailed', { level: 'ERROR', attempt: 2 })],
      [],
      10,
      `${DELIVERED}, failed 1, dead-lettered 2, BuryFailed`,
      'backing off',
    ],
    [
      'a dead letter redriven',
      [accepted, failed(1, 1, 2), dead, consumed(90, 'Processed', { messageId: 'message-2' })],
      [],
      100,
      `${DELIVERED}, failed 1, dead-lettered 2, Processed 1 redriven`,
      'done',
    ],
    [
      'a dead letter redriven in vain',
      [accepted, failed(1, 1, 2), dead, consumed(90, 'DeadLettered', { messageId: 'message-2' })],
      [],
      100,
      `${DELIVERED}, failed 1, dead-lettered 2, dead-lettered 1 redriven`,
      'dead letter',
    ],
    [
      'what SQS moved, and somebody redrove',
      [accepted, failed(1, 1, 2), consumed(9_000, 'Processed', { messageId: 'message-2' })],
      [],
      10_000,
      `${DELIVERED}, failed 1, Processed 1 redriven`,
      'done',
    ],
    [
      'queued twice by one request',
      [accepted, processed, consumed(2, 'Stale', { messageId: 'message-2' })],
      [],
      10,
      `${DELIVERED}, Processed 1, Stale 1 repeated`,
      'done',
    ],
    [
      'processed twice, as the first one was not archived',
      [accepted, processed, failed(1.1, 1, 1), consumed(3, 'Processed', { attempt: 2 })],
      [record(3, { attempt: 2 })],
      10,
      `${DELIVERED}, Processed 1, failed 1, Processed 2, archived 2`,
      'done',
    ],
    [
      'a replay soon after, of which alone there is a record',
      [accepted, processed, consumed(5, 'Processed', { messageId: 'message-2', replay: 'repair-1' })],
      [record(5, { replay: { name: 'repair-1', mode: 'repair', notify: false } })],
      10,
      `${DELIVERED}, Processed 1, Processed 1 replay, archived replay`,
      'done',
    ],
    [
      'a replay that was faster',
      [
        accepted,
        consumed(1, 'Processed', { messageId: 'message-2', replay: 'repair-1' }),
        consumed(5, 'Stale'),
      ],
      [],
      10,
      `${DELIVERED}, Processed 1 replay, Stale 1`,
      'done',
    ],
    [
      'delivered twice',
      [
        accepted,
        processed,
        received(60, 'Accepted', { requestId: 'request-2' }),
        consumed(61, 'Stale', { requestId: 'request-2', messageId: 'message-2' }),
      ],
      [],
      100,
      `${DELIVERED}, Processed 1, ${DELIVERED}, Stale 1`,
      'done',
    ],
    [
      'a second delivery still waits',
      [accepted, processed, received(60, 'Accepted', { requestId: 'request-2' })],
      [],
      61,
      `${DELIVERED}, Processed 1, ${DELIVERED}`,
      'waiting',
    ],
    [
      'a replay',
      [accepted, processed, consumed(90, 'Processed', { messageId: 'message-2', replay: 'repair-1' })],
      [],
      100,
      `${DELIVERED}, Processed 1, Processed 1 replay`,
      'done',
    ],
    [
      'a dead letter and a replay, which is no redrive',
      [accepted, dead, consumed(90, 'Processed', { messageId: 'message-2', replay: 'repair-1' })],
      [],
      100,
      `${DELIVERED}, unseen 1+1, dead-lettered 2, Processed 1 replay`,
      'dead letter',
    ],
    [
      'sent by hand',
      [consumed(1, 'Processed', { requestId: undefined })],
      [],
      10,
      'Processed 1 by hand',
      'done',
    ],
    ['rejected', [received(0, 'Rejected', { level: 'WARN' })], [], 10, 'received, 401', 'not accepted'],
    [
      'rejected, then accepted',
      [received(-60, 'Rejected', { requestId: 'request-0' }), accepted, processed],
      [],
      10,
      `received, 401, ${DELIVERED}, Processed 1`,
      'done',
    ],
    [
      'processed, and later rejected',
      [accepted, processed, received(60, 'Rejected', { requestId: 'request-2' })],
      [],
      100,
      `${DELIVERED}, Processed 1, received, 401`,
      'done',
    ],
    [
      'not safe',
      [received(0, 'ServerError', { error: 'QueueDoesNotExist' })],
      [],
      10,
      'received, 500',
      'not accepted',
    ],
    [
      'not safe for the receiver, but on the queue',
      [received(0, 'ServerError'), processed],
      [],
      10,
      'received, 500, Processed 1',
      'done',
    ],
    [
      'unusable',
      [received(0, 'Unusable', { fields: ['data'] })],
      [],
      10,
      'received, on quarantine, 400',
      'quarantined',
    ],
    [
      'unusable, then delivered anew',
      [received(-9, 'Unusable', { requestId: 'request-0' }), accepted, processed],
      [],
      10,
      `received, on quarantine, 400, ${DELIVERED}, Processed 1`,
      'done',
    ],
    ['parked', [received(0, 'Parked')], [], 10, 'received, on unrouted, 200', 'parked'],
    [
      'parked, then redriven',
      [received(0, 'Parked'), processed],
      [],
      10,
      'received, on unrouted, 200, Processed 1 redriven',
      'done',
    ],
    [
      'a warning on the way',
      [accepted, consumed(0.9, 'PossiblyRepeated', { level: 'WARN' }), processed],
      [],
      10,
      `${DELIVERED}, PossiblyRepeated, Processed 1`,
      'done',
    ],
    ['known by its record alone', [], [record(1)], 10, 'received, Processed 1, archived', 'done'],
    [
      'a record that was written twice',
      [],
      [record(1), record(1)],
      10,
      'received, Processed 1, archived',
      'done',
    ],
    [
      'redriven, by records alone',
      [],
      [record(90), record(1, { outcome: 'DeadLettered', failureReason: 'x' })],
      100,
      'received, dead-lettered 1, archived, Processed 1 redriven, archived',
      'done',
    ],
    [
      'two deliveries, by records alone',
      [],
      [record(1), record(90, { requestId: 'request-2', receivedAt: at(89), outcome: 'Stale' })],
      100,
      'received, Processed 1, archived, received, Stale 1, archived',
      'done',
    ],
    [
      'a line, and the record of another attempt',
      [accepted, processed],
      [record(600, { outcome: 'Duplicate' })],
      700,
      `${DELIVERED}, Processed 1, Duplicate 1 repeated, archived`,
      'done',
    ],
    ['nothing', [], [], 10, '', 'unknown'],
  ])('%s', (_, lines, records, now, steps, state) => {
    const timeline = built(lines, records, now);
    expect({ steps: shortly(timeline), state: states(timeline) }).toEqual({ steps, state });
  });
});

describe('the time of receipt', () => {
  const receipt = (lines: readonly LogLine[], records: readonly FoundRecord[] = []) => {
    const [first] = built(lines, records).steps;
    return first?.what === 'received' ? { at: first.at, exact: first.exact } : undefined;
  };

  test.each<[string, LogLine[], FoundRecord[], { at: string; exact: boolean }]>([
    ['is that of the record', [accepted, processed], [record(1)], { at: at(-0.5), exact: true }],
    ['else is counted back from the effect', [accepted, processed], [], { at: at(-0.5), exact: true }],
    ['else is when the receiver was done, at the latest', [accepted], [], { at: at(0), exact: false }],
    [
      'is not counted from a latency of 0, as clocks differ',
      [accepted, consumed(1, 'Processed', { latencyMs: 0 })],
      [],
      { at: at(0), exact: false },
    ],
    [
      'is never behind the answer',
      [accepted],
      [record(1, { receivedAt: at(0.2) })],
      { at: at(0), exact: true },
    ],
  ])('%s', (_, lines, records, expected) => {
    expect(receipt(lines, records)).toEqual(expected);
  });
});

test('a step has the facts of its line', () => {
  const cause = { error: 'TimeoutError', errorMessage: 'too slow' };
  const { steps, now } = built([
    received(-5, 'Rejected', { requestId: 'request-0', reason: 'wrong-signature', sourceIp: '203.0.113.7' }),
    received(0, 'Accepted', { lagMs: 2000 }),
    failed(1, 1, 30, { error: 'NotArchivedError', errorMessage: 'ServiceUnavailable', cause }),
  ]);
  expect(steps).toContainEqual({
    what: 'answered',
    at: at(-5),
    requestId: 'request-0',
    status: 401,
    reason: 'wrong-signature',
    sourceIp: '203.0.113.7',
  });
  expect(steps).toContainEqual({
    what: 'received',
    at: at(0),
    requestId: 'request-1',
    exact: false,
    lagMs: 2000,
  });
  expect(steps).toContainEqual({
    what: 'failed',
    at: at(1),
    origin: { kind: 'delivery' },
    attempt: 1,
    requestId: 'request-1',
    messageId: 'message-1',
    error: 'NotArchivedError: ServiceUnavailable; caused by TimeoutError: too slow',
    retryInSeconds: 30,
    nextAttemptAt: at(31),
  });
  expect(now).toEqual([{ state: 'backing off', queue: 'shop.updated', since: at(1), nextAttemptAt: at(31) }]);
});

test('of a replay the archive says what it does', () => {
  const replay = { name: 'repair-1', mode: 'repair', notify: true } as const;
  const { steps } = built(
    [accepted, processed, consumed(90, 'Processed', { messageId: 'message-2', replay: 'repair-1' })],
    [record(90, { replay })],
    100,
  );
  expect(steps).toContainEqual(
    expect.objectContaining({ what: 'effect', at: at(90), origin: { kind: 'replay', ...replay } }),
  );
});

test('a smoke test of a deployment is told apart', () => {
  const [first] = built([received(0, 'Rejected', { requestId: 'smoke-test-1' })]).steps;
  expect(first).toMatchObject({ what: 'received', smokeTest: true });
});
