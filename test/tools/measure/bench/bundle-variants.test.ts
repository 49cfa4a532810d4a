import { expect, test } from '@jest/globals';
import { measureVariants } from '../../../../tools/measure/bench/bundle-variants.ts';

test('the receiver starts in each variant of its bundle', async () => {
  const rows = await measureVariants({ rounds: 1 });
  expect(rows.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['as deployed', 'without source maps']),
  );
  for (const { kilobytes, zipKilobytes, milliseconds, ratio } of rows) {
    expect(Math.min(kilobytes, zipKilobytes, milliseconds, ratio)).toBeGreaterThan(0);
  }
});
