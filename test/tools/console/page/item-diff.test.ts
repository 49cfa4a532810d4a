import { describe, expect, test } from '@jest/globals';
import { diffItems } from '../../../../tools/console/page/detail/effects.tsx';

describe('what a write made of a row', () => {
  test('is what came, went, changed and stayed', () => {
    expect(
      diffItems({ shop_id: 's', name: 'old', gone: 1 }, { shop_id: 's', name: 'new', more: [1] }),
    ).toEqual([
      { name: 'shop_id', kind: 'same', before: '"s"', after: '"s"' },
      { name: 'name', kind: 'changed', before: '"old"', after: '"new"' },
      { name: 'more', kind: 'added', after: '[1]' },
      { name: 'gone', kind: 'removed', before: '1' },
    ]);
  });

  test('is all of a row that was not there, or is not there any more', () => {
    expect(diffItems(null, { a: 1 })).toEqual([{ name: 'a', kind: 'added', after: '1' }]);
    expect(diffItems({ a: 1 }, null)).toEqual([{ name: 'a', kind: 'removed', before: '1' }]);
  });

  test('is nothing where only the order of keys is another', () => {
    expect(
      diffItems({ map: { a: 1, b: { c: 2, d: 3 } } }, { map: { b: { d: 3, c: 2 }, a: 1 } })[0]?.kind,
    ).toBe('same');
  });

  test('tells a number from its text', () => {
    expect(diffItems({ a: 1 }, { a: '1' })[0]?.kind).toBe('changed');
  });

  test('knows attributes by any name', () => {
    expect(diffItems({}, JSON.parse('{"__proto__":1,"constructor":2}')).map(({ name }) => name)).toEqual([
      '__proto__',
      'constructor',
    ]);
  });
});
