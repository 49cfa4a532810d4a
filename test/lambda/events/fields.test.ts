import { expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { textList } from '../../../lambda/events/fields.ts';

test('a list is checked up to twenty wrong entries, because the schema library fails on very many', () => {
  const { error } = z.safeParse(
    textList,
    Array.from({ length: 100 }, () => 1),
  );
  expect(error?.issues.map(({ path }) => path)).toEqual(Array.from({ length: 20 }, (_, index) => [index]));
});
