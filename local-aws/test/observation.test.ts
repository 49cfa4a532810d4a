import { expect, test } from '@jest/globals';
import { guardedObserver } from '../observation.ts';

test('an observer that fails is reported, and disturbs nothing', () => {
  const problems: string[] = [];
  const fail = () => {
    throw new RangeError('Too much\nof it');
  };
  const observer = guardedObserver(
    { onExchange: fail, onItemChange: fail, onNotification: fail },
    (problem) => problems.push(problem),
  );
  observer.onItemChange({ table: 'table', key: {}, before: undefined, after: undefined, at: new Date() });
  expect(problems).toEqual(['The observer of items failed: RangeError: Too much']);
});
