import { describe, expect, test } from '@jest/globals';
import { emptyForm, isPlanOf, replayArguments } from '../../../../tools/console/page/replay/form.ts';

describe('the form of a replay', () => {
  test('leaves what is empty, and what is the default, to the command', () => {
    expect(replayArguments(emptyForm, '--dry-run')).toEqual(['replay', '--since', '24h', '--dry-run']);
    expect(replayArguments({ ...emptyForm, since: '', name: 'fill-1' }, '--yes')).toEqual([
      'replay',
      '--name',
      'fill-1',
      '--yes',
    ]);
  });

  test('hands on all that is filled in, with ids by line, comma or space', () => {
    const form = {
      events: ['review.posted'],
      since: ' 2026-01-31 ',
      until: '3h',
      shop: ' shop 1 ',
      ids: 'one, two\nthree  four,',
      mode: 'repair',
      notify: true,
      rate: '5',
      name: 'once',
    } as const;
    expect(replayArguments(form, '--yes')).toEqual(
      [
        ['replay', 'review.posted', '--since', '2026-01-31', '--until', '3h', '--shop', 'shop 1'],
        ['--id', 'one', '--id', 'two', '--id', 'three', '--id', 'four'],
        ['--mode', 'repair', '--notify', '--rate', '5', '--name', 'once', '--yes'],
      ].flat(),
    );
  });

  test('has a plan only for exactly what is filled in', () => {
    const planned = replayArguments(emptyForm, '--dry-run');
    expect(isPlanOf(planned, { ...emptyForm, shop: ' ' })).toBe(true);
    expect(isPlanOf(planned, { ...emptyForm, shop: 'shop-1' })).toBe(false);
    expect(isPlanOf(planned, { ...emptyForm, events: ['shop.updated'] })).toBe(false);
  });
});
