import { describe, expect, test } from '@jest/globals';
import {
  attributesOf,
  cellText,
  columnNames,
  isBlock,
  tableTitle,
  valueText,
} from '../../../../tools/console/page/item-text.ts';

describe('items of a table', () => {
  test('the list has columns for the key, then for what tells items apart', () => {
    const items = [
      { version: '1', girl_id: 'g1', data: '{}', updated_at: 'now' },
      { girl_id: 'g2', expires_at: 1, status: 'deleted', name: 'Aoi' },
    ];
    expect(columnNames(items, 'girl_id', 1)).toEqual(['girl_id', 'status']);
    expect(columnNames(items, 'girl_id', 4)).toEqual(['girl_id', 'status', 'name', 'updated_at', 'data']);
  });

  test('an empty table has its key', () => expect(columnNames([], 'shop_id', 4)).toEqual(['shop_id']));

  test('an opened item has its key first, then all by name', () => {
    expect(attributesOf({ b: 1, id: 2, a: 3 }, 'id')).toEqual([
      ['id', 2],
      ['a', 3],
      ['b', 1],
    ]);
  });

  test.each([
    [undefined, ''],
    [null, 'null'],
    ['two\nlines', 'two lines'],
    [['a', 'b'], '["a","b"]'],
    ['x'.repeat(61), `${'x'.repeat(59)}…`],
  ])('a cell of %j', (value, text) => expect(cellText(value)).toBe(text));

  test.each([
    ['Aoi', false],
    ['x'.repeat(120), false],
    ['x'.repeat(121), true],
    [`["${'x'.repeat(36)}"]`, false],
    [`["${'x'.repeat(37)}"]`, true],
    [` {"a":"${'x'.repeat(40)}"}`, true],
    ['two\nlines', true],
    ['a [link]', false],
  ])('%j takes more than a line: %s', (text, block) => expect(isBlock(text)).toBe(block));

  test('a value that is no text is shown as JSON', () => {
    expect(valueText(7)).toBe('7');
    expect(valueText(null)).toBe('null');
    expect(valueText(['a'])).toBe('["a"]');
    expect(valueText('7')).toBe('7');
  });

  test.each([
    ['ShopCacheTable', 'Shop cache'],
    ['CastTable', 'Cast'],
    ['ContactPartnerTable', 'Contact partner'],
  ])('%s is called %s', (output, title) => expect(tableTitle(output)).toBe(title));
});
