import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Fact, LineFact } from '../../../../tools/stage/history/facts.ts';
import { deliveryOf, fold, foldedAttempts } from '../../../../tools/stage/history/fold.ts';
import type { History, Step } from '../../../../tools/stage/history/history.ts';
import { at, consumed, crash, deadLetter, EVENT_ID, failed, received, record, time } from './support.ts';

/** A step in short: what, of which attempts, of what origin. */
function short({ kind, status, queue, attempt, attempts = 1, origin, reason, message }: Step): string {
  if (kind === 'answered') return `${status}`;
  if (kind === 'queued') return `on ${queue}`;
  if (kind === 'noted') return `${message}`;
  if (attempt === undefined) return kind;
  const number = attempts === 1 ? `${attempt}` : `${attempt}-${attempt + attempts - 1}`;
  return [kind, number, reason, origin?.kind !== 'delivery' && origin?.kind].filter(Boolean).join(' ');
}

const stepsOf = ({ steps }: History) => steps.map(short).join(', ');
const statesOf = ({ now }: History) => now.map(({ state }) => state).join(', ');

const accepted = received(0, 'Accepted');
const again = received(60, 'Accepted', { requestId: 'request-2' });
const processed = consumed(1, 'Processed', { latencyMs: 1500 });
const dead = consumed(3, 'DeadLettered', { level: 'ERROR', attempt: 2, error: 'ValidationException' });
const ofRedrive = { messageId: 'message-2' };
const ofReplay = { messageId: 'message-3', replay: 'repair-1' };
const replay = { name: 'repair-1', mode: 'repair', notify: true } as const;
const givenUp = [accepted, failed(1, 1, 2), dead];
const crashes = [accepted, crash(1), crash(31), crash(61)];
const rejected = (seconds: number, requestId: string) => received(seconds, 'Rejected', { requestId });
const replayedTwice = [
  consumed(60, 'DeadLettered', { ...ofReplay, error: 'ValidationException' }),
  consumed(90, 'Stale', { ...ofReplay, messageId: 'message-4' }),
];
const byHand = [
  consumed(1, 'DeadLettered', { requestId: undefined, error: 'ValidationException' }),
  consumed(60, 'Stale', { requestId: undefined, messageId: 'message-2' }),
];
const DELIVERED = 'received, on shop.updated, 200';
const PROCESSED = `${DELIVERED}, processed 1`;
const GIVEN_UP = `${DELIVERED}, failed 1, dead-lettered 2`;
const CRASHED = `${DELIVERED}, crashed 1, crashed 2, crashed 3`;

const stories: readonly (readonly [name: string, facts: readonly Fact[], steps: string, states: string])[] = [
  ['accepted, and no more', [accepted], DELIVERED, 'queued'],
  ['processed', [accepted, processed], PROCESSED, 'processed'],
  ['archived', [accepted, processed, record(1.003)], `${PROCESSED}, archived 1`, 'processed'],
  ['failed', [accepted, failed(1, 1, 30)], `${DELIVERED}, failed 1`, 'retrying'],
  [
    'failed, then processed',
    [accepted, failed(1, 1, 30), consumed(31, 'Processed', { attempt: 2 })],
    `${DELIVERED}, failed 1, processed 2`,
    'processed',
  ],
  [
    'attempts without a line',
    [accepted, failed(1, 1, 30), consumed(200, 'Processed', { attempt: 4 })],
    `${DELIVERED}, failed 1, crashed 2-3, processed 4`,
    'processed',
  ],
  ['attempts from before the log', [consumed(31, 'Processed', { attempt: 3 })], 'processed 3', 'processed'],
  [
    'processed, but not archived at first',
    [accepted, processed, failed(1.1, 1, 30, { error: 'NotArchivedError' })],
    `${PROCESSED}, failed 1`,
    'processed, retrying',
  ],
  ['a dead letter', givenUp, GIVEN_UP, 'dead-letter'],
  [
    'a dead letter that was found on its queue',
    [...givenUp, deadLetter({ messageId: 'message-9', error: 'ValidationException' })],
    GIVEN_UP,
    'dead-letter',
  ],
  [
    'a dead letter that could not be moved',
    [...givenUp, consumed(3.1, 'BuryFailed', { level: 'ERROR', attempt: 2 })],
    `${GIVEN_UP}, BuryFailed`,
    'retrying',
  ],
  [
    'a dead letter redriven',
    [...givenUp, consumed(90, 'Processed', ofRedrive)],
    `${GIVEN_UP}, processed 1 redriven`,
    'processed',
  ],
  [
    'a dead letter redriven in vain',
    [...givenUp, consumed(90, 'DeadLettered', ofRedrive)],
    `${GIVEN_UP}, dead-lettered 1 redriven`,
    'dead-letter',
  ],
  [
    'crashes of the consumer so far, which may be of other messages',
    [accepted, crash(1), crash(31)],
    DELIVERED,
    'queued',
  ],
  [
    'crashes until SQS moved it, redriven, and again until SQS moved it',
    [...crashes, crash(901), crash(931), crash(961), deadLetter()],
    `${CRASHED}, dead-lettered 3, crashed 1 redriven, crashed 2 redriven, crashed 3 redriven, dead-lettered 3 redriven`,
    'dead-letter',
  ],
  ['crashes until SQS moved it', [...crashes, deadLetter()], `${CRASHED}, dead-lettered 3`, 'dead-letter'],
  [
    'what SQS moved, and no crash is known any more',
    [accepted, deadLetter()],
    `${DELIVERED}, crashed 1-3, dead-lettered 3`,
    'dead-letter',
  ],
  [
    'crashes until SQS moved it, then redriven',
    [...crashes, consumed(900, 'Processed', ofRedrive)],
    `${CRASHED}, dead-lettered 3, processed 1 redriven`,
    'processed',
  ],
  [
    'what SQS moved after failures, and somebody redrove',
    [accepted, failed(1, 1, 2), consumed(9_000, 'Processed', ofRedrive)],
    `${DELIVERED}, failed 1, processed 1 redriven`,
    'processed',
  ],
  [
    'queued twice by one request',
    [accepted, processed, consumed(2, 'Duplicate', ofRedrive)],
    `${PROCESSED}, skipped 1 already-processed repeated`,
    'processed',
  ],
  ['newer data stored', [accepted, consumed(1, 'Stale')], `${DELIVERED}, skipped 1 newer-data`, 'skipped'],
  [
    'delivered twice',
    [accepted, processed, again, consumed(61, 'Duplicate', { requestId: 'request-2', ...ofRedrive })],
    `${PROCESSED}, ${DELIVERED}, skipped 1 already-processed`,
    'processed',
  ],
  [
    'a second delivery that waits',
    [accepted, processed, again],
    `${PROCESSED}, ${DELIVERED}`,
    'processed, queued',
  ],
  [
    'a replay',
    [accepted, processed, consumed(90, 'Processed', ofReplay)],
    `${PROCESSED}, processed 1 replay`,
    'processed',
  ],
  [
    'a replay that found all up to date',
    [accepted, processed, consumed(90, 'Duplicate', ofReplay)],
    `${PROCESSED}, skipped 1 up-to-date replay`,
    'processed',
  ],
  [
    'a replay that failed',
    [accepted, processed, consumed(90, 'DeadLettered', { ...ofReplay, error: 'Error' })],
    `${PROCESSED}, dead-lettered 1 replay`,
    'processed, dead-letter',
  ],
  [
    'a replay soon after, of which alone there is a record',
    [accepted, processed, consumed(5, 'Processed', ofReplay), record(5, { replay })],
    `${PROCESSED}, processed 1 replay, archived 1 replay`,
    'processed',
  ],
  ['sent by hand', [consumed(1, 'Processed', { requestId: undefined })], 'processed 1 by hand', 'processed'],
  ['rejected', [received(0, 'Rejected', { level: 'WARN' })], 'received, 401', 'rejected'],
  [
    'rejected, then accepted',
    [rejected(-60, 'request-0'), accepted, processed],
    `received, 401, ${PROCESSED}`,
    'processed',
  ],
  [
    'processed, and later rejected',
    [accepted, processed, rejected(60, 'request-2')],
    `${PROCESSED}, received, 401`,
    'processed',
  ],
  ['not accepted', [received(0, 'ServerError', { error: 'QueueDoesNotExist' })], 'received, 500', 'failed'],
  [
    'not accepted, but on the queue',
    [received(0, 'ServerError'), processed],
    'received, 500, processed 1',
    'processed',
  ],
  ['invalid', [received(0, 'Unusable', { fields: ['data'] })], 'received, on quarantine, 400', 'invalid'],
  [
    'invalid, then delivered again',
    [received(-9, 'Unusable', { requestId: 'request-0' }), accepted, processed],
    `received, on quarantine, 400, ${PROCESSED}`,
    'processed',
  ],
  [
    'invalid, and later rejected',
    [received(0, 'Unusable'), rejected(60, 'request-2')],
    'received, on quarantine, 400, received, 401',
    'invalid',
  ],
  [
    'a dead letter of a replay, redriven',
    [accepted, processed, ...replayedTwice],
    `${PROCESSED}, dead-lettered 1 replay, skipped 1 newer-data replay`,
    'processed',
  ],
  [
    'a dead letter that was sent by hand, redriven',
    byHand.map((line) => ({ ...line, requestId: undefined })),
    'dead-lettered 1 by hand, skipped 1 newer-data by hand',
    'skipped',
  ],
  [
    'given up, but moved by SQS, as the dead-letter queue was away',
    [
      ...givenUp,
      consumed(3.1, 'BuryFailed', { level: 'ERROR', attempt: 2 }),
      deadLetter({ messageId: 'message-1', receives: 2 }),
    ],
    `${GIVEN_UP}, dead-lettered 2, BuryFailed`,
    'dead-letter',
  ],
  ['a delay beyond all time', [accepted, failed(1, 1, 1e300)], `${DELIVERED}, failed 1`, 'retrying'],
  ['parked', [received(0, 'Parked')], 'received, on unrouted, 200', 'parked'],
  [
    'parked, then redriven',
    [received(0, 'Parked'), processed],
    'received, on unrouted, 200, processed 1 redriven',
    'processed',
  ],
  [
    'a warning on the way',
    [accepted, consumed(0.9, 'PossiblyRepeated', { level: 'WARN' }), processed],
    `${DELIVERED}, PossiblyRepeated, processed 1`,
    'processed',
  ],
  ['known by its record alone', [record(1)], 'received, processed 1, archived 1', 'processed'],
  [
    'redriven, by records alone',
    [record(90), record(1, { outcome: 'DeadLettered', failureReason: 'x' })],
    'received, dead-lettered 1, archived 1, processed 1 redriven, archived 1 redriven',
    'processed',
  ],
  [
    'a line, and the record of another attempt',
    [accepted, processed, record(600, { outcome: 'Duplicate' })],
    `${PROCESSED}, skipped 1 already-processed repeated, archived 1 repeated`,
    'processed',
  ],
  ['known by the quarantine alone', [deadLetter({ queue: 'quarantine' })], '', 'invalid'],
  ['nothing', [], '', 'unknown'],
];

describe('the steps of a delivery, and where it is', () => {
  test.each(stories)('%s', (_, facts, steps, states) => {
    const history = fold(facts);
    expect({ steps: stepsOf(history), states: statesOf(history) }).toEqual({ steps, states });
  });

  test('are the same for facts in any order, any number of times', () => {
    const anyFacts = fc.constantFrom(...stories).chain(([, facts]) =>
      fc.tuple(
        fc.constant(facts),
        fc
          .shuffledSubarray([...facts, ...facts], { minLength: facts.length })
          .map((some) => [...some, ...facts]),
      ),
    );
    fc.assert(fc.property(anyFacts, ([facts, mixed]) => expect(fold(mixed)).toEqual(fold(facts))));
  });
});

describe('the time of receipt', () => {
  const exact = { at: at(-0.5) };
  const latest = { at: at(0), atTheLatest: true };
  test.each<[string, Fact[], object]>([
    ['is that of the record', [accepted, processed, record(1)], exact],
    ['else is counted back from the effect', [accepted, processed], exact],
    ['else is when the receiver answered, at the latest', [accepted], latest],
    ['is not counted from a latency of 0', [accepted, consumed(1, 'Processed', { latencyMs: 0 })], latest],
    ['is never after the answer', [accepted, record(1, { receivedAt: at(0.2) })], { at: at(0) }],
  ])('%s', (_, facts, expected) => {
    const { kind, at: receivedAt, atTheLatest } = fold(facts).steps[0] ?? {};
    expect({ kind, at: receivedAt, ...(atTheLatest && { atTheLatest }) }).toEqual({
      kind: 'received',
      ...expected,
    });
  });
});

test('a step has what its line says, and the place what to expect', () => {
  const cause = { error: 'TimeoutError', errorMessage: 'too slow' };
  const rejection = { reason: 'wrong-signature', sourceIp: '203.0.113.7' };
  const { steps, now } = fold([
    received(-5, 'Rejected', { requestId: 'smoke-test-1', ...rejection }),
    received(0, 'Accepted', { lagMs: 2000 }),
    failed(1, 1, 30, { error: 'NotArchivedError', errorMessage: 'ServiceUnavailable', cause }),
  ]);
  const error = 'NotArchivedError: ServiceUnavailable; caused by TimeoutError: too slow';
  expect(steps).toMatchObject([
    { kind: 'received', smokeTest: true },
    { kind: 'answered', status: 401, rejection: 'wrong signature', sourceIp: '203.0.113.7' },
    { kind: 'received', at: at(0), requestId: 'request-1', lagMs: 2000 },
    { kind: 'queued' },
    { kind: 'answered' },
    { kind: 'failed', attempt: 1, messageId: 'message-1', error, nextAttemptAt: at(31) },
  ]);
  expect(now).toEqual([
    { state: 'retrying', queue: 'shop.updated', since: at(1), attempts: 1, nextAttemptAt: at(31), error },
  ]);
});

test('the archive says what a replay does', () => {
  const { steps } = fold([accepted, processed, consumed(90, 'Processed', ofReplay), record(90, { replay })]);
  expect(steps.filter(({ origin }) => origin?.kind === 'replay')).toMatchObject([
    { kind: 'processed', origin: { kind: 'replay', ...replay } },
    { kind: 'archived' },
  ]);
});

test('equal failures in a row are one step, and others are not', () => {
  const attempts = Array.from({ length: 4 }, (_, index) => failed(30 * index + 1, index + 1, 30));
  const other = failed(121, 5, 30, { error: 'Timeout' });
  const { steps } = fold([accepted, ...attempts, other]);
  expect(foldedAttempts(steps).map(short)).toEqual([
    ...['received', 'on shop.updated', '200'],
    ...['failed 1-4', 'failed 5'],
  ]);
  expect(foldedAttempts(steps)[3]).toMatchObject({ at: at(1), until: at(91), nextAttemptAt: at(121) });
});

test('a line that is no JSON, or of an older version of the functions, takes nothing from the others', () => {
  const line = (text: string): LineFact => ({
    kind: 'line',
    at: time(5),
    requestId: 'request-1',
    eventId: EVENT_ID,
    function: 'shop.updated',
    text,
  });
  const history = fold([accepted, processed, line('Task timed out'), line('{"message":"Processed"}')]);
  expect(stepsOf(history)).toBe(PROCESSED);
});

const rowOf = (facts: Fact[]) => deliveryOf('request-1', facts, fold(facts));

test('a row counts the attempts of its delivery, and none of a replay', () => {
  expect(rowOf([accepted, failed(1, 1, 2), consumed(3, 'Processed', { attempt: 2 })]).attempts).toBe(2);
  expect(rowOf([accepted, processed, consumed(90, 'Processed', ofReplay)]).attempts).toBe(1);
});

test('a row keeps the reason why its delivery was skipped after a replay', () => {
  const stale = [accepted, consumed(1, 'Stale')];
  const replayed = consumed(90, 'Duplicate', ofReplay);
  expect(rowOf([...stale, replayed])).toMatchObject({ state: 'skipped', reason: 'newer-data' });
  expect(rowOf([...stale, consumed(90, 'Processed', ofReplay)])).toMatchObject({ state: 'processed' });
  expect(rowOf([accepted, replayed])).toMatchObject({ state: 'skipped', reason: 'up-to-date' });
});

test.each([
  [['timestamp', 'data.shop_id'], 'Invalid or missing: timestamp, data.shop_id'],
  [['body'], 'The body is not a JSON object'],
])('a row names what makes a payload unusable: %j', (fields, error) => {
  expect(rowOf([received(0, 'Unusable', { fields })]).error).toBe(error);
});
