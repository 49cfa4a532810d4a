import { expect, test } from '@jest/globals';
import { tokenOf } from '../../../../tools/console/page/token-of.ts';

test('the token of a stage is in the fragment of the address that the terminal shows', () => {
  expect(tokenOf('#token=aB-_9')).toBe('aB-_9');
});

test.each(['', '#', '#token=', '#/deliveries/token', '#/deliveries?search=token'])(
  'there is no token in %j',
  (hash) => {
    expect(tokenOf(hash)).toBeUndefined();
  },
);
