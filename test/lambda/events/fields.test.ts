import { expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { textList } from '../../../lambda/events/fields.ts';

test('a list of wrong entries is given up after twenty, as the schema library fails on very many', () => {
  const { error } = z.safeParse(
    textList,
    Array.from({ length: 100 }, () => 1),
  );
  expect(error?.issues.map(({ path }) => path)).toEqual(Array.from({ length: 20 }, (_, index) => [index]));
});
