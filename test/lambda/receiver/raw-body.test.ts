import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rawBody } from '../../../lambda/receiver/raw-body.ts';

test('a base64-encoded body is decoded to its bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const body = Buffer.from(bytes).toString('base64');
      expect(rawBody({ body, isBase64Encoded: true })).toEqual(Buffer.from(bytes));
    }),
  );
});

test('any other body is its UTF-8 bytes, also where it looks like base64', () => {
  expect(rawBody({ body: 'e30=', isBase64Encoded: false })).toEqual(Buffer.from('e30='));
  expect(rawBody({ body: '{"name":"日本😀"}', isBase64Encoded: false })).toEqual(
    Buffer.from('{"name":"日本😀"}'),
  );
});

test('no body is no bytes', () => {
  expect(rawBody({ isBase64Encoded: false })).toEqual(Buffer.alloc(0));
});
