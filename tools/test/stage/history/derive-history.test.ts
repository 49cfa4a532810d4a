import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deliveryOf, deriveHistory } from '../../../stage/history/derive-history.ts';
import type { Fact } from '../../../stage/history/facts.ts';
import type { HistoryStep, StepKind } from '../../../stage/history/history.ts';
import {
  at,
  consumed,
  crash,
  deadLetter,
  EVENT_ID,
  failed,
  received,
  record,
  started,
  time,
} from './support.ts';

/** A step of an attempt of a normal delivery, with some properties replaced. */
const tried = (kind: StepKind, attempt = 1, given: Partial<HistoryStep> = {}) => ({
  kind,
  attempt,
  origin: { kind: 'delivery' },
  ...given,
});

const accepted = received(0, 'Accepted');
const again = received(60, 'Accepted', { requestId: 'request-2' });
const processed = consumed(1, 'Processed', { latencyMs: 1500 });
const dead = consumed(3, 'DeadLettered', { level: 'ERROR', attempt: 2, error: 'ValidationException' });
const ofRedrive = { messageId: 'message-2' };
const ofReplay = { messageId: 'message-3', replay: 'repair-1' };
const replay = { name: 'repair-1', mode: 'repair', notify: true } as const;
const givenUp = [accepted, failed(1, 1, 2), dead];
/** Attempts 2 and 3 start. */
const crashes = [accepted, started(31, 2), started(61, 3)];
const rejected = (seconds: number, requestId: string) => received(seconds, 'Rejected', { requestId });
const discarded = (seconds: number) =>
  consumed(seconds, 'Discarded', { attempt: undefined, by: 'arn:mara', reason: 'a test' });
const quarantined = (requestId: string) => deadLetter({ requestId, queue: 'quarantine' });
const exchanged: Fact = {
  ...{ kind: 'exchange', at: time(-0.1), requestId: 'request-1', method: 'POST', path: '/', headers: [] },
  ...{
    status: 200,
    sourceIp: '192.0.2.1',
    responseHeaders: [],
    responseBody: '',
    durationMs: 100,
  },
};
const effect = (seconds: number): Fact => ({
  ...{ kind: 'effect', at: time(seconds), eventId: EVENT_ID },
  effect: { kind: 'item', table: 'shops', key: 'shop-1', at: at(seconds), before: null, after: {} },
});
const RECEIVED = { kind: 'received' };
const DELIVERED = [RECEIVED, { kind: 'queued', queue: 'shop.updated' }, { kind: 'answered', status: 200 }];
const QUARANTINED = [RECEIVED, { kind: 'queued', queue: 'quarantine' }, { kind: 'answered', status: 400 }];
const PARKED = [RECEIVED, { kind: 'queued', queue: 'unrouted' }, { kind: 'answered', status: 200 }];
const REJECTED = [RECEIVED, { kind: 'answered', status: 401 }];
const ARCHIVED = { kind: 'archived', attempt: 1 };
const PROCESSED = [...DELIVERED, tried('processed')];
const GIVEN_UP = [...DELIVERED, tried('failed'), tried('dead-lettered', 2)];
const CRASHED = [...DELIVERED, tried('crashed', 1, { attempts: 3 })];
const redriven = { origin: { kind: 'redriven' } } as const;
const repeated = { origin: { kind: 'repeated' } } as const;
const replayed = { origin: { kind: 'replay', name: 'repair-1' } } as const;

/** Facts of a delivery, the expected steps, and its expected location. */
interface Story {
  readonly facts: readonly Fact[];
  readonly steps: readonly object[];
  /** @default processed */
  readonly states?: readonly string[];
}

const stories: Readonly<Record<string, Story>> = {
  'failed, then processed': {
    facts: [accepted, failed(1, 1, 30), consumed(31, 'Processed', { attempt: 2 })],
    steps: [...DELIVERED, tried('failed'), tried('processed', 2)],
  },
  'attempts without a line': {
    facts: [accepted, failed(1, 1, 30), consumed(200, 'Processed', { attempt: 4 })],
    steps: [...DELIVERED, tried('failed'), tried('crashed', 2, { attempts: 2 }), tried('processed', 4)],
  },
  'attempts from before the log': {
    facts: [consumed(31, 'Processed', { attempt: 3 })],
    steps: [tried('processed', 3)],
  },
  'skipped, then tried again twice without an end': {
    facts: [accepted, consumed(1, 'Stale'), started(31, 2), started(61, 3)],
    steps: [...DELIVERED, tried('skipped', 1, { reason: 'newer-data' }), tried('crashed', 2)],
    states: ['skipped'],
  },
  'processed, but not archived at first': {
    facts: [accepted, processed, failed(1.1, 1, 30, { error: 'NotArchivedError' })],
    steps: [...PROCESSED, tried('failed')],
    states: ['processed', 'retrying'],
  },
  'a dead letter that could not be moved': {
    facts: [...givenUp, consumed(3.1, 'DeadLetterNotSent', { level: 'ERROR', attempt: 2 })],
    steps: [
      ...DELIVERED,
      tried('failed'),
      tried('failed', 2),
      { kind: 'noted', message: 'DeadLetterNotSent' },
    ],
    states: ['retrying'],
  },
  'a dead letter redriven': {
    facts: [...givenUp, consumed(90, 'Processed', ofRedrive)],
    steps: [...GIVEN_UP, tried('processed', 1, redriven)],
  },
  'a crash that the local stack observed': {
    facts: [accepted, crash(1, 1), started(31, 2)],
    steps: [...DELIVERED, tried('crashed', 1, { at: at(1), error: 'Runtime.ExitError' })],
    states: ['retrying'],
  },
  'crashes until SQS moved it, redriven, and again until SQS moved it': {
    facts: [
      ...crashes,
      started(931, 2, ofRedrive),
      started(961, 3, ofRedrive),
      deadLetter({ messageId: 'message-2' }),
    ],
    steps: [
      ...CRASHED,
      tried('dead-lettered', 3),
      tried('crashed', 1, { attempts: 3, ...redriven }),
      tried('dead-lettered', 3, redriven),
    ],
    states: ['dead-letter'],
  },
  'what SQS moved, and no crash is known any more': {
    facts: [accepted, deadLetter()],
    steps: [...DELIVERED, tried('dead-lettered')],
    states: ['dead-letter'],
  },
  'what SQS moved after failures, and somebody redrove': {
    facts: [accepted, failed(1, 1, 2), consumed(9_000, 'Processed', ofRedrive)],
    steps: [...DELIVERED, tried('failed'), tried('processed', 1, redriven)],
  },
  'queued twice by one request': {
    facts: [accepted, processed, consumed(2, 'Duplicate', ofRedrive)],
    steps: [...PROCESSED, tried('skipped', 1, { reason: 'already-processed', ...repeated })],
  },
  'queued twice by one request, and each message was lost once on its way to the consumer': {
    facts: [
      ...[accepted, started(2, 2), started(3, 2, ofRedrive)],
      ...[consumed(4, 'Processed', { attempt: 2 }), consumed(5, 'Duplicate', { attempt: 2, ...ofRedrive })],
    ],
    steps: [
      ...[...DELIVERED, tried('crashed'), tried('crashed', 1, repeated), tried('processed', 2)],
      tried('skipped', 2, { reason: 'already-processed', ...repeated }),
    ],
  },
  'delivered twice': {
    facts: [accepted, processed, again, consumed(61, 'Duplicate', { requestId: 'request-2', ...ofRedrive })],
    steps: [...PROCESSED, ...DELIVERED, tried('skipped', 1, { reason: 'already-processed' })],
  },
  'a second delivery that waits': {
    facts: [accepted, processed, again],
    steps: [...PROCESSED, ...DELIVERED],
    states: ['processed', 'queued'],
  },
  'a replay that found all up to date': {
    facts: [accepted, processed, consumed(90, 'Duplicate', ofReplay)],
    steps: [...PROCESSED, tried('skipped', 1, { reason: 'up-to-date', ...replayed })],
  },
  'a dead letter whose event a replay processed, and which is still on its queue': {
    facts: [accepted, consumed(1, 'DeadLettered', { error: 'Error' }), consumed(90, 'Processed', ofReplay)],
    steps: [...DELIVERED, tried('dead-lettered', 1), tried('processed', 1, replayed)],
    states: ['dead-letter', 'processed'],
  },
  'a replay soon after, which alone has a record': {
    facts: [accepted, processed, consumed(5, 'Processed', ofReplay), record(5, { replay })],
    steps: [...PROCESSED, tried('processed', 1, replayed), ARCHIVED],
  },
  'processed, and later rejected': {
    facts: [accepted, processed, rejected(60, 'request-2')],
    steps: [...PROCESSED, ...REJECTED],
  },
  'not accepted': {
    facts: [received(0, 'ServerError', { error: 'QueueDoesNotExist' })],
    steps: [RECEIVED, { kind: 'answered', status: 500 }],
    states: ['failed'],
  },
  'not accepted, but on the queue': {
    facts: [received(0, 'ServerError'), processed],
    steps: [RECEIVED, { kind: 'answered', status: 500 }, tried('processed')],
  },
  'invalid, then delivered again': {
    facts: [received(-9, 'Unusable', { requestId: 'request-0' }), accepted, processed],
    steps: [...QUARANTINED, ...PROCESSED],
  },
  'a dead letter that was sent by hand, redriven': {
    facts: [
      consumed(1, 'DeadLettered', { requestId: undefined, error: 'ValidationException' }),
      consumed(60, 'Stale', { requestId: undefined, messageId: 'message-2' }),
    ].map((line) => ({ ...line, requestId: undefined })),
    steps: [
      tried('dead-lettered', 1, { origin: { kind: 'by hand' } }),
      tried('skipped', 1, { reason: 'newer-data', origin: { kind: 'by hand' } }),
    ],
    states: ['skipped'],
  },
  'of a kind that the stage ignores': {
    facts: [received(0, 'Ignored')],
    steps: [RECEIVED, { kind: 'answered', status: 200, reason: 'ignored-kind' }],
    states: ['skipped'],
  },
  'parked, then redriven': {
    facts: [received(0, 'Parked'), processed],
    steps: [...PARKED, tried('processed', 1, redriven)],
  },
  'redriven, by records alone': {
    facts: [record(90), record(1, { outcome: 'DeadLettered', failureReason: 'x' })],
    steps: [RECEIVED, tried('dead-lettered'), ARCHIVED, tried('processed', 1, redriven), ARCHIVED],
  },
  'the only delivery of an event, whose first attempt lost its answer': {
    facts: [accepted, failed(1, 1, 30, { error: 'TimeoutError' }), consumed(31, 'Duplicate', { attempt: 2 })],
    steps: [...DELIVERED, tried('failed'), tried('processed', 2, { reason: 'answer-lost' })],
  },
  'the only delivery of an event, whose effect was observed in the attempt that lost its answer': {
    facts: [exchanged, accepted, effect(1.5), consumed(2, 'Duplicate')],
    steps: [...DELIVERED, tried('processed', 1, { reason: 'answer-lost' })],
  },
  'skipped, because its effect was before it': {
    facts: [effect(-1), exchanged, accepted, consumed(2, 'Duplicate')],
    steps: [...DELIVERED, tried('skipped', 1, { reason: 'already-processed' })],
    states: ['skipped'],
  },
  'answered 500, because the answer of SQS was lost, and redriven from quarantine': {
    facts: [
      received(0, 'ServerError'),
      quarantined('request-1'),
      { kind: 'left', at: time(9), requestId: 'request-1', queue: 'quarantine' },
    ],
    steps: [RECEIVED, { kind: 'queued', queue: 'quarantine' }, { kind: 'answered', status: 500 }],
    states: ['removed'],
  },
  'failed, then skipped because another delivery was processed meanwhile': {
    facts: [
      accepted,
      failed(1, 1, 30),
      again,
      consumed(61, 'Processed', { requestId: 'request-2', ...ofRedrive }),
      consumed(71, 'Duplicate', { attempt: 2 }),
    ],
    steps: [
      ...[...DELIVERED, tried('failed')],
      ...[...DELIVERED, tried('processed')],
      tried('skipped', 2, { reason: 'already-processed' }),
    ],
  },
  'a dead letter that is seen before the line of its last attempt': {
    facts: [
      accepted,
      failed(1, 1, 2),
      deadLetter({ at: time(4), messageId: 'message-9', error: 'Throttled' }),
    ],
    steps: [...DELIVERED, tried('failed'), tried('dead-lettered', 2, { error: 'Throttled' })],
    states: ['dead-letter'],
  },
  'a dead letter that was discarded': {
    facts: [...givenUp, discarded(90)],
    steps: [...GIVEN_UP, { kind: 'discarded', discarded: { by: 'arn:mara', reason: 'a test' } }],
    states: ['removed'],
  },
  'a dead letter that could not be discarded': {
    facts: [...givenUp, discarded(90), deadLetter({ messageId: 'message-9', error: 'ValidationException' })],
    steps: [...GIVEN_UP, { kind: 'discarded' }],
    states: ['dead-letter'],
  },
  'invalid, delivered again, and still in quarantine': {
    facts: [
      received(-9, 'Unusable', { requestId: 'request-0' }),
      quarantined('request-0'),
      accepted,
      processed,
    ],
    steps: [...QUARANTINED, ...PROCESSED],
    states: ['processed', 'invalid'],
  },
  nothing: { facts: [], steps: [], states: ['unknown'] },
};

describe('the steps of a delivery, and its location', () => {
  test.each(Object.entries(stories))('%s', (_, { facts, steps, states = ['processed'] }) => {
    expect(deriveHistory(facts)).toMatchObject({ steps, now: states.map((state) => ({ state })) });
    // Facts of one moment are in one order, whichever comes first.
    const atOnce = facts.map((fact) => ({ ...fact, at: 0 }));
    expect(deriveHistory([...atOnce].reverse())).toEqual(deriveHistory(atOnce));
  });

  test('are equal for facts in any order and number', () => {
    const anyFacts = fc.constantFrom(...Object.values(stories)).chain(({ facts }) =>
      fc.tuple(
        fc.constant(facts),
        fc
          .shuffledSubarray([...facts, ...facts], { minLength: facts.length })
          .map((some) => [...some, ...facts]),
      ),
    );
    fc.assert(
      fc.property(anyFacts, ([facts, mixed]) => expect(deriveHistory(mixed)).toEqual(deriveHistory(facts))),
    );
  });
});

test('a dead letter is listed before another delivery of the event that is tried again', () => {
  const retrying = failed(61, 1, 30, { requestId: 'request-2', messageId: 'message-2' });
  const { now } = deriveHistory([accepted, again, retrying, failed(1, 1, 2), dead]);
  expect(now.map(({ state }) => state)).toEqual(['dead-letter', 'retrying']);
});

test('the time of receipt is that of the record, but never after the answer', () => {
  const receivedAt = (given: string) =>
    deriveHistory([accepted, processed, record(1, { receivedAt: given })]).steps[0]?.at;
  expect([at(-0.5), at(0.2)].map(receivedAt)).toEqual([at(-0.5), at(0)]);
});

test('the location of a delivery that is tried again has what to expect', () => {
  const cause = { error: 'TimeoutError', errorMessage: 'too slow' };
  const failure = { error: 'NotArchivedError', errorMessage: 'ServiceUnavailable', cause };
  const { now } = deriveHistory([accepted, failed(1, 1, 30, failure)]);
  const error = 'NotArchivedError: ServiceUnavailable; caused by TimeoutError: too slow';
  const where = { state: 'retrying', requestId: 'request-1', queue: 'shop.updated', since: at(1) };
  expect(now).toEqual([{ ...where, attempts: 1, nextAttemptAt: at(31), error }]);
});

test('equal consecutive failures are one step, others are not', () => {
  const attempts = Array.from({ length: 4 }, (_, index) => failed(30 * index + 1, index + 1, 30));
  const other = failed(121, 5, 30, { error: 'Timeout' });
  const { steps } = deriveHistory([accepted, ...attempts, other]);
  const four = { attempts: 4, at: at(1), until: at(91), nextAttemptAt: at(121) };
  expect(steps).toMatchObject([...DELIVERED, tried('failed', 1, four), tried('failed', 5)]);
});

const rowOf = (facts: Fact[]) => deliveryOf('request-1', facts, deriveHistory(facts));

test('a row counts the attempts of its delivery, without those of a replay', () => {
  const three = [failed(1, 1, 2), failed(3, 2, 2), consumed(5, 'Processed', { attempt: 3 })];
  expect(rowOf([accepted, ...three]).attempts).toBe(3);
  expect(rowOf([accepted, processed, consumed(90, 'Processed', ofReplay)]).attempts).toBe(1);
});

test('a row keeps the reason why its delivery was skipped, after a replay too', () => {
  const stale = [accepted, consumed(1, 'Stale')];
  const replayed = consumed(90, 'Duplicate', ofReplay);
  expect(rowOf([...stale, replayed])).toMatchObject({ state: 'skipped', reason: 'newer-data' });
  expect(rowOf([...stale, consumed(90, 'Processed', ofReplay)])).toMatchObject({ state: 'processed' });
  expect(rowOf([accepted, replayed])).toMatchObject({ state: 'skipped', reason: 'up-to-date' });
});

test.each([
  { fields: ['timestamp', 'data.shop_id'], error: 'Invalid or missing: timestamp, data.shop_id' },
  { fields: ['body'], error: 'The body is not a JSON object' },
])('a row names the problems of a payload: $fields', ({ fields, error }) => {
  expect(rowOf([received(0, 'Unusable', { fields })]).error).toBe(error);
});
