import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { invalidationPaths, readPathPatterns } from '../../../lambda/effects/distribution.ts';

const patterns = ['/shops/{shop_id}', '/shops/{shop_id}/*'];

test.each([
  ['with a slash and a space', 'a/b c', ['/shops/a%2Fb%20c', '/shops/a%2Fb%20c/*']],
  ['with a percent sign', '%2F', ['/shops/%252F', '/shops/%252F/*']],
])('a shop id that is %s is percent-encoded', (_, shopId, paths) => {
  expect(invalidationPaths(patterns, shopId)).toEqual(paths);
});

test('a shop id with characters that a path need not encode is covered in both forms', () => {
  expect(invalidationPaths(patterns, ':@$&+,;= ')).toEqual([
    '/shops/%3A%40%24%26%2B%2C%3B%3D%20',
    '/shops/:@$&+,;=%20',
    '/shops/%3A%40%24%26%2B%2C%3B%3D%20/*',
    '/shops/:@$&+,;=%20/*',
  ]);
});

test.each([
  ['a wildcard of its own', 'a*b', '/shops/a*'],
  ['a tilde, which CloudFront refuses', 'a~b', '/shops/a*'],
  ['a wildcard before a character with two forms', 'a*:', '/shops/a*'],
])('a shop id with %s is covered by one wildcard at the end', (_, shopId, path) => {
  expect(invalidationPaths(patterns, shopId)).toEqual([path]);
});

test('a path of 4,000 characters is used, a longer one is covered by a wildcard', () => {
  const maxIdLength = 4000 - '/shops/'.length;
  const [fits] = invalidationPaths(['/shops/{shop_id}'], 'x'.repeat(maxIdLength));
  expect(fits).toBe(`/shops/${'x'.repeat(maxIdLength)}`);
  const [tooLong] = invalidationPaths(['/shops/{shop_id}'], 'x'.repeat(maxIdLength + 1));
  expect(tooLong).toBe(`/shops/${'x'.repeat(maxIdLength - 1)}*`);
});

test('CloudFront gets valid paths that cover the shop, for every shop', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2000 }), (shopId) => {
      const encoded = `/shops/${encodeURIComponent(shopId)}`;
      const plain = encoded.replace(/%(24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
      const paths = invalidationPaths(patterns, shopId);
      for (const path of paths) {
        expect(path.length).toBeLessThanOrEqual(4000);
        expect(path).toMatch(/^\/(?:[^*~%]|%[0-9A-F]{2})*\*?$/);
      }
      for (const own of [encoded, plain]) {
        expect(
          paths.some((path) => (path.endsWith('*') ? own.startsWith(path.slice(0, -1)) : own === path)),
        ).toBe(true);
      }
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
  ])('that is %s is refused with its name and an example', (_, json) => {
    expect(() => readPathPatterns(json)).toThrow(/^INVALIDATION_PATHS must be .* \["\/shops\/\{shop_id\}"\]/);
  });
});
