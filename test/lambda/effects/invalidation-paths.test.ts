import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { invalidationPaths, readPathPatterns } from '../../../lambda/effects/distribution.ts';

const patterns = ['/shops/{shop_id}', '/shops/{shop_id}/*'];

test.each([
  ['plain', 'shop-1', ['/shops/shop-1', '/shops/shop-1/*']],
  ['with a slash and a space', 'a/b c', ['/shops/a%2Fb%20c', '/shops/a%2Fb%20c/*']],
  ['not ASCII', '店', ['/shops/%E5%BA%97', '/shops/%E5%BA%97/*']],
  ['with what a replacement would expand', '$&', ['/shops/%24%26', '/shops/%24%26/*']],
  ['with a percent sign', '%2F', ['/shops/%252F', '/shops/%252F/*']],
])('a shop id that is %s is percent-encoded', (_, shopId, paths) => {
  expect(invalidationPaths(patterns, shopId)).toEqual(paths);
});

test.each([
  ['a wildcard of its own', 'a*b', '/shops/a*'],
  ['a tilde, which CloudFront refuses', 'a~b', '/shops/a*'],
])('a shop id with %s is covered by one wildcard at the end', (_, shopId, path) => {
  expect(invalidationPaths(patterns, shopId)).toEqual([path]);
});

test('a path of 4,000 characters is taken as it is, a longer one is covered by a wildcard', () => {
  const room = 4000 - '/shops/'.length;
  const [fits] = invalidationPaths(['/shops/{shop_id}'], 'x'.repeat(room));
  expect(fits).toBe(`/shops/${'x'.repeat(room)}`);
  const [tooLong] = invalidationPaths(['/shops/{shop_id}'], 'x'.repeat(room + 1));
  expect(tooLong).toBe(`/shops/${'x'.repeat(room - 1)}*`);
});

test('a path is not cut within an escape', () => {
  const [path] = invalidationPaths(['/shops/{shop_id}'], '店'.repeat(1000));
  expect(path).toMatch(/^\/shops\/(%[0-9A-F]{2}){1330}\*$/);
});

test('for every shop CloudFront gets paths that it takes, and that cover the shop', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2000 }), (shopId) => {
      const own = `/shops/${encodeURIComponent(shopId)}`;
      const paths = invalidationPaths(patterns, shopId);
      for (const path of paths) {
        expect(path.length).toBeLessThanOrEqual(4000);
        expect(path).toMatch(/^\/(?:[^*~%]|%[0-9A-F]{2})*\*?$/);
      }
      expect(
        paths.some((path) => (path.endsWith('*') ? own.startsWith(path.slice(0, -1)) : own === path)),
      ).toBe(true);
    }),
  );
});

describe('the configuration', () => {
  test('is a JSON array of paths', () => {
    expect(readPathPatterns(JSON.stringify(patterns))).toEqual(patterns);
  });

  test.each([
    ['no JSON', '/shops/{shop_id}'],
    ['no array', '"/shops/{shop_id}"'],
    ['empty', '[]'],
    ['of something else', '[1]'],
    ['of a path without its slash', '["shops/{shop_id}"]'],
    ['of a path without its slash behind good ones', '["/a", "/b", "shops/{shop_id}"]'],
    ['of a path that is not percent-encoded', '["/店/{shop_id}"]'],
    ['of a path that is too long', JSON.stringify([`/${'x'.repeat(4000)}`])],
  ])('that is %s is refused by name, with an example', (_, json) => {
    expect(() => readPathPatterns(json)).toThrow(/^INVALIDATION_PATHS must be .* \["\/shops\/\{shop_id\}"\]/);
  });
});
