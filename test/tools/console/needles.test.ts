import { describe, expect, test } from '@jest/globals';
import { needlesOf } from '../../../tools/console/needles.ts';

const finds = (text: string, payload: string) =>
  needlesOf(text).some((needle) => payload.toLowerCase().includes(needle));

describe('a text is found as JSON may have it', () => {
  test.each<[text: string, payload: string]>([
    ['Aiko', '{"name":"AIKO"}'],
    ['say "hello"', JSON.stringify({ name: 'Say "Hello"' })],
    ['say "hello"', '{"name":"Say \\u0022Hello\\u0022"}'],
    ['C:\\new', JSON.stringify({ path: 'C:\\new' })],
    ['C:\\new', '{"path":"C:\\u005cnew"}'],
    ['https://example.com/a', '{"url":"https:\\/\\/example.com\\/a"}'],
    ['https://example.com/a', '{"url":"https:\\u002F\\u002Fexample.com\\u002Fa"}'],
    ['é/"ü"', '{"url":"\\u00e9\\/\\"\\u00FC\\""}'],
    ['é/"ü"', JSON.stringify({ url: 'é/"ü"' })],
    ['🎉', '{"name":"\\ud83c\\udf89"}'],
    ['"event":"shop.updated"', '{"event":"shop.updated"}'],
  ])('%s in %s', (text, payload) => {
    expect(finds(text, payload)).toBe(true);
  });

  test('and nothing else is', () => {
    expect(finds('a/b', '{"url":"a\\\\b"}')).toBe(false);
  });
});
