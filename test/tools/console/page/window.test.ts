import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { windowOf } from '../../../../tools/console/page/text/viewer.tsx';

const viewport = fc.record({
  scrollTop: fc.integer({ min: -50, max: 9_000_000 }),
  height: fc.integer({ min: 0, max: 2_000 }),
  rowHeight: fc.constantFrom(18, 32, 50),
  count: fc.oneof(fc.nat(60), fc.nat(20_000), fc.nat(5_000_000)),
});

describe('the rows that are drawn', () => {
  test('are few, and cover what is seen', () => {
    fc.assert(
      fc.property(viewport, (view) => {
        const { first, end, top, height } = windowOf(view);
        const scrolled = Math.min(Math.max(0, view.scrollTop), Math.max(0, height - view.height));
        expect(end - first).toBeLessThanOrEqual(Math.ceil(view.height / view.rowHeight) + 26);
        expect(first === 0 || top <= scrolled + 1).toBe(true);
        const bottom = top + (end - first) * view.rowHeight;
        expect(end === view.count || bottom >= scrolled + view.height - 1).toBe(true);
      }),
    );
  });

  test('end with the last row where the area ends, however many there are', () => {
    fc.assert(
      fc.property(viewport, (view) => {
        const { height } = windowOf(view);
        const { end, top, first } = windowOf({ ...view, scrollTop: height });
        expect(end).toBe(view.count);
        expect(top + (end - first) * view.rowHeight).toBeLessThanOrEqual(height + 1);
      }),
    );
  });

  test('are in an area that a browser can have', () => {
    expect(windowOf({ scrollTop: 0, height: 800, rowHeight: 18, count: 4_000_000 }).height).toBe(8_000_000);
  });
});
