import { expect, test } from '@jest/globals';
import { previewText } from '../../../../tools/console/page/queues/preview-text.ts';

const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;

test.each([
  ['{"event":"shop.updated","data":{"shop_id": "s1"}}', '{"shop_id":"s1"}'],
  ['{"event":"shop.updated"}', '{"event":"shop.updated"}'],
  ['{"event":"shop.updated","da', '{"event":"shop.updated","da'],
  [' no\n\tjson ', 'no json'],
  ['null', 'null'],
  ['"text"', '"text"'],
  ['', ''],
  [deep, '['.repeat(200)],
  [`{"data":${deep}}`, `{"data":${'['.repeat(192)}`],
  [`{"data":"${'x'.repeat(300)}"}`, `"${'x'.repeat(199)}`],
])('what a body is about, case %#', (body, preview) => expect(previewText(body)).toBe(preview));
