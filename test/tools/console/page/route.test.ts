import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  filterOf,
  movesWithTime,
  streamQuery,
} from '../../../../tools/console/page/deliveries/filter-query.ts';
import { formatRoute, parseRoute, VIEWS } from '../../../../tools/console/page/shell/route.ts';

describe('an address of the page', () => {
  test('leads to a delivery and the list around it', () => {
    expect(parseRoute('#/deliveries/AbC%3D?search=a+b&tab=request')).toEqual({
      view: 'deliveries',
      path: ['AbC='],
      query: { search: 'a b', tab: 'request' },
    });
  });

  test.each(['', '#', '#/', '#/nothing/x', '#token=abc'])(
    'is that of all deliveries where it is %j',
    (hash) => {
      expect(parseRoute(hash)).toEqual({ view: 'deliveries', path: [], query: {} });
    },
  );

  test('takes an id with whatever an address gives a meaning', () => {
    const route = {
      view: 'deliveries',
      path: ['a/b?c=d#e%25&f'],
      query: { search: '100% & more?' },
    } as const;
    expect(formatRoute(route)).toBe('#/deliveries/a%2Fb%3Fc%3Dd%23e%2525%26f?search=100%25+%26+more%3F');
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  test('is read as it was written, whatever ids and texts are', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(
        fc.record({
          view: fc.constantFrom(...VIEWS),
          path: fc.array(text, { maxLength: 2 }),
          query: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
        }),
        (route) => {
          expect(parseRoute(formatRoute(route))).toEqual(route);
        },
      ),
    );
  });

  test('leaves empty values out', () => {
    expect(formatRoute({ view: 'deliveries', query: { search: '', event: 'x' } })).toBe(
      '#/deliveries?event=x',
    );
  });
});

describe('the filter of an address', () => {
  test('is asked of the server without what is empty or not a filter', () => {
    expect(filterOf({ search: ' a ', event: '', state: 'dead,parked', tab: 'logs' })).toEqual({
      search: 'a',
      state: 'dead,parked',
    });
  });

  test('is one query however the address is ordered', () => {
    expect(streamQuery({ shop: 's&t', search: 'a' })).toBe('?search=a&shop=s%26t');
    expect(streamQuery({ search: 'a', tab: 'logs', shop: 's&t' })).toBe('?search=a&shop=s%26t');
    expect(streamQuery({ tab: 'logs' })).toBe('');
  });
});

describe('what a filter admits', () => {
  test.each([{ since: '15m' }, { until: '2h' }, { since: '7d', event: 'x' }])(
    'changes with time by %j',
    (filter) => {
      expect(movesWithTime(filter)).toBe(true);
    },
  );

  test.each([{}, { since: '2026-11-21' }, { since: '15m', search: 'x' }])('does not by %j', (filter) => {
    expect(movesWithTime(filter)).toBe(false);
  });
});
