import { expect, test } from '@jest/globals';
import { guardedObserver } from '../../local/observation.ts';

test('what an observer throws is said, and thrown no further', () => {
  const problems: string[] = [];
  const fail = () => {
    throw new RangeError('Too much\nof it');
  };
  const observer = guardedObserver(
    { onExchange: fail, onItemChange: fail, onNotification: fail },
    (problem) => problems.push(problem),
  );
  observer.onItemChange({ table: 'table', key: {}, before: undefined, after: undefined, at: new Date() });
  expect(problems).toEqual(['What observes items failed: RangeError: Too much']);
});
