import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatRoute, parseRoute, VIEWS } from '../../../../tools/console/page/route.ts';

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
