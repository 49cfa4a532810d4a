import { describe, expect, test } from '@jest/globals';
import { batchOutcome } from '../../../../local/functions/event-source/batch-result.ts';

const ids = ['a', 'b', 'c'];
const failing = (...identifiers: unknown[]) => ({
  batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
});

test.each([true, false])('a function error deletes nothing (ReportBatchItemFailures: %s)', (report) => {
  const result = { ok: false as const, errorType: 'Error', errorMessage: 'no table' };
  expect(batchOutcome(ids, result, report)).toEqual({ deleted: [] });
});

test('without ReportBatchItemFailures a success deletes all, whatever it returns', () => {
  expect(batchOutcome(ids, { ok: true, payload: failing('a') }, false)).toEqual({ deleted: ids });
});

describe('with ReportBatchItemFailures', () => {
  test.each([
    ['null', null],
    ['an empty object', {}],
    ['an empty list of failures', failing()],
    ['a null list of failures', { batchItemFailures: null }],
    ['an object about something else', { processed: 3 }],
  ])('%s deletes all', (_case, payload) => {
    expect(batchOutcome(ids, { ok: true, payload }, true)).toEqual({ deleted: ids });
  });

  test.each([
    ['one failure', failing('b'), ['a', 'c']],
    ['a repeated failure', failing('b', 'b'), ['a', 'c']],
    ['all as failures', failing('c', 'b', 'a'), []],
  ])('%s deletes the rest', (_case, payload, deleted) => {
    expect(batchOutcome(ids, { ok: true, payload }, true)).toEqual({ deleted });
  });

  test.each([
    ['text', 'done'],
    ['a list', ['a']],
    ['failures that are not a list', { batchItemFailures: 'a' }],
    ['failures as bare identifiers', { batchItemFailures: ['a'] }],
    ['a null failure', { batchItemFailures: [null] }],
    ['another key name', { batchItemFailures: [{ messageId: 'a' }] }],
    ['a null identifier', failing(null)],
    ['an empty identifier', failing('')],
    ['a number as identifier', failing(7)],
    ['an unknown identifier beside a known one', failing('a', 'z')],
  ])('%s is malformed and deletes nothing', (_case, payload) => {
    expect(batchOutcome(ids, { ok: true, payload }, true)).toEqual({
      deleted: [],
      malformed: expect.any(String),
    });
  });
});
