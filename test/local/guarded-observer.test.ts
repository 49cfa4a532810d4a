import { expect, test } from '@jest/globals';
import { guardedObserver } from '../../local/observation.ts';

test('what an observer throws is said, and thrown no further', () => {
  const problems: string[] = [];
  const fail = () => {
    throw new RangeError('Too much\nof it');
  };
  const observer = guardedObserver({ onExchange: fail, onRow: fail, onNotification: fail }, (problem) =>
    problems.push(problem),
  );
  observer.onRow({ table: 'table', key: {}, before: undefined, after: undefined, at: new Date() });
  expect(problems).toEqual(['What observes rows failed: RangeError: Too much']);
});
